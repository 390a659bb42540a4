# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matplotlib's SVG in a tenth of its size: what the page holds.

Groups without a meaning, ids that nothing refers to, invisible paths and digits below a
tenth of a point go, and circles are arcs. What several drawings of a page have in common it holds once: styles
as classes of CSS, and hatches.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

UNSEEN = {
    "metadata",
    "title",
    "style",
}  # elements of a file that the page does not need
PLACES = ("x", "y", "width", "height", "transform")  # attributes with coordinates
NUMBER = re.compile(r"-?\d*\.\d+(?:e-?\d+)?")
STEP = re.compile(r"[A-Za-z]|-?\d+(?:\.\d+)?")
PATTERN = re.compile(r'<pattern id="([^"]*)"(.*?</pattern>)')
CURVES = re.compile(r"M([^A-Za-z]*)((?:C[^A-Za-z]*){8})z")  # Matplotlib's circle
STYLE = re.compile(r' style="([^"]*)"')
FONT = re.compile(r"font-family:[^;]*;?")  # page.css has it


def compact(svg: str) -> str:
    """The same drawing without white space and without what is not seen."""
    return element(ET.fromstring(svg), set(re.findall(r"#([\w.-]+)", svg)))


def element(node: ET.Element, used: set[str]) -> str:
    """One element and what is in it; empty where nothing is seen."""
    tag = node.tag.rpartition("}")[2]
    if tag in UNSEEN:
        return ""
    attributes = kept(node, used)
    own = (node.text or "") if tag in ("text", "tspan") else ""
    inner = escape(own) + "".join(element(child, used) for child in node)
    if tag in ("g", "defs") and not inner:
        return ""
    if tag == "g" and not attributes:
        return inner
    if attributes.get("style") == "fill:none" and "id" not in attributes:
        return ""
    start = "".join(f" {name}={quoteattr(text)}" for name, text in attributes.items())
    return f"<{tag}{start}>{inner}</{tag}>" if inner else f"<{tag}{start}/>"


def kept(node: ET.Element, used: set[str]) -> dict[str, str]:
    """The attributes that matter, each as short as it can be."""
    found = {}
    for full, text in node.items():
        name = full.rpartition("}")[2]
        if name == "id" and text not in used:
            continue
        if name == "style":
            text = FONT.sub("", re.sub(r"\s*([:;])\s*", r"\1", text)).strip(";")
        elif name == "d":
            text = path(NUMBER.sub(rounded, CURVES.sub(circle, text)))
        elif name in PLACES:
            text = NUMBER.sub(rounded, text)
        if name == "transform" and text.startswith("rotate(-0 "):
            continue
        found["xlink:href" if name == "href" else name] = text
    return found


def circle(curves: re.Match[str]) -> str:
    """Two arcs where the eight curves are a circle; else as it was."""
    points = [one.split()[-2:] for one in curves.group(2).split("C")[1:]]
    across, down = zip(*((float(x), float(y)) for x, y in points))
    x, y = (min(across) + max(across)) / 2, (min(down) + max(down)) / 2
    radius = (max(across) - min(across)) / 2
    if any(abs(math.dist(at, (x, y)) - radius) > 0.01 for at in zip(across, down)):
        return curves.group()
    arc = "a 0.1 0.1 0 1 0"  # a radius too small for its chord: half a circle
    return f"M {x - radius} {y} {arc} {2 * radius:.2f} 0 {arc} {-2 * radius:.2f} 0 z"


def rounded(number: re.Match[str]) -> str:
    """To a tenth: on a page a seventh of a pixel."""
    text = f"{float(number.group()):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def path(text: str) -> str:
    """The same path with H and V for lines along an axis, each letter only where it changes."""
    steps = STEP.findall(text)
    parts: list[str] = []
    here, last, place = ("", ""), "", 0
    while place < len(steps):
        if (letter := steps[place]) in "Zz":
            parts, last, place = [*parts, "z"], "", place + 1
            continue
        count = {"M": 2, "L": 2, "Q": 4, "C": 6, "a": 7}[letter]
        numbers = steps[place + 1 : place + 1 + count]
        place, there = place + 1 + count, (numbers[-2], numbers[-1])
        if letter == "L" and here[1] == there[1]:
            letter, numbers = "H", [there[0]]
        elif letter == "L" and here[0] == there[0]:
            letter, numbers = "V", [there[1]]
        goes_on = letter == last != "M"
        parts.append(("" if goes_on else letter) + joined(numbers, goes_on))
        here, last = there, letter
    return "".join(parts)


def joined(numbers: list[str], follows: bool) -> str:
    """Separated by blanks where no sign separates them."""
    text = "".join(one if one[0] == "-" else f" {one}" for one in numbers)
    return text if follows else text.removeprefix(" ")


def share(drawings: Iterable[str]) -> tuple[list[str], str, str]:
    """The drawings, the classes of their styles as CSS, and their hatches as elements."""
    classes: dict[str, str] = {}
    hatches: dict[str, str] = {}
    found = []

    def named(style: re.Match[str]) -> str:
        return f' class="{classes.setdefault(style.group(1), f"s{len(classes)}")}"'

    for text in drawings:
        for name, content in PATTERN.findall(text):
            hatch = hatches.setdefault(content, f"hatch{len(hatches)}")
            text = text.replace(f"url(#{name})", f"url(#{hatch})")
        head, end, rest = (
            PATTERN.sub("", text).replace("<defs></defs>", "").partition(">")
        )
        found.append(head + end + STYLE.sub(named, rest))
    shared = "".join(
        f'<pattern id="{name}"{STYLE.sub(named, content)}'
        for content, name in hatches.items()
    )
    css = "\n".join(f".{name} {{ {style} }}" for style, name in classes.items())
    return found, css, shared
