"""What environments refuse: arguments, options and seeds of a wrong kind, and steps out of turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from marl_common import brief, one_of, suggest

MOST_WORLDS = 10_000_000


class EnvError(ValueError):
    """An argument of an environment that is not known or cannot work."""


class ArgumentError(EnvError, TypeError):
    """An argument that no environment has: a TypeError too, as of any function.

    TorchRL passes ``frameskip`` and tries without it where the TypeError says so.
    """


class ResetNeededError(EnvError, gymnasium.error.ResetNeeded):
    """A step before the first reset, or after an episode's end: Gymnasium's ``ResetNeeded`` too."""


class EpisodeGate:
    """Whether an episode runs, so that a step has one to belong to."""

    def __init__(self) -> None:
        self._missing = "before the first reset"

    def begin(self) -> None:
        """Start an episode."""
        self._missing = ""

    def end(self, ended: bool = True) -> None:
        """End the episode, if it has ended."""
        if ended:
            self._missing = "after the episode's end"

    def check(self) -> None:
        """Refuse a step where no episode runs.

        Raises:
            ResetNeededError: See above; nothing was evaluated.
        """
        if self._missing:
            raise ResetNeededError(
                f"step: got one {self._missing}, expected a reset first; call reset()"
            )


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse a value that is none of the allowed ones, with the nearest as a suggestion.

    Raises:
        EnvError: The value is not allowed.
    """
    allowed = tuple(allowed)
    if not isinstance(value, str) or value not in allowed:
        raise EnvError(f"{name}: got {brief(value)}, expected {one_of(allowed, value)}")


def check_length(length: Any) -> int:
    """An episode length as it came.

    Raises:
        EnvError: It is no whole number above 0.
    """
    return _whole("episode_length", length, 1)


def check_worlds(number: Any) -> int:
    """A number of worlds as it came.

    Raises:
        EnvError: It is no whole number above 0, or beyond all memory.
    """
    return _whole("num_envs", number, 1, f" and at most {MOST_WORLDS:,}", MOST_WORLDS)


def check_seed(seed: Any) -> int | None:
    """A seed of a reset as it came; None keeps the generator.

    Raises:
        EnvError: It is no whole number of at least 0.
    """
    return None if seed is None else _whole("seed", seed, 0, ", or None")


def check_options(options: Any, known: Iterable[str] = ()) -> Mapping[str, Any]:
    """Options of a reset; None stands for none.

    Raises:
        EnvError: They are no dict, or one is not known.
    """
    names = tuple(known)
    expected = ", ".join(map(repr, names)) or "none"
    if options is not None and not isinstance(options, Mapping):
        raise EnvError(f"options: got {brief(options)}, expected a dict of {expected}, or None")
    for name in options or {}:
        if name not in names:
            hint = suggest(str(name), names)
            raise EnvError(
                f"options: unknown option {brief(name)} of reset; expected {expected}.{hint}"
            )
    return options or {}


def mask_rows(mask: Any, count: int) -> NDArray[np.int64]:
    """The worlds that a ``reset_mask`` names.

    Raises:
        EnvError: It is no ``(count,)`` bool array with one True at least.
    """
    try:
        array = np.asarray(mask)
    except ValueError:  # lists of unequal lengths
        array = np.zeros(0)
    if array.dtype != np.bool_ or array.shape != (count,) or not array.any():
        raise EnvError(
            f"options['reset_mask']: got {brief(mask)}, expected ({count},) bool with one world to "
            "reset at least"
        )
    return np.flatnonzero(array)


def _whole(name: str, value: Any, least: int, more: str = "", most: float = np.inf) -> int:
    """A whole number in a range; `more` is what a message says behind its least value."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise EnvError(
            f"{name}: got {brief(value)}, expected a whole number of at least {least}{more}"
        )
    return int(value)
