"""What a sweep's options mean: ranges of sizes, fields by their path, quantities with a unit."""

from __future__ import annotations

import math
import re

Value = int | float | str
"""Of a field that is swept; units of axes are text, such as ``4x4``."""
MOST_VALUES = 100_000
"""Values that one range may have."""
_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)i?b?", re.IGNORECASE | re.ASCII)
_FRACTION = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_AXES = re.compile(r"[0-9]{1,9}(x[0-9]{1,9})*")
_QUANTITY = re.compile(
    r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)\s*([a-zµ]+(?:\^?2|²)?)", re.IGNORECASE
)
AREA_UM2 = {"um2": 1.0, "mm2": 1e6, "cm2": 1e8}
"""Units of an area [um^2]."""
POWER_MW = {"uw": 1e-3, "mw": 1.0, "w": 1e3}
"""Units of a power [mW]."""


class ExploreError(ValueError):
    """An exploration that cannot be made as it was asked for."""


def swept(text: str) -> tuple[str, tuple[Value, ...]]:
    """The field of a sweep and its values.

    Args:
        text: ``PATH=RANGE``: a path as ``--set`` takes it, and a range as :func:`values_of`; its
            numbers may be fractions, or 0. Of ``fanout.axes``: ``4x4,8x8``.

    Raises:
        ExploreError: It is no such pair, or not a range.
    """
    path, equals, given = text.partition("=")
    if not equals or not path or not given:
        raise ExploreError(
            f"--sweep {text!r}: expected PATH=RANGE, such as levels.L2.bytes=16k..1M or "
            "levels.L2.fanout.axes=4x4,8x8"
        )
    flag = f"--sweep {path}"
    if not path.endswith(".axes"):
        return path, values_of(flag, given, any_number=True)
    parts = [part.strip() for part in given.split(",")]
    for part in parts:
        if not _AXES.fullmatch(part):
            raise ExploreError(
                f"{flag}: got {part!r}, expected units of each axis such as 4x4,8x8 or 16"
            )
    return path, tuple(dict.fromkeys(parts))


def values_of(flag: str, text: str, any_number: bool = False) -> tuple[Value, ...]:
    """The values of a range, ascending, each once.

    Args:
        flag: The option, for messages.
        text: Parts between commas: ``64..1024`` (the powers of two in between), ``64..1024:64``
            (in steps), or a number. ``16k`` and ``1M`` are 16,384 and 1,048,576.
        any_number: Whether a number may be 0 or a fraction; a range is of whole numbers from 1.

    Raises:
        ExploreError: A part is none of these, or holds no value.
    """
    found: set[Value] = set()
    for part in text.split(","):
        values = _values(flag, text, part.strip(), any_number)
        if len(values) > MOST_VALUES or len(found.union(values)) > MOST_VALUES:
            raise ExploreError(
                f"{flag}: {text!r} has more than {MOST_VALUES:,} values; give a larger step"
            )
        found.update(values)
    return tuple(sorted(found, key=float))


def _values(flag: str, text: str, part: str, any_number: bool) -> range | list[Value]:
    """A range is counted before it is written out."""
    ends, colon, step_text = part.partition(":")
    first, dots, last = ends.partition("..")
    if not dots:
        if colon:
            raise _wrong(flag, text, part)
        if any_number and _FRACTION.fullmatch(part):
            return [int(part) if part.isdecimal() else float(part)]
        return [_size(flag, text, part)]
    low, high = _size(flag, text, first), _size(flag, text, last)
    if low > high:
        raise ExploreError(f"{flag}: {part!r} runs from {low} down to {high}; give {last}..{first}")
    if colon:
        return range(low, high + 1, _size(flag, text, step_text))
    found = [1 << bits for bits in range(low.bit_length() - 1, high.bit_length())]
    powers: list[Value] = [power for power in found if low <= power <= high]
    if not powers:
        raise ExploreError(
            f"{flag}: {part!r} holds no power of two; give a step, as in {part}:{max(1, low // 8)}"
        )
    return powers


def _size(flag: str, text: str, part: str) -> int:
    match = _SIZE.fullmatch(part.strip())
    value = float(match[1]) * _BINARY[match[2].lower()] if match else 0.0
    if not 1 <= value < 1 << 31 or value != int(value):
        raise _wrong(flag, text, part)
    return int(value)


def _wrong(flag: str, text: str, part: str) -> ExploreError:
    what = f"{part!r} in {text!r}" if part != text else repr(text)
    return ExploreError(
        f"{flag}: got {what}, expected 64..1024 (powers of two), 64..1024:64 (steps) or numbers "
        "with commas, each a whole number of at least 1 such as 512, 16k or 1M"
    )


def quantity_of(flag: str, text: str, units: dict[str, float]) -> float:
    """A number with its unit, in the base unit of `units`.

    Raises:
        ExploreError: It is none, or not above 0.
    """
    match = _QUANTITY.fullmatch(text.strip())
    unit = match[2].lower().replace("²", "2").replace("^", "").replace("µ", "u") if match else ""
    if match is None or unit not in units or not 0 < float(match[1]) < math.inf:
        example = "5mm2" if "mm2" in units else "500mW"
        raise ExploreError(
            f"{flag}: got {text!r}, expected a number above 0 with its unit, such as {example} "
            f"(units: {', '.join(units)})"
        )
    return float(match[1]) * units[unit]
