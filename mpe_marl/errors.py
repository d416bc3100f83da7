"""Typed errors: what was given, what was expected, what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from marl_common import not_known


class MpeError(ValueError):
    """A value this package cannot work with; the message says what, expected and fix."""


class ReplayMemoryError(MpeError):
    """A replay store that fits neither in memory nor on the disk it was pointed at."""


def unknown_name(what: str, given: str, known: Iterable[str]) -> MpeError:
    """Build the error for a name that is in no registry.

    Args:
        what: Kind of thing that was named, e.g. ``"world"``.
        given: The name as given.
        known: Every name that would have been right.

    Returns:
        The error, with the nearest known name where one is near.
    """
    return MpeError(not_known(what, given, sorted(known)))


def at_least(name: str, value: int, low: int) -> int:
    """Return ``value`` when it is an integer of at least ``low``.

    Raises:
        MpeError: It is smaller.
    """
    if value < low:
        raise MpeError(f"{name}={value} is too small; expected an integer >= {low}.")
    return int(value)
