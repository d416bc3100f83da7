"""Integer actions over named parameters, each of which is a mapping: what all map spaces share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layers import Layer
from maestro_env import codec
from maestro_env.parameters import MapSpaceError, Parameter, narrowed
from marl_common import IntArray, brief, one_of

Seed = int | np.random.Generator


class ActionError(ValueError):
    """Actions of a wrong shape, type or range."""


class ActionSpace(ABC):
    """The finite mappings of one layer on one chip, one choice a parameter.

    Attributes:
        layer: The layer.
        accelerator: The chip.
        parameters: The parameters, one a column of an action.
        filters: ``"whole"`` where filters stay in one tile, ``"free"`` where they are tiled.
        full: Whether mappings may use all that a model understands: several parallel dimensions
            a fan-out, and tensors that bypass a level.
        depth: Levels that parameters tell apart, by number from 0, the outermost.
    """

    layer: Layer
    accelerator: Any
    parameters: tuple[Parameter, ...]
    filters: str
    full: bool
    depth: int

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The options as plain values, as the class takes them."""

    @property
    @abstractmethod
    def moving(self) -> tuple[str, ...]:
        """Dimensions whose loops can iterate and are searched, in the order KCYXRSNG."""

    @abstractmethod
    def decode_checked(self, actions: IntArray) -> Any:
        """Translate actions that :meth:`check` gave."""

    @abstractmethod
    def encode(self, mappings: Any) -> IntArray:
        """Translate mappings back; the action is canonical: equal mappings give equal actions.

        Args:
            mappings: `B` mappings of this space (tiles above those around them count as those).

        Returns:
            ``(B, P)`` int64.

        Raises:
            MapSpaceError: A mapping uses a value that the space does not offer.
        """

    @cached_property
    def names(self) -> tuple[str, ...]:
        """``(P,)`` names of the parameters."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def nvec(self) -> IntArray:
        """``(P,)`` number of choices of each parameter."""
        return np.array([len(p) for p in self.parameters], dtype=np.int64)

    @property
    def size(self) -> int:
        """Number of actions, exact."""
        return math.prod(int(n) for n in self.nvec)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        return f"{type(self).__name__}({self.layer.name!r}, {options}, size={self.size:.3g})"

    def index(self, name: str) -> int:
        """The column of a parameter.

        Raises:
            MapSpaceError: No parameter has this name.
        """
        check_option("parameter", name, self.names)
        return self.names.index(name)

    def sample(self, n: int, seed: Seed) -> IntArray:
        """Draw `n` actions uniformly.

        Args:
            n: How many.
            seed: A seed, or a generator to draw from.

        Returns:
            ``(n, P)`` int64.
        """
        rng = np.random.default_rng(seed)
        return rng.integers(0, self.nvec, size=(n, len(self.nvec)), dtype=np.int64)

    def check(self, actions: Any) -> IntArray:
        """The actions as a contiguous ``(B, P)`` int64 array.

        Raises:
            ActionError: They are no integers, of another shape, or out of a parameter's range.
        """
        return check_actions(actions, self.nvec, self.names)

    def decode(self, actions: Any) -> Any:
        """Translate actions; every legal action is a mapping, the same one always.

        Args:
            actions: ``(B, P)`` integers.

        Raises:
            ActionError: See :meth:`check`.
        """
        return self.decode_checked(self.check(actions))

    def canonical(self, actions: Any) -> IntArray:
        """``encode(decode(actions))``: actions that decode alike become equal."""
        return self.encode(self.decode(actions))


def action_array(actions: Any) -> NDArray[Any]:
    """Actions as an array of any shape and type.

    Raises:
        ActionError: They are nested lists of unequal lengths.
    """
    try:
        return np.asarray(actions)
    except ValueError:
        raise ActionError(
            f"actions: got {brief(actions)}, expected rows of equal length, one value a parameter"
        ) from None


def check_actions(actions: Any, nvec: IntArray, names: Sequence[str]) -> IntArray:
    """The actions as a contiguous ``(B, P)`` int64 array.

    Args:
        actions: ``(B, P)`` integers, column i in ``[0, nvec[i])``.
        nvec: ``(P,)`` number of choices.
        names: ``(P,)`` names for messages.

    Raises:
        ActionError: They are no integers, of another shape, or out of a parameter's range.
    """
    array = action_array(actions)
    if array.dtype.kind not in "iu":
        raise ActionError(f"actions: got values of type {array.dtype}, expected integers")
    if array.ndim != 2 or array.shape[1] != len(nvec):
        raise ActionError(
            f"actions: got shape {array.shape}, expected (B, {len(nvec)}), one column a parameter"
        )
    array = np.ascontiguousarray(array, dtype=np.int64)
    row, column = codec.first_illegal(array, nvec)
    if row >= 0:
        raise ActionError(
            f"actions[{row}, {column}] ({names[column]}): got {array[row, column]}, "
            f"expected 0..{nvec[column] - 1}"
        )
    return array


def check_option(option: str, value: Any, allowed: Iterable[Any]) -> None:
    """Refuse a value of an option that is not allowed.

    Raises:
        MapSpaceError: It is none of `allowed`.
    """
    allowed = tuple(allowed)
    if value not in allowed:
        raise MapSpaceError(f"space.{option}: got {value!r}, expected {one_of(allowed, value)}")


def checked_only(only: Any) -> dict[str, tuple[int | str, ...]]:
    """The option `only`: choices to keep, by parameter.

    Raises:
        MapSpaceError: It is no dict of choices.
    """
    if only is not None and not isinstance(only, Mapping):
        raise MapSpaceError(
            f"space.only: got {brief(only)}, expected a dict such as {{'cluster_size': [16, 32]}}"
        )
    return {
        name: listed(f"only.{name}", choices, "a list of choices")
        for name, choices in (only or {}).items()
    }


def kept_only(
    parameters: Sequence[Parameter], only: Mapping[str, tuple[int | str, ...]]
) -> tuple[Parameter, ...]:
    """The parameters with the choices that the option `only` keeps.

    Raises:
        MapSpaceError: It names an unknown parameter, or choices that one does not have.
    """
    for name in only:
        check_option("only", name, [p.name for p in parameters])
    return tuple(narrowed(p, only[p.name]) if p.name in only else p for p in parameters)


def listed(option: str, given: Any, expected: str) -> tuple[Any, ...]:
    """What an option lists; a single text is a list of one.

    Raises:
        MapSpaceError: It is neither.
    """
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise MapSpaceError(f"space.{option}: got {brief(given)}, expected {expected}")
    return tuple(given)
