# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a drawn figure to files, and to SVG inside the page that follows its theme."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .compact import compact
from .figure import Figure

os.environ["MPLBACKEND"] = "agg"  # a notebook's own may not be here
try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from .drawing import to_svg

    DRAWS = True
except ImportError:  # the page is made without figures, and says so
    DRAWS = False

DPI = 144
# Colours of style.py -> custom properties of page.css, which differ by theme.
THEME = {
    "#1a1f26": "ink",
    "#5b6470": "soft",
    "#d5dae1": "grid",
    "#fefefe": "paper",
    "#0072b2": "blue",
    "#e69f00": "orange",
    "#009e73": "green",
    "#d55e00": "red",
    "#cc79a7": "purple",
    "#56b4e9": "sky",
    "#8a919c": "grey",
}


def available() -> bool:
    """Whether figures can be drawn here."""
    return DRAWS


def render(
    figure: Figure, name: str, folder: Path, prefix: str = "", png: bool = True
) -> str:
    """Writes NAME.svg and NAME.png into the folder; returns the SVG for the page, whose ids begin with the prefix."""
    canvas = figure.draw()
    text = to_svg(canvas, figure.title)
    (folder / f"{name}.svg").write_text(text, encoding="utf-8")
    if png:
        canvas.set_layout_engine("none")  # where all lies is known by now
        canvas.set_facecolor("white")
        canvas.set_dpi(DPI)
        FigureCanvasAgg(canvas).print_png(folder / f"{name}.png")
    return inline(compact(text), prefix or name)


def inline(svg: str, name: str) -> str:
    """The <svg> element alone: own ids, sized by the page, colours from its theme."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<title>.*?</title>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    head, rest = svg.split(">", 1)
    width = re.search(r'\bwidth="([\d.]+)pt"', head)
    head = re.sub(r'\s(width|height|version)="[^"]*"', "", head)
    size = f"{float(width.group(1)) * 4 / 3:.0f}" if width else "640"
    head += f' role="img" aria-labelledby="{name}-title" style="--width: {size}px"'
    for colour, variable in THEME.items():
        rest = rest.replace(colour, f"var(--{variable})")
    return f"{head}>{rest}"
