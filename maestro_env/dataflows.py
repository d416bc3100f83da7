"""Dataflows by name: what each fixes of a mapping, as a narrowing of a map space's parameters.

A tensor is stationary where its tile stays while the innermost loops go on: the loops over
dimensions that it depends on stand outside all others, at both levels. Which dimensions are spread
over the array, and what a PE holds, follows the chips that the dataflows are named after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isqrt, log
from typing import Literal

from layers import DIMS, TENSORS, Layer
from maestro_env.parameters import MapSpaceError, Parameter
from marl_common import one_of

Shape = Literal["square", "wide", "filter rows"]
WIDEST = 64
"""Input channels that one of NVDLA's multiplier cells takes at a time."""


@dataclass(frozen=True)
class NamedDataflow:
    """What a name stands for.

    Args:
        name: As ``--dataflow`` takes it.
        stationary: The tensor whose tiles stay longest.
        spread: Dimensions over clusters, and over the PEs of a cluster: the first of each that the
            layer has several tiles of.
        fixed: Whether a search under this dataflow keeps `spread`; otherwise only hand mappings do.
        unit_tiles: Dimensions of which a PE holds one element.
        shape: Shape of the array in hand mappings: as many PEs in a cluster as clusters, four times
            as many (up to `WIDEST`), or as many as the filter has rows.
        source: Where it is described.
        row_tiles: Whether a PE holds whole rows of the filter.
    """

    name: str
    stationary: str
    spread: tuple[str, str]
    fixed: bool
    unit_tiles: str
    shape: Shape
    source: str
    row_tiles: bool = False

    def parallel(self, level: int, offered: Iterable[str]) -> str | None:
        """The dimension spread at a level, of those that a space offers; None where all do."""
        offered = tuple(offered)
        return next((dim for dim in self.spread[level] if dim in offered), None)

    def outside(self, layer: Layer) -> frozenset[str]:
        """The dimensions that the stationary tensor depends on: their loops stand outside."""
        return frozenset(DIMS[d] for d in layer.coupled_dims[TENSORS.index(self.stationary)])

    def cluster_size(self, layer: Layer, sizes: Iterable[int], pes: int) -> int:
        """PEs of a cluster in a hand mapping.

        Args:
            layer: The layer.
            sizes: The sizes there are.
            pes: PEs of the array.
        """
        sizes = sorted(sizes)
        if self.shape == "filter rows" and layer.R > 1:
            return next((size for size in sizes if size >= layer.R), sizes[-1])
        if self.shape == "wide":
            most = min(WIDEST, 2 * isqrt(pes))
            return max((size for size in sizes if size <= most), default=sizes[0])
        return min(sizes, key=lambda size: abs(log(size) - log(pes) / 2))


DATAFLOWS: dict[str, NamedDataflow] = {
    dataflow.name: dataflow
    for dataflow in (
        NamedDataflow(
            "ws", "filter", ("KGNYX", "CYXK"), False, "", "square",
            "weight stationary: Chen et al., Eyeriss, ISCA 2016, section IV",
        ),
        NamedDataflow(
            "os", "output", ("KCYX", "YXKC"), False, "", "square",
            "output stationary: Chen et al., Eyeriss, ISCA 2016, section IV",
        ),
        NamedDataflow(
            "is", "input", ("YXNC", "CXYK"), False, "", "square",
            "input stationary: Parashar et al., SCNN, ISCA 2017, section III",
        ),
        NamedDataflow(
            "nvdla", "filter", ("KGNYX", "CYXK"), True, "", "wide",
            "NVDLA unit description, convolution core: atomic-K x atomic-C, 16 x 64 at full size",
        ),
        NamedDataflow(
            "eyeriss-rs", "filter", ("YXKC", "RCKX"), True, "R", "filter rows",
            "row stationary: Chen et al., Eyeriss, ISCA 2016, section V", row_tiles=True,
        ),
        NamedDataflow(
            "shidiannao", "output", ("YKC", "XKC"), True, "KYX", "square",
            "Du et al., ShiDianNao, ISCA 2015, section 5: a PE has one output pixel",
        ),
        NamedDataflow(
            "tpu", "filter", ("KGNYX", "CYXK"), True, "KC", "square",
            "Jouppi et al., TPU, ISCA 2017: a systolic array, one channel's weights a cell",
        ),
    )
}  # fmt: skip
"""The dataflows by name."""


def dataflow_named(name: str) -> NamedDataflow:
    """A dataflow by name.

    Raises:
        MapSpaceError: There is none of this name.
    """
    if not isinstance(name, str) or name not in DATAFLOWS:
        raise MapSpaceError(f"dataflow: got {name!r}, expected {one_of(DATAFLOWS, name)}")
    return DATAFLOWS[name]


def kept_choices(
    dataflow: NamedDataflow, parameter: Parameter, layer: Layer, moving: tuple[str, ...]
) -> tuple[int, ...] | tuple[str, ...]:
    """The choices of a parameter that a dataflow leaves to a search; never none.

    Args:
        dataflow: The dataflow.
        parameter: A parameter of a space whose filters have the tiles that the dataflow needs.
        layer: The layer.
        moving: Dimensions whose loops can iterate.
    """
    choices = parameter.choices
    if parameter.kind == "parallel" and dataflow.fixed:
        spread = dataflow.parallel(parameter.level or 0, map(str, choices))
        return choices if spread is None else (spread,)
    if parameter.kind in ("parallel2", "bypass") and dataflow.fixed:
        return choices[:1]
    if parameter.kind == "tile" and parameter.level == 1 and parameter.dim in dataflow.unit_tiles:
        return tuple(map(int, choices))[:1]
    if parameter.kind == "tile" and parameter.dim == "S" and dataflow.row_tiles:
        return tuple(map(int, choices))[-1:]
    if parameter.kind == "cluster_size" and dataflow.fixed:
        return _sizes(dataflow, layer, tuple(map(int, choices)))
    if parameter.kind in ("priority", "order"):
        return _places(parameter, [dim for dim in moving if dim in dataflow.outside(layer)], moving)
    return choices


def _sizes(dataflow: NamedDataflow, layer: Layer, sizes: tuple[int, ...]) -> tuple[int, ...]:
    if dataflow.shape == "wide":
        return tuple(size for size in sizes if size <= WIDEST)
    if dataflow.name == "tpu":
        return (dataflow.cluster_size(layer, sizes, sizes[-1]),)
    return sizes


def _places(
    parameter: Parameter, outside: list[str], moving: tuple[str, ...]
) -> tuple[int, ...] | tuple[str, ...]:
    """The priorities, or the whole orders, that leave some loops outside all others."""
    inside = [dim for dim in moving if dim not in outside]
    if not outside or not inside:
        return parameter.choices
    if parameter.kind == "order":
        return tuple(
            order
            for order in map(str, parameter.choices)
            if max(map(order.find, outside)) < min(map(order.find, set(inside) & set(order)))
        )
    if parameter.dim in outside:
        return tuple(range(len(outside)))
    return tuple(range(len(outside), len(moving))) if parameter.dim in inside else (0,)
