"""The finite space of two-level mappings of one layer on one accelerator, as integer actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from cost_models import Accelerator, MappingBatch
from layers import DIMS, NEST_DIMS, Layer
from maestro_env import codec
from maestro_env.action_space import ActionSpace, check_option, checked_only, kept_only, listed
from maestro_env.codec_layout import NO_ORDER, NOT_FIXED, NOT_OUTERMOST, OFFERED
from maestro_env.dataflows import dataflow_named, kept_choices
from maestro_env.full_space import FullFields, bypass_parameter, check_plain, spread_parameters
from maestro_env.loop_orders import orders_of
from maestro_env.paper_space import outer_only, space_options
from maestro_env.parameters import (
    TILE_RULES,
    MapSpaceError,
    Parameter,
    TileRule,
    cluster_choices,
    not_offered,
    num_pes_choices,
    tile_choices,
)
from marl_common import IntArray, brief, suggest

FilterRule = Literal["whole", "free"]
OrderRule = Literal["priority", "permutation"]

LEVEL_NAMES = ("outer", "inner")

MAX_ANY = 1_000_000
"""Largest extent of which every tile is listed."""
CO_SEARCH = ("num_pes",)
OPTIONS = (
    *("tiles", "filters", "parallel", "orders", "co_search", "only", "repeat", "dataflow"),
    *("full", "levels"),
)
REPEATABLE = "".join(dim for dim in DIMS if dim not in NEST_DIMS)


class MapSpace(ActionSpace):
    """Mappings of one layer on one accelerator; an action holds one choice a parameter.

    Two levels each have a loop order, a parallel dimension and a tile a dimension; the array has a
    cluster size and, with co-search, a PE count. The parameters are the same for every layer under
    the same options, but for those of N (batch) and G (groups), which are there where the layer has
    more than one; what else a layer leaves no choice in (an extent of 1, K of a depthwise layer)
    has one choice. A loop that never iterates sits innermost (N and G outermost): its place changes
    nothing.

    Args:
        layer: The layer.
        accelerator: `num_pes` bounds the cluster size; buffers and bandwidths do not matter here.
        tiles: ``"balanced"`` (the distinct ``ceil(n / k)``), ``"divisors"`` or ``"any"``. Y and X
            count output rows and columns. An inner tile larger than the outer one is clamped.
        filters: ``"whole"`` keeps R and S in one tile, as MAESTRO needs it; ``"free"`` tiles them.
        parallel: Dimensions that may be spread over clusters or PEs. Those of which the layer has
            one tile only are left out.
        orders: ``"priority"``: one priority a dimension and level, the lowest outermost, ties in
            the order KCYXRSNG; ``"permutation"``: one of the 720 orders of KCYXRS per level, with
            N and G outside them.
        co_search: ``("num_pes",)`` searches the PEs in use too.
        only: Narrows single parameters: ``{"outer_parallel": ["K"], "cluster_size": [16, 32]}``
            keeps these of the choices that the other options give.
        repeat: Of N and G those that no parameter maps: they repeat the nest, outermost and one at
            a time, as some cost models have it.
        dataflow: One of :data:`maestro_env.dataflows.DATAFLOWS`, such as ``"nvdla"``: only its
            mappings are in the space. Row-stationary ones tile the filters' rows, whatever
            `filters` says.
        full: Adds a second parallel dimension a level, with the units that the first one takes, and
            which tensors bypass which level; for cost models that understand them.
        levels: Levels whose order and tiles are searched. With 1 the inner level keeps the filters
            whole and works off all else one at a time, in one order.

    Raises:
        MapSpaceError: An option is unknown, or the layer has an extent with too many tiles to list.
    """

    depth = len(LEVEL_NAMES)

    def __init__(
        self,
        layer: Layer,
        accelerator: Accelerator,
        tiles: TileRule = "balanced",
        filters: FilterRule = "whole",
        parallel: str = "KCYXNG",
        orders: OrderRule = "priority",
        co_search: Iterable[str] = (),
        only: Mapping[str, Iterable[int | str]] | None = None,
        repeat: str = "",
        dataflow: str | None = None,
        full: bool = False,
        levels: int = 2,
    ) -> None:
        self.layer = layer
        self.accelerator = accelerator
        co_search = listed("co_search", co_search, "names such as ['num_pes']")
        check_option("tiles", tiles, TILE_RULES)
        check_option("filters", filters, get_args(FilterRule))
        check_option("orders", orders, get_args(OrderRule))
        for name in co_search:
            check_option("co_search", name, CO_SEARCH)
        if tiles == "any":
            check_extents(layer)
        self.tiles, self.filters, self.orders = tiles, filters, orders
        self.parallel, self.co_search = _checked_dims("parallel", parallel, DIMS), co_search
        self.dataflow = None if dataflow is None else dataflow_named(dataflow)
        check_option("full", full, (False, True))
        self.full = bool(full)
        check_option("levels", levels, (1, 2))
        self.levels = int(levels)
        self._make_room()
        repeat = _checked_dims("repeat", repeat, REPEATABLE) if repeat else ""
        self.repeat = "".join(d for d in repeat if layer.extents[DIMS.index(d)] > 1)
        self.only = checked_only(only)
        built = tuple(self._build())
        if self.dataflow is not None:
            kept = (kept_choices(self.dataflow, p, layer, self.moving) for p in built)
            built = tuple(replace(p, choices=some) for p, some in zip(built, kept, strict=True))
        if self.levels == 1:
            built = tuple(map(outer_only, built))
        self.parameters = kept_only(built, self.only)
        self._layout = self._build_layout()
        self._fields = FullFields(self) if self.full else None

    @property
    def options(self) -> dict[str, Any]:
        """The options as plain values, as the class takes them."""
        searched = "".join(d for d in self.parallel if d not in self._unsearched)
        options: dict[str, Any] = {
            "tiles": self.tiles,
            "filters": self.filters,
            "parallel": searched if set(searched) & set(self.moving) else self.parallel,
            "orders": self.orders,
            "co_search": list(self.co_search),
            "only": {name: list(choices) for name, choices in self.only.items()},
        }
        if self.repeat:
            options["repeat"] = self.repeat
        if self.dataflow is not None:
            options["dataflow"] = self.dataflow.name
        if self.full:
            options["full"] = True
        if self.levels == 1:
            options["levels"] = 1
        return options

    @property
    def moving(self) -> tuple[str, ...]:
        """Dimensions whose loops can iterate and are searched, in the order KCYXRSNG."""
        return tuple(d for d in self._tiled if self.layer.extents[DIMS.index(d)] > 1)

    def decode_checked(self, actions: IntArray) -> MappingBatch:
        """Translate actions that :meth:`check` gave."""
        orders, parallel, tiles, cluster, pes = codec.decode_rows(actions, self._layout)
        searched = pes if "num_pes" in self.co_search else None
        if self._fields is None:
            return MappingBatch(orders, parallel, tiles, cluster, searched)
        there = pes if searched is not None else np.full_like(pes, self.accelerator.num_pes)
        fields = self._fields.decode(actions, parallel, cluster, there)
        return MappingBatch(orders, parallel, tiles, cluster, searched, *fields)

    def encode(self, mappings: MappingBatch) -> IntArray:
        """Translate mappings back; the action is canonical: equal mappings give equal actions.

        Args:
            mappings: `B` mappings of this space (tiles above the extent count as the extent).

        Returns:
            ``(B, P)`` int64.

        Raises:
            MapSpaceError: A mapping uses a value that the space does not offer.
        """
        pes = mappings.pes(self.accelerator.num_pes)
        arrays = (mappings.orders, mappings.parallel, mappings.tiles, mappings.cluster_size, pes)
        actions, offer = codec.encode_rows(arrays, self._layout)
        if offer.status != OFFERED:
            raise MapSpaceError(f"mapping {offer.row}: {self._not_offered(offer)}")
        if self._fields is None:
            check_plain(mappings)
        else:
            self._fields.encode(mappings, pes, actions)
        return actions

    def _not_offered(self, offer: codec.Offer) -> str:
        dim = DIMS[offer.dim] if offer.dim >= 0 else ""
        if offer.status == NOT_OUTERMOST and dim not in self._unsearched:
            return (
                f"its loop over {dim} stands inside another, but the numbered orders of this space "
                f"keep {dim} outermost; use MapSpace(orders='priority')"
            )
        if dim in REPEATABLE and offer.status in (NOT_FIXED, NOT_OUTERMOST):
            return (
                f"it does more with {dim} than repeat the nest outermost, one at a time, but this "
                f"space maps no {dim}; use MapSpace(repeat='')"
            )
        if offer.status == NOT_FIXED:
            return (
                f"tile {dim}={offer.value}, but this space keeps {dim} whole "
                f"({self.layer.extents[offer.dim]}); use MapSpace(filters='free')"
            )
        parameter = self.parameters[offer.column]
        if offer.status == NO_ORDER:
            return f"{parameter.name} offers no choice that gives this loop order"
        shown = DIMS[offer.value] if parameter.kind == "parallel" else offer.value
        return not_offered(parameter, shown)

    @property
    def _tiled(self) -> str:
        """Dimensions that have tiles and places of their own."""
        nest = NEST_DIMS if self.filters == "free" else "KCYX"
        return nest + "".join(dim for dim in REPEATABLE if dim not in self._unsearched)

    @property
    def _unsearched(self) -> str:
        """Of N and G those without parameters: outermost in every mapping, with a tile of 1."""
        extents = dict(zip(DIMS, self.layer.extents, strict=True))
        return "".join(dim for dim in REPEATABLE if extents[dim] == 1 or dim in self.repeat)

    def _make_room(self) -> None:
        """Let the space have the tiles and parallel dimensions that its dataflow needs."""
        if self.dataflow is None:
            return
        if "R" in self.dataflow.spread[1] and self.layer.R > 1:  # then R has tiles
            self.filters = "free"
        if self.dataflow.fixed:
            spread = "".join(self.dataflow.spread)
            self.parallel = "".join(d for d in DIMS if d in self.parallel or d in spread)

    def _build(self) -> Iterable[Parameter]:
        moving = self.moving
        spread = "".join(d for d in self.parallel if d in moving)
        if not spread:  # nothing to spread: any legal dimension serves
            legal = [d for d in self.parallel if not (self.layer.depthwise and d == "K")]
            spread = (legal or ["C"])[0]
        for level, prefix in enumerate(LEVEL_NAMES):
            if self.orders == "permutation":
                names = orders_of(NEST_DIMS).names
                yield Parameter(f"{prefix}_order", names, level, "order")
            else:
                for dim in self._tiled:
                    ranks = tuple(range(len(moving))) if dim in moving else (0,)
                    yield Parameter(f"{prefix}_priority_{dim}", ranks, level, "priority", dim)
            yield Parameter(f"{prefix}_parallel", tuple(spread), level, "parallel")
            if self.full:
                yield from spread_parameters(level, spread, self.accelerator.num_pes)
            for dim in self._tiled:
                choices = tile_choices(self.layer.extents[DIMS.index(dim)], self.tiles)
                yield Parameter(f"{prefix}_tile_{dim}", choices, level, "tile", dim)
        pes = self.accelerator.num_pes
        if self.full:
            yield bypass_parameter(self.accelerator)
        yield Parameter("cluster_size", cluster_choices(pes), None, "cluster_size")
        if "num_pes" in self.co_search:
            yield Parameter("num_pes", num_pes_choices(pes), None, "num_pes")

    def _numbers(self, parameter: Parameter) -> list[int]:
        """What the compiled code takes for the choices of a parameter."""
        if parameter.kind == "order":
            number = orders_of(NEST_DIMS).number
            return [number[str(choice)] for choice in parameter.choices]
        if parameter.kind == "parallel":
            return [DIMS.index(str(choice)) for choice in parameter.choices]
        if parameter.kind in ("parallel2", "bypass"):
            return list(range(len(parameter)))
        return [int(choice) for choice in parameter.choices]

    def _build_layout(self) -> codec.SpaceLayout:
        columns = {(p.kind, p.level, p.dim): i for i, p in enumerate(self.parameters)}
        loops = {key: i for key, i in columns.items() if key[2] in self.moving}
        values = np.zeros((len(self.nvec), int(self.nvec.max())), dtype=np.int32)
        for i, parameter in enumerate(self.parameters):
            values[i, : len(parameter)] = self._numbers(parameter)
        unsearched = np.array([dim in self._unsearched for dim in DIMS])
        extents = np.array(self.layer.extents, dtype=np.int32)
        numbered = self.orders == "permutation"
        table = orders_of(NEST_DIMS).table if numbered else np.empty((0, len(DIMS)), np.int8)
        beside = np.array([dim in REPEATABLE for dim in DIMS])
        grid = [(level, dim) for level in (0, 1) for dim in DIMS]
        priorities = [("priority", *g) for g in grid]
        tiles = [("tile", *g) for g in grid]
        parallel = [("parallel", level, "") for level in (0, 1)]
        fields = {
            "extents": extents,
            "fixed": np.where(unsearched, np.int32(1), extents),
            "lead": beside if numbered else unsearched,
            "numbered": ~beside,
            "priority": codec.layout_columns(loops, priorities).reshape(2, -1),
            "order": codec.layout_columns(columns, [("order", level, "") for level in (0, 1)]),
            "parallel": codec.layout_columns(columns, parallel),
            "tile": codec.layout_columns(columns, tiles).reshape(2, -1),
            "cluster": columns["cluster_size", None, ""],
            "pes": columns.get(("num_pes", None, ""), -1),
        }
        return codec.SpaceLayout.of(self.nvec, values, table, fields)


def checked_options(options: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Options of a :class:`MapSpace`, of a name those it stands for; an unknown one is an error.

    Raises:
        MapSpaceError: They are no dict and no space's name, or one is no option.
    """
    if isinstance(options, str):
        options = space_options(options)
    if not isinstance(options, Mapping):
        raise MapSpaceError(
            f"space: got {brief(options)}, expected a MapSpace, its options as a dict such as "
            "{'full': True}, or None"
        )
    for name in options:
        if name not in OPTIONS:
            raise MapSpaceError(
                f"space: unknown option {name!r}, expected some of {', '.join(OPTIONS)}."
                f"{suggest(str(name), OPTIONS)}"
            )
    return options


def _checked_dims(option: str, dims: Any, known: str) -> str:
    text = "".join(dims) if isinstance(dims, list | tuple) else dims
    legal = (
        isinstance(text, str) and text and set(text) <= set(known) and len(set(text)) == len(text)
    )
    if not legal:
        raise MapSpaceError(
            f"space.{option}: got {dims!r}, expected distinct dimensions of {known}"
        )
    return "".join(d for d in known if d in text)


def check_extents(layer: Layer) -> None:
    """Refuse a layer of which not every tile can be listed.

    Raises:
        MapSpaceError: An extent is too large.
    """
    for dim, extent in zip(DIMS, layer.extents, strict=True):
        if extent > MAX_ANY:
            raise MapSpaceError(
                f"layer {layer.name!r}: extent {dim}={extent} has too many tiles to list, "
                f"expected at most {MAX_ANY}; use tiles='balanced'"
            )
