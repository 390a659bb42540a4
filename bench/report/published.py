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
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import (
    answers,
    defects,
    first_screen,
    gap_texts,
    marked,
    means,
    published_figures,
    published_pages,
    units,
)
from .case import Case
from .fields import Broken
from .figures import Figure
from .first_screen import FirstScreen
from .gaps import Gap, field, gaps
from .peaks import measured_ceilings
from .published_records import ONCE, USUAL, read, resident
from .scaling import Scaling, how_joined, scalings
from .selection import NO_ALGORITHMS, measured
from .table import markdown_table
from .view import ROOFLINE, headline, roofline

HEADLINE, NAME, ANSWERS = "headline", "published", "answers"
PAGE, STUDIES = "bench/results/README.md", "bench/results/studies.md"
UP = "../../"  # from these pages to the README
RESULTS = Path(__file__).parents[1] / "results"
ONE = (published_pages.FOLDER, "h100", "xeon-16-cores", *ONCE)
SEVERAL = "h200-scaling"
LEAGUE = ("algorithm", "problem", *gap_texts.TIER_COLUMNS, f"{ROOFLINE} (Kokkos)")
GAPS = ("algorithm", "problem", *gap_texts.COLUMNS[2:])


def link(algorithm: str, up: str) -> str:
    """The algorithm, with the way to its page; ``up``: to the README."""
    return f"[{algorithm}]({up}algorithms/{algorithm}/README.md)"


def chosen(found: Iterable[Gap]) -> list[Gap]:
    """Those of algorithms, each problem in one type."""
    some = [gap for gap in found if gap.algorithm not in NO_ALGORITHMS]
    usual = {size(gap) for gap in some if gap.row.case.dtype == USUAL}
    return [g for g in some if g.row.case.dtype == USUAL or size(g) not in usual]


def size(gap: Gap) -> tuple[str, str, str]:
    """Equal for one problem in several types."""
    return gap.algorithm, gap.row.case.problem_name, gap.row.problem


def league_line(gap: Gap, up: str) -> tuple[str, ...]:
    """One line of the league table: each tier at its best launch."""
    lead = gap.once or gap.several
    return (
        link(gap.algorithm, up),
        gap.problem,
        *gap_texts.tier_cells(gap),
        roofline(lead) if lead else "",
    )


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


def draw_answers(results: Path) -> str:
    """What the records of the first folder say."""
    cases, _ = read(results / ONE[0])
    records = f"[records]({UP}bench/results/{ONE[0]})"
    return joined(
        [f"{headline(cases)} ({records}).", *answers.draw(resident(results / ONE[0]))]
    )


def league(results: Path, name: str, up: str) -> tuple[list[Gap], str, str]:
    """Of one folder: its gaps, its headline and its league table."""
    cases, _ = read(results / name)
    leading = chosen(gaps(resident(results / name)))
    page = f"{up}bench/results/{name}"
    head = published_pages.source(cases, page)
    ceilings = f"Peaks measured there: {ceilings_text(cases)}."
    lines = [league_line(gap, up) for gap in leading]
    return leading, f"{head} {ceilings}", markdown_table(LEAGUE, lines)


def one_device(results: Path, name: str) -> list[str]:
    """What is drawn of one folder: its headline, the league table, the gaps."""
    leading, head, table = league(results, name, UP)
    lines = [
        (link(gap.algorithm, UP), gap.problem, *cells[2:])
        for gap, cells in zip(leading, gap_texts.cells(leading))
    ]
    drawn = markdown_table(GAPS, lines, gap_texts.NUMBERS)
    shown = {field(gap.row) for gap in leading}
    rows = [row for row in resident(results / name) if field(row) in shown]
    told = means.texts(means.means(rows))
    told += gap_texts.left_out(leading)
    lines_of_means = "".join(f"- {text}\n" for text in told)
    return [head, table, *([lines_of_means] if told else []), "The gap:", drawn]


def joined(parts: Iterable[str]) -> str:
    """Paragraphs and tables, a blank line between them."""
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def draw(results: Path, first: FirstScreen, shown: list[Figure]) -> str:
    """All tables, then the figures; raises Broken."""
    parts = [first.sentence]
    parts += [gap_texts.TIERS_TEXT, gap_texts.DEFINITIONS]
    parts += [part for name in ONE for part in one_device(results, name)]
    found = [one for name in ONE for one in defects.defects(resident(results / name))]
    parts += [defects.TEXT, markdown_table(defects.COLUMNS, defects.cells(found))]
    cases, rows = read(results / SEVERAL)
    text = f"Several GPUs of one host, makespan: {headline(cases)} "
    parts += [
        f"{text}([records]({UP}bench/results/{SEVERAL})).",
        scaling_table(scalings(measured(rows)), UP),
        published_figures.markdown(shown, UP),
    ]
    return joined(parts)


def pages(
    results: Path,
    readme: Path,
    first: FirstScreen,
    shown: list[Figure],
    of_studies: dict[str, list[Figure]],
) -> Iterator[tuple[Path, str, str]]:
    """The pages beside this README, each with the name and text of its part; raises Broken."""
    yield readme, HEADLINE, joined(first.parts)
    yield readme.parent / PAGE, NAME, draw(results, first, shown)
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
    for page in published_pages.pages(readme, published_pages.PART):
        text = published_pages.draw_once(page.parent.name, results)
        yield page, published_pages.PART, text


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
        first = first_screen.made(options.results)
        shown = published_figures.published(options.results)
        of_studies = published_figures.of_studies(options.results)
        drawn = [first.picture, *shown] + [
            f for figures in of_studies.values() for f in figures
        ]
        if options.write:
            for page, name, text in pages(
                options.results, options.write, first, shown, of_studies
            ):
                marked.write(page, name, text)
            published_figures.write(options.results, drawn)
        elif options.check:
            parts = pages(options.results, options.check, first, shown, of_studies)
            changes = [marked.difference(*part) for part in parts]
            changes += published_figures.stale(options.results, drawn)
            for change in filter(None, changes):
                print(change)
            return int(any(changes))
        else:
            print(draw(options.results, first, shown), end="")
    except (Broken, OSError) as error:
        print(f"bench.report.published: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
