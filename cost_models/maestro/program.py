"""Dataflows as integers for the kernel, and MAESTRO's own rules on what it reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cost_models.dataflow import (
    Dataflow,
    DataflowError,
    Directive,
    dimensions,
    language_kind,
    size_of,
)
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.maestro.layout import (
    DEPTHWISE,
    LAYER_ENTRIES,
    MASK_FILTER,
    MASK_INPUT,
    MASK_OUTPUT,
    MAX_LEVELS,
    MAX_MAPS,
    PROGRAM_ROWS,
    REPEATS,
    STRIDE,
    VARIABLES,
)
from cost_models.maestro.reasons import unread
from layers import Layer, LayerKind
from marl_common import IntArray

_INT32_MAX = 2**31 - 1
_TENSORS = {
    LayerKind.CONV: ("CYX", "KCRS", "KYX"),
    LayerKind.TRCONV: ("CYX", "KCRS", "KYX"),
    LayerKind.DSCONV: ("CYX", "CRS", "CYX"),
    LayerKind.NGCONV: ("GCYX", "GKCRS", "GKCYX"),
    LayerKind.GEMM: ("MK", "KN", "MN"),
}
"""Dimensions of input, filter and output as MAESTRO couples them (an NGCONV's output to C too)."""


@dataclass(frozen=True)
class Program:
    """A dataflow as the kernel takes it; see `levels.build_levels` for the arrays."""

    layer: IntArray
    maps: IntArray
    counts: IntArray
    clusters: IntArray
    num_levels: int


def layer_entries(layer: Layer, kind: LayerKind | None = None, batch: bool = False) -> IntArray:
    """A layer as the kernel takes it; Y and X as they were given.

    Args:
        layer: The layer.
        kind: The type it is read under; a GEMM counts as the CONV it is lowered to by default.
        batch: Whether the batch is a loop of its own even where it is 1.
    """
    if kind is None:
        kind = LayerKind.CONV if layer.kind is LayerKind.GEMM else layer.kind
    return _layer_entries(layer, layer.given_y, layer.given_x, kind, batch or layer.N > 1).copy()


@lru_cache(maxsize=256)
def _layer_entries(layer: Layer, y: int, x: int, kind: LayerKind, batch: bool) -> IntArray:
    entries = np.zeros(LAYER_ENTRIES, np.int64)
    product = layer.kind is LayerKind.GEMM
    sizes = dimensions(layer, kind)
    if not product:
        sizes["N"] = layer.N
    for dim, size in sizes.items():
        entries[VARIABLES.index(dim)] = size
    for entry, dims in zip((MASK_INPUT, MASK_FILTER, MASK_OUTPUT), _TENSORS[kind], strict=True):
        if batch and not product and entry != MASK_FILTER:
            dims = "N" + dims
        entries[entry] = sum(1 << VARIABLES.index(dim) for dim in dims)
    entries[STRIDE] = layer.stride_y
    entries[REPEATS] = layer.N if product else 1
    entries[DEPTHWISE] = layer.depthwise
    entries.setflags(write=False)
    return entries


@lru_cache(maxsize=1024)
def _compile(dataflow: Dataflow, layer: Layer, y: int, x: int) -> Program | Infeasible:
    if unread(layer):
        return _refusal(layer, unread(layer))
    kind = language_kind(layer, dataflow)
    names = {directive.dim for directive in dataflow.directives}
    levels = dataflow.levels
    sizes = dimensions(layer, kind)
    if layer.kind is not LayerKind.GEMM:
        sizes.setdefault("N", layer.N)
    if len(levels) > MAX_LEVELS:
        return _refusal(layer, f"it has {len(levels)} levels, expected at most {MAX_LEVELS}")
    maps = np.zeros((MAX_LEVELS, PROGRAM_ROWS, MAX_MAPS), np.int64)
    counts = np.zeros(MAX_LEVELS, np.int64)
    clusters = np.zeros(MAX_LEVELS, np.int64)
    try:
        for number, cluster in enumerate(dataflow.clusters):
            clusters[number] = _size(cluster.size, sizes)
        for number, level in enumerate(levels):
            if len(level) > MAX_MAPS - 1:
                raise DataflowError(f"level {number} has {len(level)} maps; one is mapped twice")
            counts[number] = len(level)
            for place, directive in enumerate(level):
                maps[number, :, place] = _map(directive, sizes)
            _check_level(level)
    except DataflowError as error:
        return _refusal(layer, str(error))
    return Program(
        layer_entries(layer, kind, batch="N" in names), maps, counts, clusters, len(levels)
    )


def compile_dataflow(dataflow: Dataflow, layer: Layer) -> Program | Infeasible:
    """Read a dataflow as MAESTRO does.

    Sums in sizes, which its program cannot read, are read here.

    Returns:
        The program, or why MAESTRO refuses the dataflow.
    """
    return _compile(dataflow, layer, layer.given_y, layer.given_x)


def _map(directive: Directive, sizes: dict[str, int]) -> tuple[int, int, int, int, int]:
    size, offset = _size(directive.size, sizes), _size(directive.offset, sizes)
    dim, prime = directive.dim.rstrip("'"), directive.dim.endswith("'")
    if dim not in sizes or (prime and dim not in "YX"):
        raise DataflowError(
            f"{_text(directive)}: the layer has no such dimension; expected one of "
            f"{', '.join(sizes)}"
        )
    temporal = directive.kind == "TemporalMap"
    if temporal and dim in "RS" and not size == offset == sizes[dim]:
        raise DataflowError(
            f"{_text(directive)}: MAESTRO takes only the whole filter extent, "
            f"{directive.kind}({sizes[dim]},{sizes[dim]}) {dim}"
        )
    return VARIABLES.index(dim), int(not temporal), int(prime), size, offset


def _check_level(level: tuple[Directive, ...]) -> None:
    """Refuse what the program reads memory for that it never wrote, or maps one dimension twice."""
    names = [directive.dim.rstrip("'") for directive in level]
    for directive in level:
        if names.count(directive.dim.rstrip("'")) > 1:
            raise DataflowError(f"{_text(directive)}: the level maps this dimension twice")
        taps = {"Y'": "R", "X'": "S"}.get(directive.dim)
        if taps is not None and taps not in names:
            raise DataflowError(f"{_text(directive)}: needs a map of {taps} in the same level")


def _size(text: str, sizes: dict[str, int]) -> int:
    value = size_of(text, sizes)
    if not 0 < value <= _INT32_MAX:
        raise DataflowError(f"size {text!r} is {value}, expected 1 to {_INT32_MAX}")
    return value


def _text(directive: Directive) -> str:
    return str(directive).rstrip(";")


def _refusal(layer: Layer, why: str) -> Infeasible:
    return Infeasible(
        ReasonCode.REFUSED,
        f"layer {layer.name!r}: MAESTRO refuses the dataflow: {why}",
        levers=("Change the directive as described",),
    )
