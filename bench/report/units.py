# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures as people read them."""

from __future__ import annotations

SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


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


def interval(value: float, low: float | None, high: float | None) -> str:
    """``12.34 us [12.30, 12.40]``, in one unit."""
    if low is None or high is None:
        return seconds(value)
    size = scale(value)[0]
    return f"{seconds(value)} [{digits(low / size)}, {digits(high / size)}]"


def ratio(value: float, low: float | None, high: float | None) -> str:
    """``0.984 [0.981, 0.986]``."""
    ends = f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    return f"{value:.3f}{ends}"


def rate(value: float | None, unit: str) -> str:
    """``4402 GB/s``; small rates keep three significant digits."""
    if value is None:
        return ""
    return f"{digits(value) if value >= 0.1 else format(value, '.3g')} {unit}"
