# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Readable numbers with units."""

from __future__ import annotations

from dataclasses import dataclass

MILLION, BILLION = 10**6, 10**9
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
ENERGIES = ((1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "uJ"))


@dataclass(frozen=True)
class Figure:
    """A number with its unit, and its interval: ``12.34 us``, ``[12.30, 12.40]``; empty without one."""

    text: str
    ends: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.ends}".strip()


def digits(value: float) -> str:
    """Four significant digits, without an exponent."""
    if value >= 1000:
        return f"{value:.0f}"
    places = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{places}f}"


def scale(value: float) -> tuple[float, str]:
    """The largest unit of time that leaves at least one whole."""
    return next((pair for pair in SCALES if value >= pair[0]), SCALES[-1])


def seconds(value: float) -> str:
    """``12.34 us``."""
    size, unit = scale(value)
    return f"{digits(value / size)} {unit}"


def figure(
    value: float, low: float | None, high: float | None, size: float, unit: str
) -> Figure:
    """All three numbers in one unit."""
    text = f"{digits(value / size)} {unit}"
    if low is None or high is None:
        return Figure(text)
    return Figure(text, f"[{digits(low / size)}, {digits(high / size)}]")


def interval(value: float, low: float | None, high: float | None) -> Figure:
    """``12.34 us [12.30, 12.40]``."""
    return figure(value, low, high, *scale(value))


def joules(value: float, low: float | None = None, high: float | None = None) -> Figure:
    """``12.34 mJ [12.30, 12.40]``."""
    scale = next((pair for pair in ENERGIES if value >= pair[0]), ENERGIES[-1])
    return figure(value, low, high, *scale)


def ratio(value: float, low: float | None, high: float | None) -> Figure:
    """``0.984 [0.981, 0.986]``."""
    known = low is not None and high is not None
    return Figure(f"{value:.3f}", f"[{low:.3f}, {high:.3f}]" if known else "")


def rate(value: float | None, unit: str) -> str:
    """``4402 GB/s``; small rates keep three significant digits."""
    if value is None:
        return ""
    return f"{digits(value) if value >= 0.1 else format(value, '.3g')} {unit}"


def per_cent(share: float) -> str:
    """``69 %``; below one, two significant digits."""
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.2g} %"


def plain(value: float) -> str:
    """Three significant digits, without an exponent: ``1,400``, ``57.4``."""
    return f"{float(f'{value:.3g}'):,.10g}"


def about(value: float) -> str:
    """``1.25M``: three significant digits with a decimal prefix."""
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            return f"{plain(value / size)}{prefix}"
    return plain(value)


def exact(value: object) -> str:
    """A size or parameter as people write it, to the last digit: ``8,192``, ``62.5M``, ``2^28``, ``1e-6``.

    Two numbers never look alike: beyond a million only powers of two and round numbers are short.
    """
    if isinstance(value, float) and not value.is_integer():
        return repr(value).replace("e-0", "e-")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    number = int(value)
    if MILLION <= number < 1000 * BILLION:
        if number & (number - 1) == 0:
            return f"2^{number.bit_length() - 1}"
        size, prefix = (BILLION, "G") if number >= BILLION else (MILLION, "M")
        if number % (size // 1000) == 0:
            return f"{number / size:g}{prefix}"
    return f"{number:,}"
