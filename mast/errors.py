"""Typed errors: what was given, what was expected, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from marl_common import not_known


class MastError(ValueError):
    """A value this package cannot work with; the message says what, expected and fix."""


def check_name(what: str, given: str, known: Iterable[str]) -> str:
    """Return a name that is one of the known.

    Raises:
        MastError: It is not; names the nearest known one.
    """
    names = list(known)
    if given in names:
        return given
    raise MastError(not_known(what, given, names))


def check_range(
    name: str, value: float, low: float, high: float, *, open_end: bool = False
) -> None:
    """Make sure that a number lies in a range.

    Args:
        name: What it is, as the user writes it.
        value: The number.
        low: The least allowed one.
        high: The largest allowed one.
        open_end: The largest itself is not allowed.

    Raises:
        MastError: It does not, or is no number.
    """
    if not low <= value <= high or (open_end and value == high):
        end = "below" if open_end else "to"
        raise MastError(f"{name}={value}: expected a number from {low:g} {end} {high:g}.")


def check_count(name: str, value: int, low: int = 1) -> None:
    """Make sure that a whole number is large enough.

    Raises:
        MastError: It is not.
    """
    if value < low:
        raise MastError(f"{name}={value}: expected a whole number of at least {low}.")
