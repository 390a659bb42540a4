# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The result tables and figures of the README and of the algorithms' pages, drawn from the published records.

``python3 -m bench.report.published --write README.md`` puts the tables between the markers
``published`` and draws the figures; ``--check`` shows what differs; alone, it prints the
tables of the README.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import marked, published_figures, published_pages, statistics, units
from .case import Case
from .fields import Broken
from .figures import Figure
from .floors import measured_ceilings
from .gaps import COLUMNS, Gap, factor_text, factors, gaps, ratio_text
from .published_pages import BY_HAND, rate_text
from .published_records import read
from .rows import Row
from .scaling import Scaling, scalings
from .selection import fastest, measured, place, problem, time
from .table import markdown_table
from .view import headline

NAME = "published"
RESULTS = Path(__file__).parents[1] / "results"
ONE, SEVERAL = ("h200", "xeon-16-cores", "xeon-64-cores"), "h200-x4"
METRICS = {"gpu": "device_time", "host": "host_time"}  # data where the device is
USUAL = "f32"  # of a problem in several types the README shows this one
LEAGUE = (
    *("algorithm", "problem", "kokkos", "native"),
    *("native / portable", "x floor", "best library or peer"),
)
LOSSES = ("algorithm", "problem", *COLUMNS[2:])


def link(algorithm: str) -> str:
    """The algorithm, with the way to its page."""
    return f"[{algorithm}](algorithms/{algorithm}/README.md)"


def chosen(found: Iterable[Gap]) -> list[Gap]:
    """The leading gaps, each problem in one type."""
    leading = [gap for gap in found if gap.leads]
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


def league_line(gap: Gap, rows: list[Row]) -> tuple[str, ...]:
    """One line of the league table."""
    row = gap.portable
    native = ""
    if gap.native is not None:
        native = f"{gap.native.case.model} {rate_text(gap.native, 'GB/s')}"
    return (
        link(gap.algorithm),
        f"{gap.variant} {gap.dtype} {gap.sizes}",
        rate_text(row, "GB/s"),
        native,
        ratio_text(gap.ratio, gap.blocks_ratio),
        f"{row.floor_ratio:.2f}" if row.floor_ratio else "",
        best_library(gap, rows),
    )


def loses(gap: Gap) -> bool:
    """Whether the whole interval of the gap lies beyond the margin."""
    low = gap.whole.low if gap.whole else None
    return low is not None and low > 1 + statistics.MARGIN


def loss_line(gap: Gap) -> tuple[str, ...]:
    """One line of the table of losses."""
    best = f"{gap.best.case.model} {gap.best.case.method_text}" if gap.best else ""
    problem = f"{gap.variant} {gap.dtype} {gap.sizes}"
    return (link(gap.algorithm), problem, *map(factor_text, factors(gap)), best)


def scaling_table(found: list[Scaling]) -> str:
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
            *(link(algorithm), problem),
            *(engine if engines[algorithm, problem, kind] > 1 else "", kind),
        )
        + tuple(scaling_text(by_model.get(model)) for model in models)
        for (algorithm, problem, engine, kind), by_model in series.items()
    ]
    heads = [f"{model}: time, speed-up" for model in models]
    return markdown_table(("algorithm", "problem", "sums by", "scaling", *heads), lines)


def sums(one: Scaling) -> str:
    """The communicator between the devices; of one alone nothing is said."""
    return one.points[-1].row.case.communicator


def scaling_text(one: Scaling | None) -> str:
    """``31.6 ms; on 2: 15.9 ms, 1.98x; ...``."""
    if one is None:
        return ""
    first, *later = one.points
    parts = [units.seconds(first.time.value)]
    for point in later:
        text = f"{units.seconds(point.time.value)}, {point.speedup.value:.2f}x"
        parts.append(f"on {point.devices}: {text}")
    return "; ".join(parts)


def ceilings_text(cases: list[Case]) -> str:
    """``4633 GB/s; f32 65.6 TOP/s``: what the floors are made of."""
    texts = []
    for one in measured_ceilings(cases).values():
        rates = [f"{unit} {rate * 1e-12:.1f} TOP/s" for unit, rate in one.rates.items()]
        texts.append("; ".join([units.rate(one.bandwidth * 1e-9, "GB/s"), *rates]))
    return " | ".join(texts)


def one_device(results: Path, name: str) -> list[str]:
    """What is drawn of one folder: its headline, the league table, the losses."""
    cases, rows = read(results / name)
    resident = [
        row
        for row in measured(rows)
        if row.case.metric == METRICS[row.case.device_kind]
    ]
    leading = chosen(gaps(resident))
    lost = [gap for gap in leading if loses(gap)]
    page = f"bench/results/{name}"
    head = f"{headline(cases)} ([records]({page}), [whole table]({page}/table.md))."
    ceilings = f"Ceilings measured there, for the floors: {ceilings_text(cases)}."
    parts = [
        f"{head} {ceilings}",
        markdown_table(LEAGUE, [league_line(gap, resident) for gap in leading]),
    ]
    if lost:
        text = f"Portable loses more than {100 * statistics.MARGIN:.0f} % to the best "
        text += "variant, library or peer here; the page of the algorithm says why:"
        parts += [text, markdown_table(LOSSES, [loss_line(gap) for gap in lost])]
    return parts


def draw(results: Path, shown: list[Figure]) -> str:
    """All tables, then the figures; raises Broken."""
    parts = [part for name in ONE for part in one_device(results, name)]
    cases, rows = read(results / SEVERAL)
    text = f"Several GPUs of one host, makespan: {headline(cases)} "
    parts += [
        f"{text}([records](bench/results/{SEVERAL})).",
        scaling_table(scalings(measured(rows))),
        published_figures.markdown(shown),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def pages(results: Path, readme: Path, body: str) -> Iterator[tuple[Path, str]]:
    """The README and the algorithms' pages beside it, each with its tables; raises Broken."""
    yield readme, body
    cases, rows = read(results / published_pages.FOLDER)
    for page in published_pages.pages(readme, NAME):
        yield page, published_pages.draw(page.parent.name, cases, measured(rows))


def main(argv: list[str]) -> int:
    """Returns the exit code: 1 when the README differs, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.published")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", type=Path, metavar="README.md")
    group.add_argument("--check", type=Path, metavar="README.md")
    options = parser.parse_args(argv)
    read.cache_clear()  # records may have changed since an earlier call
    try:
        shown = published_figures.published(options.results)
        body = draw(options.results, shown)
        if options.write:
            for page, text in pages(options.results, options.write, body):
                marked.write(page, NAME, text)
            published_figures.write(options.results, shown)
        elif options.check:
            drawn = pages(options.results, options.check, body)
            changes = [marked.difference(page, NAME, text) for page, text in drawn]
            changes += published_figures.stale(options.results, shown)
            for change in filter(None, changes):
                print(change)
            return int(any(changes))
        else:
            print(body, end="")
    except (Broken, OSError) as error:
        print(f"bench.report.published: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
