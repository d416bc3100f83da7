"""The finite space of mappings of one layer on a chip of any depth, as integer actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from cost_models import Chain, ChainBatch
from layers import DIMS, Layer
from maestro_env.action_space import ActionSpace, check_option, checked_only, kept_only
from maestro_env.chain_codec import ChainCodec
from maestro_env.chain_parameters import FULL_DIMS, MOST_DIMS, Freedom, SpacePlan
from maestro_env.map_space import FilterRule, check_extents
from maestro_env.parameters import TILE_RULES, MapSpaceError, TileRule
from marl_common import IntArray

INSTEAD = {
    "dataflow": "a dataflow's name binds the clusters and PEs of a chip of two levels; keep the "
    "dimensions of axes instead: only={'LEVEL.axis0.dim': ['K']}",
    "co_search": "units are fields of the chip; search once for each value, --set "
    "levels.LEVEL.fanout.units=8, or sweep them: mapper explore --sweep "
    "levels.LEVEL.fanout.units=4..16",
    "parallel": "the chip says which dimensions an axis may spread (fanout.dims); narrow them with "
    "only={'LEVEL.axis0.dim': ['K', 'C']}",
    "orders": "every loop order of each memory is there, by number; narrow them with "
    "only={'LEVEL.order': ['KCYX']}",
    "levels": "the chip's memories are all there",
    "repeat": "batch and groups are dimensions like any other",
}
"""Options of spaces of two levels, and what to do on a chip that is a list of levels."""
OPTIONS = ("tiles", "filters", "only", "uneven", "axis_dims", "full")


class ChainSpace(ActionSpace):
    """Mappings of one layer on a chip of any depth; an action holds one choice a parameter.

    Each memory has a loop order and a tile a dimension, named ``PEBuffer.order`` and
    ``PEBuffer.tile_K``; each axis of a fan-out the dimension that it spreads and its units,
    ``PEBuffer.axis0.dim`` and ``PEBuffer.axis0.units``. A tile larger than the one around it counts
    as that. Levels that hold nothing share what is around them evenly. Dimensions of which the
    layer has one index, and loops that never iterate, have no choice.

    A tile that no mapping can hold, with all others at their smallest, is left out.

    Args:
        layer: The layer.
        accelerator: The chip.
        tiles: ``"balanced"`` (the distinct ``ceil(n / k)``), ``"divisors"`` or ``"any"``.
        filters: ``"whole"`` keeps R and S in one tile in every memory that has room for it (its
            units may still share it); from the first one that has none on inwards they are tiled.
            ``"free"`` tiles them everywhere.
        only: Narrows single parameters: ``{"PEBuffer.axis0.dim": ["K"]}`` keeps these choices.
        uneven: Has a memory stand as an entry for each tensor that it holds, each with a tile and
            an order of its own, and ``PEBuffer.keeps_input`` says which one keeps the inputs.
        axis_dims: Dimensions that share the units of an axis, 1 to 4; ``PEBuffer.axis0.dim2`` and
            ``PEBuffer.axis0.units2`` are the second.
        full: Uneven, three dimensions an axis, any tensor may bypass a memory, and filters are
            free; of the first two what is said of them counts.

    Raises:
        MapSpaceError: An option is unknown, or an extent has too many tiles, or an axis too many
            units, to list.
    """

    accelerator: Chain

    def __init__(
        self,
        layer: Layer,
        accelerator: Chain,
        tiles: TileRule = "balanced",
        filters: FilterRule = "whole",
        only: Mapping[str, Iterable[int | str]] | None = None,
        uneven: bool | None = None,
        axis_dims: int | None = None,
        full: bool = False,
    ) -> None:
        self.layer, self.accelerator = layer, accelerator
        check_option("tiles", tiles, TILE_RULES)
        check_option("filters", filters, get_args(FilterRule))
        check_option("full", full, (False, True))
        check_option("uneven", uneven, (None, False, True))
        if axis_dims is not None:
            check_option("axis_dims", axis_dims, range(1, MOST_DIMS + 1))
        if tiles == "any":
            check_extents(layer)
        self.full = bool(full)
        self.tiles, self.filters = tiles, "free" if full else filters
        self.uneven = self.full if uneven is None else bool(uneven)
        self.axis_dims = (FULL_DIMS if full else 1) if axis_dims is None else int(axis_dims)
        self.only = checked_only(only)
        may = Freedom(self.filters == "free", self.uneven, self.full, self.axis_dims)
        self.plan = plan = SpacePlan(layer, accelerator, tiles, may)
        self.parameters = kept_only(plan.parameters, self.only)
        self.depth = 1 + max(entry.number for entry in plan.entries)
        tiled = {d for entry in plan.entries for d in entry.tiled}
        self._moving = tuple(d for d in DIMS if d in tiled)
        self._codec = ChainCodec(plan, self.parameters)

    @property
    def options(self) -> dict[str, Any]:
        """The options as plain values, as the class takes them."""
        options: dict[str, Any] = {
            "tiles": self.tiles,
            "filters": self.filters,
            "only": {name: list(choices) for name, choices in self.only.items()},
        }
        if self.uneven != self.full:
            options["uneven"] = self.uneven
        if self.axis_dims != (FULL_DIMS if self.full else 1):
            options["axis_dims"] = self.axis_dims
        if self.full:
            options["full"] = True
        return options

    @property
    def moving(self) -> tuple[str, ...]:
        """Dimensions whose loops can iterate and are searched, in the order KCYXRSNG."""
        return self._moving

    def decode_checked(self, actions: IntArray) -> ChainBatch:
        """Translate actions that :meth:`check` gave."""
        return self._codec.decode(actions)

    def encode(self, mappings: ChainBatch) -> IntArray:
        """Translate mappings back, see :meth:`ActionSpace.encode`."""
        return self._codec.encode(mappings)


def checked_chain_options(options: Any) -> dict[str, Any]:
    """Options of a :class:`ChainSpace`; one of a space of two levels alone is refused.

    Raises:
        MapSpaceError: They are no dict, or one is not known; says what to do instead.
    """
    if isinstance(options, str) or not isinstance(options, Mapping):
        raise MapSpaceError(
            f"space: got {options!r}, expected options as a dict such as {{'full': True}}: the "
            "chip is a list of levels, and a space with a name is of two"
        )
    for name, value in options.items():
        if name in INSTEAD and value:
            raise MapSpaceError(
                f"space.{name}: not on a chip that is a list of levels: {INSTEAD[name]}"
            )
        if name not in INSTEAD:
            check_option("option", name, OPTIONS)
    return {name: value for name, value in options.items() if name not in INSTEAD}
