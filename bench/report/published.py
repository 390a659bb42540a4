# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The result tables and figures of the pages, drawn from the published records.

``python3 -m bench.report.published --write README.md`` puts the headline between the markers
``headline`` of the README, all tables between the markers ``published`` of
bench/results/README.md and of the algorithms' pages, what the records say between those of
``answers``, the figures of the studies into bench/results/studies.md, and draws the figures;
``--check`` shows what differs; alone, it prints all tables.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from heapq import nlargest
from pathlib import Path

from . import answers, marked, published_figures, published_pages, statistics, units
from .case import Case
from .fields import Broken
from .figures import Figure
from .gaps import COLUMNS, Gap, factor_text, factors, gaps, ratio_text
from .peaks import measured_ceilings
from .published_pages import BY_HAND, rate_text
from .published_records import read
from .rows import Row
from .scaling import Scaling, how_joined, scalings
from .selection import NO_ALGORITHMS, fastest, measured, place, problem, time
from .table import markdown_table
from .view import ROOFLINE, headline, roofline

HEADLINE, NAME, ANSWERS = "headline", "published", "answers"
PAGE, STUDIES = "bench/results/README.md", "bench/results/studies.md"
UP = "../../"  # from these pages to the README
RESULTS = Path(__file__).parents[1] / "results"
ONE = (published_pages.FOLDER, "h100", "xeon-16-cores")
SEVERAL = "h200-scaling"
ON_FIRST_PAGE = 2  # problems of each algorithm
METRICS = {"gpu": "device_time", "host": "host_time"}  # data where the device is
USUAL = "f32"  # of a problem in several types the tables show this one
LEAGUE = (
    *("algorithm", "problem", "kokkos", "native"),
    *("native / portable", ROOFLINE, "best library or peer"),
)
LOSSES = ("algorithm", "problem", *COLUMNS[2:])


def link(algorithm: str, up: str) -> str:
    """The algorithm, with the way to its page; ``up``: to the README."""
    return f"[{algorithm}]({up}algorithms/{algorithm}/README.md)"


def chosen(found: Iterable[Gap]) -> list[Gap]:
    """The leading gaps of algorithms, each problem in one type."""
    leading = [g for g in found if g.leads and g.algorithm not in NO_ALGORITHMS]
    usual = {(g.algorithm, g.sizes) for g in leading if g.dtype == USUAL}
    return [
        gap
        for gap in leading
        if gap.dtype == USUAL or (gap.algorithm, gap.sizes) not in usual
    ]


def best_library(gap: Gap, rows: list[Row]) -> str:
    """The fastest that is neither portable nor written here by hand."""
    case = gap.portable.case
    others = [
        row
        for row in rows
        if row.case.model not in BY_HAND
        and (problem(row.case), place(row.case)) == (problem(case), place(case))
    ]
    if not others:
        return ""
    best = fastest(others)
    return f"{best.case.model} {best.case.method_text} {units.seconds(time(best))}"


def league_line(gap: Gap, rows: list[Row], up: str) -> tuple[str, ...]:
    """One line of the league table."""
    row = gap.portable
    native = ""
    if gap.native is not None:
        native = f"{gap.native.case.model} {rate_text(gap.native, 'GB/s')}"
    return (
        link(gap.algorithm, up),
        f"{gap.variant} {gap.dtype} {gap.sizes}",
        rate_text(row, "GB/s"),
        native,
        ratio_text(gap.ratio, gap.blocks_ratio),
        roofline(row),
        best_library(gap, rows),
    )


def loses(gap: Gap) -> bool:
    """Whether the whole interval of the gap lies beyond the margin."""
    low = gap.whole.low if gap.whole else None
    return low is not None and low > 1 + statistics.MARGIN


def loss_line(gap: Gap, up: str) -> tuple[str, ...]:
    """One line of the table of losses."""
    best = f"{gap.best.case.model} {gap.best.case.method_text}" if gap.best else ""
    problem = f"{gap.variant} {gap.dtype} {gap.sizes}"
    return (link(gap.algorithm, up), problem, *map(factor_text, factors(gap)), best)


def scaling_table(found: list[Scaling], up: str) -> str:
    """Times and speed-ups, the models side by side."""
    series: dict[tuple[str, str, str, str], dict[str, Scaling]] = {}
    for one in found:
        what = f"{one.method} {one.points[0].row.case.dtype} {one.sizes}"
        key = (one.algorithm, what, sums(one), one.kind)
        series.setdefault(key, {})[one.model] = one
    models = list(dict.fromkeys(one.model for one in found))
    engines = Counter(
        (algorithm, problem, kind) for algorithm, problem, _, kind in series
    )
    lines = [
        (
            *(link(algorithm, up), problem),
            *(engine if engines[algorithm, problem, kind] > 1 else "", kind),
        )
        + tuple(scaling_text(by_model.get(model)) for model in models)
        for (algorithm, problem, engine, kind), by_model in series.items()
    ]
    heads = [f"{model}: time, speed-up" for model in models]
    return markdown_table(("algorithm", "problem", "sums by", "scaling", *heads), lines)


def sums(one: Scaling) -> str:
    """The communicator between the devices, and how ranks share them; of one process alone only the former."""
    case = one.points[-1].row.case
    return ", ".join(filter(None, (case.communicator, how_joined(case)[1])))


def scaling_text(one: Scaling | None) -> str:
    """``31.6 ms; on 2: 15.9 ms, 1.98x; ...``."""
    if one is None:
        return ""
    first, *later = one.points
    parts = [units.seconds(first.time.value)]
    for point in later:
        text = f"{units.seconds(point.time.value)}, {point.speedup.value:.2f}x"
        parts.append(f"on {point.count}: {text}")
    return "; ".join(parts)


