# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Matplotlib figure as SVG, laid out and drawn by one renderer; each text is measured once in all figures."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties

DPI = 72  # of SVG: a point is a unit
measured: dict[tuple[str, FontProperties, bool], Any] = {}  # width, height, descent


def to_svg(canvas: Canvas, title: str) -> str:
    """The text of its SVG file, byte for byte as Matplotlib's print_svg."""
    text = io.StringIO()
    canvas.set_dpi(DPI)
    width, height = canvas.get_size_inches() * DPI
    metadata = {"Date": None, "Title": title}
    renderer: Any = RendererSVG(width, height, text, metadata=metadata)
    measure = renderer.get_text_width_height_descent

    def size(s: str, prop: FontProperties, ismath: bool) -> Any:
        key = (s, prop, ismath)
        if key not in measured:
            measured[s, prop.copy(), ismath] = measure(s, prop, ismath)
        return measured[key]

    renderer.get_text_width_height_descent = size
    output: Any = FigureCanvasSVG(canvas)
    output.get_renderer = lambda: renderer  # the layout would draw in vain for one
    canvas.draw(renderer)
    renderer.finalize()
    return text.getvalue()
