# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strong and weak scaling, by hand."""

import pytest

from bench.report.scaling import scalings, texts

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


def gpus(entry, count, time, n=1024, **changes):
    if count == 1:
        return [entry("cuda", times(1e-9), n=n, latency_s=time, **changes)]
    changes = {"metric": "makespan", **changes}
    return [entry("cuda", times(time), n=n, devices=count, **changes)]


def test_strong(entry, all_rows):
    rows = all_rows(*(("1", gpus(entry, n, 8.0 / n + 1)) for n in (1, 2, 4)))
    (found,) = scalings(rows)
    assert (found.kind, found.model, found.communicator) == ("strong", "cuda", "")
    assert [p.count for p in found.points] == [1, 2, 4]
    assert [p.speedup.value for p in found.points] == pytest.approx([1, 9 / 5, 9 / 3])
    efficiencies = [p.efficiency.value for p in found.points]
    assert efficiencies == pytest.approx([1, 9 / 10, 9 / 12])
    last = found.points[-1]
    # eleven samples: the interval of the median is [x2, x10]
    assert last.time.low == pytest.approx(3 * 0.996)
    assert last.speedup.high == pytest.approx(9 / (3 * 0.996))
    assert last.efficiency.low == pytest.approx(9 / (4 * 3 * 1.004))
    assert texts([found]) == [
        (
            "strong scaling of vector_add wide cuda f32 n=1,024, NVIDIA H200: "
            "1.80x on 2, 3.00x on 4"
        )
    ]


def test_weak_grows_one_size_and_the_work_with_the_devices(entry, all_rows):
    rows = all_rows(*(("1", gpus(entry, n, 1 + n / 4, n=1000 * n)) for n in (1, 2, 4)))
    (found,) = scalings(rows)
    assert (found.kind, found.sizes) == ("weak", "n=1,000")
    efficiencies = [p.efficiency.value for p in found.points]
    assert efficiencies == pytest.approx([1, 1.25 / 1.5, 1.25 / 2])
    assert "83 % on 2, 62 % on 4" in texts([found])[0]
    gains = [p.speedup.value for p in found.points]
    assert gains == pytest.approx([1, 2 * 1.25 / 1.5, 4 * 1.25 / 2])


def batches(entry, count, batch, operations_per_image=10):
    cost = {
        "bytes": 1000,
        "operations": operations_per_image * batch,
    }  # every device has all parameters
    parameters = {"batch": batch, "optimizer": "adam"}
    (case,) = gpus(entry, count, 1.0, cost=cost, parameters=parameters)
    case["name"] += f"/batch:{batch}"
    return "1", [case]


def test_the_batch_of_a_training_grows_as_a_size_does(entry, all_rows):
    grid = [batches(entry, count, batch) for count in (1, 2) for batch in (64, 128)]
    found = scalings(all_rows(*grid))
    assert sorted(s.kind for s in found) == ["strong", "strong", "weak"]
    diagonal = [batches(entry, count, 64 * count) for count in (1, 2, 4)]
    (weak,) = scalings(all_rows(*diagonal))
    assert (weak.kind, [p.count for p in weak.points]) == ("weak", [1, 2, 4])
    faster = [batches(entry, count, 64 * count, count) for count in (1, 2)]
    assert scalings(all_rows(*faster)) == []
    assert scalings(all_rows(batches(entry, 1, 64), batches(entry, 2, 96))) == []


def test_work_that_grows_faster_is_no_weak_scaling(entry, all_rows):
    records = []
    for n in (1, 2):
        cost = {"bytes": 4 * (1000 * n) ** 2, "operations": 0}
        records.append(("1", gpus(entry, n, 1.0, n=1000 * n, cost=cost)))
    assert scalings(all_rows(*records)) == []


def test_full_grid_has_both(entry, all_rows):
    records = [
        ("1", gpus(entry, count, 1.0, n=n)) for count in (1, 2) for n in (1000, 2000)
    ]
    found = scalings(all_rows(*records))
    assert [(s.kind, s.sizes) for s in found] == [
        ("strong", "n=1,000"),
        ("strong", "n=2,000"),
        ("weak", "n=1,000"),
    ]


