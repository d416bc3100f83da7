"""Quantities as people read them: ``31.0 mm²``, ``44.4 µJ``, ``1.53 Mcycles``."""

from __future__ import annotations

import math
from typing import NamedTuple

PREFIXES = {-18: "a", -15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M",
            9: "G", 12: "T", 15: "P", 18: "E"}  # fmt: skip
"""Prefixes of the International System of Units, by power of ten."""

EXACT_BELOW = 10_000
"""Whole counts below this are shown with all their digits."""


class Unit(NamedTuple):
    """What a unit's name stands for: `factor` times ``symbol ** power``.

    Counted things (cycles, MACs, B) take no prefix below 1 and keep short whole numbers exact.
    """

    factor: float
    symbol: str
    power: int = 1
    counted: bool = False


SYSTEM = {
    "pJ": Unit(1e-12, "J"),
    "nJ": Unit(1e-9, "J"),
    "J": Unit(1.0, "J"),
    "mW": Unit(1e-3, "W"),
    "W": Unit(1.0, "W"),
    "um^2": Unit(1e-12, "m", 2),
    "mm^2": Unit(1e-6, "m", 2),
    "ns": Unit(1e-9, "s"),
    "us": Unit(1e-6, "s"),
    "ms": Unit(1e-3, "s"),
    "s": Unit(1.0, "s"),
    "MHz": Unit(1e6, "Hz"),
}
"""Units that bring a prefix of their own; every other name is a counted thing."""


def engineering(value: float | None, unit: str = "", digits: int = 3) -> str:
    """A quantity with the prefix that leaves one to three digits before the point.

    Args:
        value: The number, in `unit`.
        unit: Such as ``nJ``, ``um^2``, ``cycles``, ``B``; the factors of a product are joined by
            ``" * "``, and the first one of `SYSTEM` takes the prefix (``J·cycles``), else the
            first.
        digits: Significant digits; whole counts below 10,000 keep all of theirs.

    Returns:
        Such as ``31.0 mm²``, ``490 J·cycles``, ``380 B``; ``-`` for None, ``inf`` and ``nan``
        without a unit.
    """
    if value is None:
        return "-"
    if not math.isfinite(value):
        return f"{value:.0f}"
    head, others = _parsed(unit)
    scaled = value * head.factor
    exponent = _exponent(scaled, head, digits)
    prefix = PREFIXES.get(exponent // head.power)
    if prefix is None:
        number, prefix = f"{scaled:.{digits - 1}e}", ""
    elif scaled == 0 or (head.counted and abs(scaled) < EXACT_BELOW and scaled == round(scaled)):
        number, prefix = f"{scaled:,.0f}", ""
    else:
        shown = scaled / 10.0**exponent
        number = f"{shown:,.{max(0, digits - 1 - _magnitude(shown, digits))}f}"
    symbol = prefix + head.symbol + ("²" if head.power == 2 else "")
    return f"{number} {'·'.join([symbol, *others])}".rstrip()


def percent(share: float) -> str:
    """A share as people read it: ``1.8 %``, ``137 %``; never so short that it reads as none."""
    if not math.isfinite(share):
        return "unknown"
    if 0 < share < 1e-4:
        return "less than 0.01 %"
    return f"{100 * share:,.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def _parsed(unit: str) -> tuple[Unit, list[str]]:
    """The factor that takes the prefix, scaled by all of them, and the symbols of the others."""
    known = [SYSTEM.get(name, Unit(1.0, name, counted=True)) for name in unit.split(" * ")]
    head = next((part for part in known if not part.counted), known[0])
    known.remove(head)
    others = [part.symbol + ("²" if part.power == 2 else "") for part in known]
    return head._replace(factor=math.prod([head.factor, *(p.factor for p in known)])), others


def _exponent(scaled: float, unit: Unit, digits: int) -> int:
    """Power of ten that the prefixed unit stands for, such as 6 for M and -6 for mm²."""
    step = 3 * unit.power
    # the steps between squares are a million wide: 0.05 mm² reads better than 50,000 µm²
    margin = 2 if unit.power == 2 else 0
    exponent = step * ((_magnitude(scaled, digits) + margin) // step)
    return max(0, exponent) if unit.counted else exponent


def _magnitude(number: float, digits: int) -> int:
    """Power of ten of the first digit, once the number is rounded."""
    return int(f"{number:.{digits - 1}e}".partition("e")[2])
