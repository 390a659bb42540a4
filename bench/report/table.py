# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table as CSV and as Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from . import end_to_end, end_to_end_times, metric_texts
from .bounds import CACHE
from .csv_text import figure, written
from .factors import BESIDE, FACTORS, JOINT, WHOLE
from .gap_texts import COLUMNS as GAP_COLUMNS
from .gap_texts import (
    DEFINITIONS,
    TIER_COLUMNS,
    TIERS_TEXT,
    blank_text,
    cells,
    tier_cells,
)
from .gap_texts import NUMBERS as GAP_NUMBERS
from .gaps import Gap
from .learning import COLUMNS as TRAINING_COLUMNS
from .learning import NUMBERS as TRAINING_NUMBERS
from .learning import Training
from .learning import cells as training_cells
from .rows import Row
from .shape_texts import BOUNDS, WORST
from .shape_texts import COLUMNS as SHAPE_COLUMNS
from .shape_texts import NUMBERS as SHAPE_NUMBERS
from .shape_texts import cells as shape_cells
from .shapes import ShapeStudy
from .statistics import median
from .traffic import in_cache
from .view import COLUMNS, NUMBERS, OPTIONAL, RATIO, Group
from .writing import TIERS

END_TO_END = {
    f"end_to_end_{'_'.join(way)}{end}_s": (way, place)
    for way in end_to_end.WAYS
    for place, end in enumerate(("", "_low", "_high"))
}


def column(name: str) -> str:
    """``gap_language_x_method``: of a factor, and of what stands beside the factors."""
    return "gap" if name == WHOLE else f"gap_{name.replace(',', '').replace(' ', '_')}"


CSV_COLUMNS = [
    "algorithm",
    "method",
    "model",
    "dtype",
    "sizes",
    "devices",
    "launch",
    "median_s",
    "ci_low_s",
    "ci_high_s",
    "portable_over_native",
    "floor_ratio",
    "verdict",
    "reason",
    "rate",
    "rate_unit",
    "note",
    "portable_over_native_low",
    "portable_over_native_high",
    "status",
    "device_kind",
    "device_name",
    "metric",
    "min_s",
    "max_s",
    "samples",
    "launches",
    "latency_s",
    "stages_s",
    "execution",
    "effective_launch",
    "communicator",
    "unit",
    "best_unit",
    "best_floor_ratio",
    "launch_source",
    "comparison",
    "name",
    "preset",
    "git",
    "kokkos",
    "date",
    "ranks",
    "nodes",
    "detectable",
    "compiler",
    "sources",
    "executable",
    "host",
    *(column(name) for name in (WHOLE, *FACTORS, JOINT, *BESIDE)),
    "gap_best",
    "gap_blank",
    *END_TO_END,
    "end_to_end_parts_s",
    "energy_J",
    "energy_low_J",
    "energy_high_J",
    "energy_reason",
    "bodies",
    "shared",
    "numbers",
]


RIGHT = {
    *NUMBERS,
    RATIO,
    *(f"{tier} / native" for tier in ("Kokkos", *TIERS)),
    "native / portable twin",
    *TRAINING_NUMBERS,
    *SHAPE_NUMBERS,
    "A",
    "B",
    "B / A",
}


def gap_record(gap: Gap | None) -> dict[str, str]:
    """The CSV cells of the gap that a row is the written-once side of."""
    if gap is None:
        return {key: "" for key in CSV_COLUMNS if key.startswith("gap")}
    case = gap.best.case
    values = gap.beside | {name: one.value for name, one in gap.factors.items()}
    names = (WHOLE, *FACTORS, JOINT, *BESIDE)
    return {
        **{column(name): figure(values.get(name)) for name in names},
        "gap_best": f"{case.model} {case.method_text}",
        "gap_blank": blank_text(gap, names),
    }


