"""A mapping's tiled loops as the body of a program, in C or Python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cost_models import Chain, Loop, load
from layers import DIMS, Layer, LayerKind
from layers import inline as layer_in_line
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError

ORDERS = ("NGCYX", "GKCRS", "NGKYX")
"""Axes of input, filter and output; Y and X of the input are rows and columns with padding."""
PRODUCT_ORDERS = ("NYC", "NCK", "NYK")
"""The same of a product, whose operands are matrices of rows."""
LONGEST = 60
"""Characters of a layer's name that a program's name has."""
WINDOWS = {"Y": ("R", "stride_y", "dilation_y"), "X": ("S", "stride_x", "dilation_x")}


@dataclass(frozen=True)
class Turn:
    """A loop as a program has it.

    Args:
        loop: The mapping's loop.
        counter: Its counter, which goes from `low` to below `high` in steps of the loop.
        low: Where it begins, as text.
        high: Where it ends, likewise.
        end: Name of where the loops inside end; empty where no tile is cut off, or none follow.
    """

    loop: Loop
    counter: str
    low: str
    high: str
    end: str = ""


@dataclass
class Range:
    """Where the loops around leave a dimension.

    Args:
        low: Where it begins, as text.
        high: Where it ends, likewise.
        size: Its indices in a full tile.
        ragged: Whether a tile may have fewer.
        loops: Loops over the dimension that are still to come.
    """

    low: str
    high: str
    size: int
    ragged: bool = False
    loops: int = 0


class LoopBody:
    """The loops, outermost first, and what the innermost of them has come to.

    Args:
        extents: Extents of the layer by dimension.
        loops: The mapping's loops.
    """

    def __init__(self, extents: dict[str, int], loops: list[Loop]) -> None:
        self._ranges = {dim: Range("0", str(n), n) for dim, n in extents.items()}
        self.unit = "0"
        """Number of the MAC unit, as text."""
        for loop in loops:
            self._ranges[loop.dim].loops += 1
        self.turns = [self._enter(loop, depth) for depth, loop in enumerate(loops)]

    def _enter(self, loop: Loop, depth: int) -> Turn:
        around, counter = self._ranges[loop.dim], f"{loop.dim.lower()}{depth}"
        ragged = around.ragged or around.size % loop.step != 0
        left = around.loops - 1
        end = f"{counter}_end" if ragged and left else ""
        if loop.spatial:
            place = f"({counter} - {around.low}) / {loop.step}"
            self.unit = f"({self.unit}) * {loop.units} + {place}"
        high = end or f"{counter} + {loop.step}"
        self._ranges[loop.dim] = Range(counter, high, loop.step, ragged, left)
        return Turn(loop, counter, around.low, around.high, end)

    def index(self, dim: str) -> str:
        """The index of the one element that is left of a dimension."""
        return self._ranges[dim].low


@dataclass(frozen=True)
class LoopProgram:
    """What programs of a mapping share.

    Args:
        source: Layer, chip and mapping.
        name: What the function is called.
    """

    source: ExportSource
    name: str

    @classmethod
    def of(cls, source: ExportSource) -> LoopProgram:
        """The program of a mapping that has a cost on its chip.

        Raises:
            ExportError: It is infeasible.
            MappingError: It is a mapping of another chip.
        """
        check_feasible(source)
        name = re.sub(r"\W+", "_", source.layer.name, flags=re.ASCII).strip("_").lower()
        return cls(source, f"layer_{name[:LONGEST]}")

    @cached_property
    def body(self) -> LoopBody:
        """Its loops."""
        layer, chip, mapping = self.source.layer, self.source.chip, self.source.mapping
        pes: Any = chip if isinstance(chip, Chain) else chip.num_pes
        loops = [loop for loop in mapping.loops(layer, pes) if loop.iterations > 1]
        return LoopBody(dict(zip(DIMS, layer.extents, strict=True)), loops)

    @property
    def title(self) -> str:
        """One line that says what is computed, without characters that end a comment."""
        chip = re.sub(r"[^\w .-]+", "_", self.source.chip.name or "a chip", flags=re.ASCII)
        return f"{layer_in_line(self.source.layer)} as mapped on {chip}"

    @property
    def shapes(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """Axes of input, filter and output with their sizes."""
        layer = self.source.layer
        inputs, filters, outputs = (_axes(layer, tensor) for tensor in range(3))
        windowed = {"Y": layer.Y, "X": layer.X}
        return inputs | {d: n for d, n in windowed.items() if d in inputs}, filters, outputs

    @property
    def places(self) -> tuple[list[str], list[str], list[str]]:
        """Indices of input, filter and output in the innermost loop."""
        inputs, filters, outputs = self.shapes
        return (
            [self._row(dim) for dim in inputs],
            [self.body.index(dim) for dim in filters],
            [self.body.index(dim) for dim in outputs],
        )

    def _row(self, dim: str) -> str:
        """The index of an input axis: outputs and taps make rows and columns."""
        layer = self.source.layer
        if dim not in WINDOWS:
            return self.body.index(dim)
        taps, stride, dilation = WINDOWS[dim]
        parts = (
            _times(self.body.index(dim), getattr(layer, stride)),
            _times(self.body.index(taps), getattr(layer, dilation)),
        )
        return " + ".join(part for part in parts if part != "0") or "0"


def check_feasible(source: ExportSource, double_buffer: bool = True) -> None:
    """Refuse a mapping that has no cost on its chip.

    Args:
        source: The mapping.
        double_buffer: Whether what the chip can hold twice is held twice, where its search did so.

    Raises:
        ExportError: It has none; says why.
        MappingError: It is a mapping of another chip.
    """
    chip: Any = source.chip
    mapping: Any = source.mapping
    twice = double_buffer and source.cost_model_options.get("double_buffer", True)
    cost = load("exact", double_buffer=twice).evaluate(source.layer, chip, mapping)
    if cost.infeasible is not None:
        raise ExportError(
            f"mapping: it is infeasible on this chip: {cost.infeasible.message}; give one that fits"
        )


def _axes(layer: Layer, tensor: int) -> dict[str, int]:
    """The axes of a tensor; those of one element stay only where a convolution always has them."""
    product = layer.kind is LayerKind.GEMM
    extents = dict(zip(DIMS, layer.extents, strict=True))
    order = (PRODUCT_ORDERS if product else ORDERS)[tensor]
    if layer.depthwise:
        order = order.replace("K", "C" if tensor == 2 else "")
    optional = "N" if product else "G"
    return {dim: extents[dim] for dim in order if extents[dim] > 1 or dim not in optional}


def _times(index: str, factor: int) -> str:
    return index if factor == 1 or index == "0" else f"{index} * {factor}"


def comment(loop: Loop) -> str:
    """What a loop is: tiles that a level gets one after another, or units side by side."""
    level = re.sub(r"[^\w .-]+", "_", loop.level, flags=re.ASCII)
    if loop.spatial:
        return f"{loop.units} units, side by side ({level})"
    return "MACs" if level == "MAC" else f"tiles of {level}"
