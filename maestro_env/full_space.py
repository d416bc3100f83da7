"""What the full map space adds: a second parallel dimension a level, and bypass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from cost_models import LEVELS, Accelerator, MappingBatch
from layers import DIMS, TENSORS
from maestro_env.parameters import MapSpaceError, Parameter, cluster_choices
from marl_common import BoolArray, Int8Array, Int32Array, IntArray

if TYPE_CHECKING:
    from maestro_env.map_space import MapSpace

NONE = "none"
"""No second parallel dimension; no tensor that bypasses a level."""
LEVEL_NAMES = ("outer", "inner")
BUFFERS = LEVELS[1:]


def spread_parameters(level: int, spread: Sequence[str], num_pes: int) -> Iterator[Parameter]:
    """A level's second parallel dimension, and the units of its first where there is a second."""
    prefix = LEVEL_NAMES[level]
    yield Parameter(f"{prefix}_parallel2", (NONE, *spread), level, "parallel2")
    yield Parameter(f"{prefix}_units", cluster_choices(num_pes), level, "units")


def bypass_parameter(accelerator: Accelerator) -> Parameter:
    """Which tensors bypass which level, besides those that the chip does not hold there.

    Every choice leaves every tensor in a level, and a tensor in every level.
    """
    held = [buffer.holds for buffer in accelerator.buffers()]
    ways = [
        [None, *(level for level in (0, 1) if held[0][t] and held[1][t])]
        for t in range(len(TENSORS))
    ]
    choices = []
    for routes in product(*ways):
        kept = [
            [held[level][t] and routes[t] != level for t in range(len(TENSORS))] for level in (0, 1)
        ]
        if all(any(level) for level in kept):
            choices.append(_named(routes))
    return Parameter("bypass", tuple(choices), None, "bypass")


def _named(routes: Sequence[int | None]) -> str:
    parts = [
        f"{'+'.join(t for t, route in zip(TENSORS, routes, strict=True) if route == level)} past "
        f"{BUFFERS[level]}"
        for level in (0, 1)
        if level in routes
    ]
    return ", ".join(parts) or NONE


def _flags(choice: str) -> list[list[bool]]:
    flags = [[False] * len(TENSORS) for _ in BUFFERS]
    for part in choice.split(", ") if choice != NONE else []:
        names, buffer = part.split(" past ")
        for name in names.split("+"):
            flags[BUFFERS.index(buffer)][TENSORS.index(name)] = True
    return flags


class FullFields:
    """Translates the columns of a full space.

    Args:
        space: The space.
    """

    def __init__(self, space: MapSpace) -> None:
        self._second = [space.index(f"{prefix}_parallel2") for prefix in LEVEL_NAMES]
        self._units = [space.index(f"{prefix}_units") for prefix in LEVEL_NAMES]
        self._bypass = space.index("bypass")
        parameters = space.parameters
        self._dims = [
            np.array(
                [-1 if c == NONE else DIMS.index(str(c)) for c in parameters[column].choices],
                np.int8,
            )
            for column in self._second
        ]
        self._sizes = [np.array(parameters[column].choices, np.int32) for column in self._units]
        self._choices = [str(choice) for choice in parameters[self._bypass].choices]
        self._flags: BoolArray = np.array([_flags(choice) for choice in self._choices])

    def decode(
        self, actions: IntArray, parallel: Int8Array, cluster: Int32Array, pes: Int32Array
    ) -> tuple[Int8Array, Int32Array, BoolArray]:
        """Second dimensions, units and bypass, as a `MappingBatch` has them.

        A second dimension that is the first one counts as none; units that there are not, as all.
        """
        second = np.full((len(actions), 2), -1, np.int8)
        units = np.zeros((len(actions), 2), np.int32)
        for level, there in enumerate((pes // cluster, cluster)):
            dims = self._dims[level][actions[:, self._second[level]]]
            some = (dims >= 0) & (dims != parallel[:, level])
            taken = np.minimum(self._sizes[level][actions[:, self._units[level]]], there)
            second[some, level] = dims[some]
            units[some, level] = taken[some]
        return second, units, self._flags[actions[:, self._bypass]]

    def encode(self, mappings: MappingBatch, pes: Int32Array, actions: IntArray) -> None:
        """Write the canonical choices into actions.

        Raises:
            MapSpaceError: A mapping uses a value that the space does not offer.
        """
        size, cluster = len(mappings), mappings.cluster_size
        second, units, bypass = mappings.parallel2, mappings.units, mappings.bypass
        if second is None or units is None:
            second, units = np.full((size, 2), -1, np.int8), np.zeros((size, 2), np.int32)
        if bypass is None:
            bypass = np.zeros((size, 2, len(TENSORS)), np.bool_)
        for level, there in enumerate((pes // cluster, cluster)):
            prefix, dims, sizes = LEVEL_NAMES[level], self._dims[level], self._sizes[level]
            found = second[:, level, None] == dims
            if -1 not in dims:  # then one that is the first dimension stands for none
                none = second[:, level] < 0
                found |= none[:, None] & (mappings.parallel[:, level, None] == dims)
            self._check(found.any(axis=1), f"{prefix}_parallel2", dims, second[:, level])
            actions[:, self._second[level]] = found.argmax(axis=1)
            some = second[:, level] >= 0
            places = np.minimum(np.searchsorted(sizes, units[:, level]), len(sizes) - 1)
            given = np.minimum(sizes[places], there) == units[:, level]
            self._check(given | ~some, f"{prefix}_units", sizes, units[:, level])
            actions[:, self._units[level]] = np.where(some, places, 0)
        found = (bypass[:, None] == self._flags).all(axis=(2, 3))
        self._check(found.any(axis=1), "bypass", self._choices, bypass)
        actions[:, self._bypass] = found.argmax(axis=1)

    def _check(self, offered: BoolArray, name: str, choices: Any, values: Any) -> None:
        if offered.all():
            return
        row = int(np.argmin(offered))
        shown = [DIMS[c] if name.endswith("2") and c >= 0 else str(c) for c in choices]
        raise MapSpaceError(
            f"mapping {row}: {name}={np.asarray(values[row]).tolist()} is not in the space; "
            f"expected one of {', '.join(shown).replace('-1', NONE)}"
        )


def check_plain(mappings: MappingBatch) -> None:
    """Refuse mappings that only a full space offers.

    Raises:
        MapSpaceError: One has a second parallel dimension, or a tensor that bypasses a level.
    """
    for field, array in (("parallel2", mappings.parallel2), ("bypass", mappings.bypass)):
        if array is None:
            continue
        used = (array >= 0 if field == "parallel2" else array).reshape(len(mappings), -1)
        if used.any():
            row = int(np.argmax(used.any(axis=1)))
            raise MapSpaceError(
                f"mapping {row}: it has {field}, which this space does not offer; use "
                "MapSpace(full=True)"
            )