@pytest.mark.parametrize(
    "change",
    [{"dtype": "f64"}, {"parameters": {"seed": 2}}, {"method": "plain"}],
)
def test_unlike_rows_are_no_series(entry, all_rows, change):
    two = gpus(entry, 2, 1.0, **change)
    assert scalings(all_rows(("1", gpus(entry, 1, 1.0)), ("1", two))) == []


def hosts(entry, changes):
    return [
        ("1", [entry("openmp", times(4.0 / n), devices=n, **changes(n))])
        for n in (1, 2, 4)
    ]


def test_host_devices_of_one_process_never_enter(entry, all_rows):
    assert scalings(all_rows(*hosts(entry, lambda n: {}))) == []


def test_ranks_of_hosts_enter_and_say_so(entry, all_rows):
    (found,) = scalings(
        all_rows(*hosts(entry, lambda n: {"ranks": n, "name": f"sum/ranks:{n}"}))
    )
    assert [point.speedup.value for point in found.points] == pytest.approx([1, 2, 4])
    assert found.communicator == "1 device per rank"
    assert "1 device per rank" in found.label


def test_ranks_are_another_series_than_one_process(entry, all_rows):
    records = [("1", gpus(entry, 1, 8.0))]
    for ranks, time in ((1, 4.0), (2, 5.0)):
        case = gpus(entry, 2, time, ranks=ranks)
        case[0]["name"] += f"/ranks:{ranks}"
        records.append(("1", case))
    found = scalings(all_rows(*records))
    gains = {one.communicator: one.points[1].speedup.value for one in found}
    assert gains == {"": pytest.approx(2), "1 device per rank": pytest.approx(1.6)}


def test_each_communicator_has_its_series(entry, all_rows):
    records = [("1", gpus(entry, 1, 8.0))]
    for engine, time in (("local", 4.0), ("nccl", 5.0)):
        case = gpus(entry, 2, time, communicator=engine)
        case[0]["name"] += f"/communicator:{engine}"
        records.append(("1", case))
    found = scalings(all_rows(*records))
    gains = {one.communicator: one.points[1].speedup.value for one in found}
    assert gains == {"": pytest.approx(2), "nccl": pytest.approx(1.6)}


def on_threads(entry, count, time, **changes):
    name = f"vector_add/method:wide/model:openmp/n:1024/threads:{count}/launch:auto"
    parameters = {"seed": 1, "threads": count}
    changes = {"name": name, "parameters": parameters, "n": 1024, **changes}
    return "1", [entry("openmp", times(time), **changes)]


def test_threads_of_a_host_are_a_series(entry, all_rows):
    rows = all_rows(*(on_threads(entry, n, 8.0 / n + 1) for n in (1, 2, 4)))
    (found,) = scalings(rows)
    assert (found.kind, found.over, found.sizes) == ("strong", "threads", "n=1,024")
    assert [p.count for p in found.points] == [1, 2, 4]
    assert [p.speedup.value for p in found.points] == pytest.approx([1, 9 / 5, 9 / 3])
    assert texts([found])[0].endswith("1.80x on 2, 3.00x on 4 threads")


def test_threads_begin_with_one_and_join_no_series_of_devices(entry, all_rows):
    assert scalings(all_rows(*(on_threads(entry, n, 1.0) for n in (2, 4)))) == []
    alone = [("1", [entry("openmp", times(1.0), n=1024)])]
    assert scalings(all_rows(*alone, on_threads(entry, 2, 1.0))) == []


def test_the_figure_of_threads_says_so(entry, all_rows):
    from bench.report.figures import scaling
    from bench.report.findings import analyse

    rows = all_rows(*(on_threads(entry, n, 8.0 / n) for n in (1, 2, 4)))
    (figure,) = scaling.figures(rows, analyse(rows, 0.02))
    assert figure.title.startswith("Strong scaling over threads: vector_add f32")
    assert "On 4 threads" in figure.caption
    canvas = figure.draw()
    assert canvas.axes[-1].get_xlabel() == "threads (log)"