def record(row: Row, gap: Gap | None = None) -> dict[str, str]:
    """The CSV cells of one row, and of its gap."""
    case, ratio, samples = row.case, row.ratio, row.case.samples
    stages = {name: median(times) for name, times in case.stages.items()}
    values = {
        **{key: getattr(case, key) for key in CSV_COLUMNS[:4]},
        "sizes": row.sizes,
        "devices": case.devices,
        "launch": case.launch,
        "median_s": figure(row.median),
        "ci_low_s": figure(row.low),
        "ci_high_s": figure(row.high),
        "portable_over_native": figure(ratio.value if ratio else None),
        "floor_ratio": figure(row.floor_ratio),
        "best_floor_ratio": figure(row.best_floor_ratio),
        "verdict": row.verdict,
        "reason": row.reason,
        "rate": figure(row.rate),
        "rate_unit": row.rate_unit,
        "note": "; ".join(
            filter(None, [CACHE if row.median and in_cache(case) else "", row.note])
        ),
        "portable_over_native_low": figure(ratio.low if ratio else None),
        "portable_over_native_high": figure(ratio.high if ratio else None),
        "min_s": figure(min(samples) if samples else None),
        "max_s": figure(max(samples) if samples else None),
        "samples": len(samples),
        "launches": len(case.launches),
        "latency_s": figure(row.latency),
        "stages_s": " ".join(f"{k}={figure(v)}" for k, v in stages.items()),
        **{
            key: figure(row.end_to_end[way][place] if way in row.end_to_end else None)
            for key, (way, place) in END_TO_END.items()
        },
        "end_to_end_parts_s": end_to_end_times.parts_text(case),
        "detectable": figure(row.detectable),
        "energy_J": figure(row.energy),
        "energy_low_J": figure(row.energy_low),
        "energy_high_J": figure(row.energy_high),
        "effective_launch": case.effective_text,
        "preset": case.context.build.preset,
        "git": case.context.build.git,
        "kokkos": case.context.build.kokkos,
        "date": case.context.date,
        **gap_record(gap),
        "compiler": case.context.build.compiler,
        "sources": case.context.build.sources,
        "executable": case.context.build.executable,
        "shared": "" if case.shared is None else str(case.shared).lower(),
        "numbers": " ".join(f"{k}={v}" for k, v in case.numbers.items()),
        "host": " ".join(dict.fromkeys(context.host for context in case.contexts)),
    }
    usual = {k: values[k] if k in values else getattr(case, k) for k in CSV_COLUMNS}
    metrics = {k: figure(one) for k, one in metric_texts.figures(case).items()}
    return {key: str(one) for key, one in (usual | metrics).items()}


def records(rows: list[Row], gaps: Iterable[Gap]) -> list[dict[str, str]]:
    """The CSV cells of all rows."""
    by_row = {id(gap.row): gap for gap in gaps}
    return [record(row, by_row.get(id(row))) for row in rows]


def to_csv(rows: list[Row], gaps: Iterable[Gap] = ()) -> str:
    """One line per case."""
    return written(records(rows, gaps), CSV_COLUMNS)


def escape(text: str) -> str:
    """Text that Markdown shows as it is, inside a table and outside."""
    for sign, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, safe)
    for sign in "\\`*|":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def markdown_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[str] = RIGHT,
) -> str:
    """A pipe table; numbers to the right."""
    rules = ["---:" if column in right else "---" for column in columns]
    lines = [[escape(column) for column in columns], rules]
    lines += [[escape(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


ACCURACY = (
    "Mean, standard deviation and range over the seeds. Time to a target: median time of the whole training / epochs x "
    "the first epoch whose measured accuracy reaches it; mean over the seeds, where all of them do."
)


def shapes_text(study: ShapeStudy) -> str:
    """The goals of the shapes of one device, and the worst of them."""
    title = f"### {len(study.shapes)} shapes, {escape(study.device)}"
    goals = "".join(f"- {escape(str(goal))}\n" for goal in study.goals)
    worst = markdown_table(SHAPE_COLUMNS, shape_cells(study.shapes[:WORST]))
    return f"{title}\n\n{escape(BOUNDS)}\n\n{goals}\nThe {WORST} farthest from their bound:\n\n{worst}"


def to_markdown(
    headline: str,
    groups: list[Group],
    remarks: list[str],
    findings: list[str],
    gaps: Sequence[Gap] = (),
    problems: Sequence[str] = (),
    trainings: Sequence[Training] = (),
    shapes: Sequence[ShapeStudy] = (),
) -> str:
    """The whole page: headline first, then one table per comparison, then what follows."""
    parts = [escape(headline) + "\n"]
    if problems:
        parts.append("".join(f"- {escape(text)}\n" for text in problems))
    if remarks:
        parts.append("".join(f"- preflight: {escape(text)}\n" for text in remarks))
    if gaps:
        told = [(gap.title, gap.device, *tier_cells(gap)) for gap in gaps]
        tiers = markdown_table(("problem", "device", *TIER_COLUMNS), told)
        parts.append(f"### the tiers\n\n{escape(TIERS_TEXT)}\n\n{tiers}")
    rows = [row for group in groups for row in group.rows]
    columns = [c for c in COLUMNS if c not in OPTIONAL or any(row[c] for row in rows)]
    for group in groups:
        table = markdown_table(
            columns, [[row[name] for name in columns] for row in group.rows]
        )
        parts.append(f"### {escape(group.title)}\n\n{table}")
    if gaps:
        table = markdown_table(GAP_COLUMNS, cells(gaps), GAP_NUMBERS)
        parts.append(f"### the gap\n\n{escape(DEFINITIONS)}\n\n{table}")
    if trainings:
        table = markdown_table(TRAINING_COLUMNS, training_cells(list(trainings)))
        parts.append(
            f"### test accuracy after the last epoch\n\n{escape(ACCURACY)}\n\n{table}"
        )
    parts += map(shapes_text, shapes)
    if findings:
        lines = "".join(f"- {escape(text)}\n" for text in findings)
        parts.append(f"### what the rows say together\n\n{lines}")
    return "\n".join(parts)