def ceilings_text(cases: list[Case]) -> str:
    """``4633 GB/s; f32 65.6 TOP/s``: what the roofline bounds are made of."""
    texts = []
    for one in measured_ceilings(cases).values():
        rates = [f"{unit} {rate * 1e-12:.1f} TOP/s" for unit, rate in one.rates.items()]
        texts.append("; ".join([units.rate(one.bandwidth * 1e-9, "GB/s"), *rates]))
    return " | ".join(texts)


def resident_rows(rows: list[Row]) -> list[Row]:
    """Those whose data are where the device is."""
    return [
        row
        for row in measured(rows)
        if row.case.metric == METRICS[row.case.device_kind]
    ]


def draw_answers(results: Path) -> str:
    """What the records of the first folder say."""
    cases, rows = read(results / ONE[0])
    records = f"[records]({UP}bench/results/{ONE[0]})"
    return joined(
        [f"{headline(cases)} ({records}).", *answers.draw(resident_rows(rows))]
    )


def longest(leading: list[Gap]) -> list[Gap]:
    """Of each algorithm the problems that take longest, in their order."""
    times: dict[str, list[float]] = defaultdict(list)
    for gap in leading:
        times[gap.algorithm].append(time(gap.portable))
    least = {name: nlargest(ON_FIRST_PAGE, some)[-1] for name, some in times.items()}
    return [gap for gap in leading if time(gap.portable) >= least[gap.algorithm]]


def league(
    results: Path, name: str, up: str, brief: bool = False
) -> tuple[list[Gap], str, str]:
    """Of one folder: its leading gaps, its headline and its league table; ``brief``: of the longest problems."""
    cases, rows = read(results / name)
    resident = resident_rows(rows)
    leading = chosen(gaps(resident))
    page = f"{up}bench/results/{name}"
    head = f"{headline(cases)} ([records]({page}), [whole table]({page}/table.md))."
    ceilings = f"Peaks measured there: {ceilings_text(cases)}."
    shown = longest(leading) if brief else leading
    lines = [league_line(gap, resident, up) for gap in shown]
    return leading, f"{head} {ceilings}", markdown_table(LEAGUE, lines)


def one_device(results: Path, name: str) -> list[str]:
    """What is drawn of one folder: its headline, the league table, the losses."""
    leading, head, table = league(results, name, UP)
    lost = [gap for gap in leading if loses(gap)]
    if not lost:
        return [head, table]
    text = f"Portable loses more than {100 * statistics.MARGIN:.0f} % to the best "
    text += "variant, library or peer here; the page of the algorithm says why:"
    lines = [loss_line(gap, UP) for gap in lost]
    return [head, table, text, markdown_table(LOSSES, lines)]


def joined(parts: Iterable[str]) -> str:
    """Paragraphs and tables, a blank line between them."""
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def draw(results: Path, shown: list[Figure]) -> str:
    """All tables, then the figures; raises Broken."""
    parts = [part for name in ONE for part in one_device(results, name)]
    cases, rows = read(results / SEVERAL)
    text = f"Several GPUs of one host, makespan: {headline(cases)} "
    parts += [
        f"{text}([records]({UP}bench/results/{SEVERAL})).",
        scaling_table(scalings(measured(rows)), UP),
        published_figures.markdown(shown, UP),
    ]
    return joined(parts)


def draw_headline(results: Path, shown: list[Figure]) -> str:
    """The first figure of the first folder, and the problems that take longest; raises Broken."""
    _, head, table = league(results, ONE[0], "", brief=True)
    return joined([published_figures.markdown(shown[:1], ""), table, head])


def pages(
    results: Path,
    readme: Path,
    shown: list[Figure],
    of_studies: dict[str, list[Figure]],
) -> Iterator[tuple[Path, str, str]]:
    """The pages beside this README, each with the name and text of its part; raises Broken."""
    yield readme, HEADLINE, draw_headline(results, shown)
    yield readme.parent / PAGE, NAME, draw(results, shown)
    yield readme.parent / PAGE, ANSWERS, draw_answers(results)
    yield (
        readme.parent / STUDIES,
        NAME,
        published_figures.study_markdown(of_studies, UP),
    )
    cases, rows = read(results / published_pages.FOLDER)
    for page in published_pages.pages(readme, NAME):
        text = published_pages.draw(page.parent.name, cases, measured(rows))
        yield page, NAME, text


def main(argv: list[str]) -> int:
    """Returns the exit code: 1 when a page differs, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.published")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", type=Path, metavar="README.md")
    group.add_argument("--check", type=Path, metavar="README.md")
    options = parser.parse_args(argv)
    read.cache_clear()  # records may have changed since an earlier call
    try:
        shown = published_figures.published(options.results)
        of_studies = published_figures.of_studies(options.results)
        drawn = shown + [f for figures in of_studies.values() for f in figures]
        if options.write:
            for page, name, text in pages(
                options.results, options.write, shown, of_studies
            ):
                marked.write(page, name, text)
            published_figures.write(options.results, drawn)
        elif options.check:
            parts = pages(options.results, options.check, shown, of_studies)
            changes = [marked.difference(*part) for part in parts]
            changes += published_figures.stale(options.results, drawn)
            for change in filter(None, changes):
                print(change)
            return int(any(changes))
        else:
            print(draw(options.results, shown), end="")
    except (Broken, OSError) as error:
        print(f"bench.report.published: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
