"""Why MAESTRO's figures differ from an execution of the loop nest, for one mapping.

The causes are structural: each looks at the mapping alone, and says what MAESTRO's analysis does
there (maestro-project/maestro, commit 4eb08d1). Where none of the causes 2 to 9 applies, MAESTRO's
MACs are right, and its L2 traffic and its latency follow from the exact counts of the outer level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from cost_models.accelerator import Accelerator
from cost_models.cost import Cost
from cost_models.cost_model import load
from cost_models.dataflow import Dataflow, DataflowError, size_of
from cost_models.infeasible import InfeasibleError
from cost_models.mapping import Mapping as NestMapping
from cost_models.network import dimensions, language_kind
from layers import DIMS, TENSORS, Layer, footprint

TITLES = {
    1: "only the outer level reaches its counts",
    2: "reloads are missed",
    3: "outputs are written at every outer step and partial sums never read back",
    4: "halos between clusters are read once a cluster",
    5: "latency is compute, outer steps and 1; off-chip time follows buffer sizes, not traffic",
    6: "the stride is forgotten in a tile's output rows",
    7: "a spatial step that does not fill all units is counted over or under",
    8: "a tile above the output extent is skipped",
    9: "temporal edge steps load whole tiles",
}


@dataclass(frozen=True)
class Cause:
    """One reason why MAESTRO differs.

    Args:
        number: Its number, as the documentation lists them.
        why: What in this mapping brings it about.
    """

    number: int
    why: str

    @property
    def title(self) -> str:
        """What MAESTRO does."""
        return TITLES[self.number]


def causes_of(
    layer: Layer, accelerator: Accelerator, mapping: NestMapping | Dataflow, exact: Cost
) -> tuple[Cause, ...]:
    """The causes that apply to a mapping.

    Args:
        layer: The layer.
        accelerator: The accelerator; `num_pes` of the mapping goes first.
        mapping: A mapping or a dataflow.
        exact: The mapping's cost under the exact model.
    """
    large = ""
    if isinstance(mapping, Dataflow):
        large = _large_tile(layer, mapping)
        try:
            mapping = NestMapping.from_dataflow(mapping, layer)
        except InfeasibleError:
            return ()
    nest = _ClippedNest(layer, accelerator, mapping)
    found = {
        1: _inner_traffic(exact),
        2: nest.missed_reload(),
        3: nest.reduction(),
        4: nest.cluster_halo() or nest.kept_halo(accelerator, mapping, exact),
        5: _latency(exact),
        6: nest.stride(),
        7: nest.ragged(),
        8: large,
        9: nest.edge(),
    }
    return tuple(Cause(number, why) for number, why in found.items() if why)


class _ClippedNest:
    """A mapping's loops: tiles clipped to what they tile, and outer iterations by dimension."""

    def __init__(self, layer: Layer, accelerator: Accelerator, mapping: NestMapping) -> None:
        pes = accelerator.num_pes if mapping.num_pes is None else mapping.num_pes
        self.layer = layer
        self.order = mapping.orders[0]
        self.parallel = mapping.parallel
        self.units = (pes // mapping.cluster_size, mapping.cluster_size)
        self.limits = dict(zip(DIMS, layer.extents, strict=True))
        outer = {d: min(n, mapping.tiles[0].get(d, n)) for d, n in self.limits.items()}
        inner = {d: min(n, mapping.tiles[1].get(d, self.limits[d])) for d, n in outer.items()}
        self.levels = ((self.limits, outer), (outer, inner))
        self.outer = outer
        self.iterations = {
            d: -(-n // (outer[d] * (self.units[0] if d == self.parallel[0] else 1)))
            for d, n in self.limits.items()
        }
        self.coupled = {
            tensor: [dim for dim, coupled in zip(DIMS, row, strict=True) if coupled]
            for tensor, row in zip(TENSORS, layer.coupling, strict=True)
        }

    def missed_reload(self) -> str:
        for tensor in ("input", "filter"):
            for place, d in enumerate(self.order):
                inside = [
                    e
                    for e in self.order[place + 1 :]
                    if e in self.coupled[tensor] and self.iterations[e] > 1
                ]
                if d not in self.coupled[tensor] and self.iterations[d] > 1 and inside:
                    return (
                        f"{d} advances outside {inside[0]}, which walks all {tensor} tiles again "
                        f"in each of its {self.iterations[d]} iterations"
                    )
        return ""

    def reduction(self) -> str:
        for d in self.order:
            if d not in self.coupled["output"] and self.iterations[d] > 1:
                return f"{d} is reduced in {self.iterations[d]} outer iterations"
        return ""

    def cluster_halo(self) -> str:
        strides = {"Y": self.layer.stride_y, "X": self.layer.stride_x}
        for axis, taps in (("Y", "R"), ("X", "S")):
            spread = self.parallel[0] == axis and self.outer[axis] < self.limits[axis]
            if spread and self.limits[taps] > strides[axis]:
                return (
                    f"clusters along {axis} share {self.limits[taps] - strides[axis]} input "
                    f"{'rows' if axis == 'Y' else 'columns'} with the next"
                )
        return ""

    def kept_halo(self, accelerator: Accelerator, mapping: NestMapping, exact: Cost) -> str:
        none = load("exact", halo_time="none")
        every = none.evaluate(self.layer, accelerator.unlimited_buffers(), mapping)
        more = every.counts["dram_in"] - self._window_credit() - exact.counts["dram_in"]
        if more <= 0:
            return ""
        return f"L2 still holds {more} input elements where more than a window moves on"

    def _window_credit(self) -> int:
        """Input elements that L2 holds where its tile moves on along Y or X alone."""
        loops = [d for d in self.order if d in self.coupled["input"] and self.iterations[d] > 1]
        if not loops or loops[-1] not in "YX":
            return 0
        axis, layer = loops[-1], self.layer
        outside = self.order[: self.order.index(axis)]
        found = math.prod(self.iterations[d] for d in outside if d not in self.coupled["input"])
        found *= math.prod(self.limits[d] for d in self.coupled["input"] if d not in "YXRS")
        for rows, taps, *steps in (
            ("Y", "R", layer.stride_y, layer.dilation_y),
            ("X", "S", layer.stride_x, layer.dilation_x),
        ):
            tiles = self._pieces(rows)
            shared = sum(
                footprint(a, r, *steps) + footprint(b, r, *steps) - footprint(a + b, r, *steps)
                for r in self._pieces(taps)
                for a, b in pairwise(tiles)
            )
            touched = sum(footprint(a, r, *steps) for r in self._pieces(taps) for a in tiles)
            found *= shared if rows == axis else touched
        return found

    def _pieces(self, dim: str) -> list[int]:
        """What L2 holds of a dimension in each of its outer steps."""
        limit = self.limits[dim]
        span = self.outer[dim] * (self.units[0] if dim == self.parallel[0] else 1)
        return [min(span, limit - low) for low in range(0, limit, span)]

    def stride(self) -> str:
        if self.layer.stride == 1:
            return ""
        return f"stride {self.layer.stride}"

    def ragged(self) -> str:
        for level, (limits, tiles) in enumerate(self.levels):
            d = self.parallel[level]
            width = tiles[d] * self.units[level]
            if limits[d] % width:
                units = ("clusters", "PEs")[level]
                return (
                    f"{d}={limits[d]} over {self.units[level]} {units} of tile {tiles[d]} leaves "
                    f"{limits[d] % width} of {width} in the last step"
                )
        return ""

    def edge(self) -> str:
        for level, (limits, tiles) in enumerate(self.levels):
            for d in DIMS:
                if d != self.parallel[level] and limits[d] % tiles[d]:
                    return (
                        f"the last {('outer', 'inner')[level]} tile of {d} holds "
                        f"{limits[d] % tiles[d]} of {tiles[d]}"
                    )
        return ""


def _inner_traffic(exact: Cost) -> str:
    pairs = (
        ("input", "l2r_in", "dram_in"),
        ("filter", "l2r_fil", "dram_fil"),
        ("output", "l2w_out", "dram_out_w"),
    )
    for tensor, inner, outer in pairs:
        if exact.counts[inner] > exact.counts[outer]:
            return (
                f"the inner loops move {exact.counts[inner]:,} {tensor} elements between L2 and "
                f"the PEs, the outer ones {exact.counts[outer]:,}"
            )
    return ""


def _latency(exact: Cost) -> str:
    counts = exact.counts
    theirs = counts["compute_cycles"] + counts["outer_steps"] + 1
    if counts["latency"] == theirs:
        return ""
    waiting = sum(exact.detail[f"share_{part}"] for part in ("noc_in", "noc_out", "dram"))
    return (
        f"{counts['compute_cycles']:,} + {counts['outer_steps']:,} + 1 cycles; executed step by "
        f"step it takes {counts['latency']:,}, of which {waiting:.0%} wait for traffic"
    )


def _large_tile(layer: Layer, dataflow: Dataflow) -> str:
    sizes = dimensions(layer, language_kind(layer, dataflow))
    extents = {"Y'": layer.out_y, "X'": layer.out_x}
    strides = {"Y'": layer.stride_y, "X'": layer.stride_x}
    for level in dataflow.levels:
        for directive in level:
            if directive.dim not in extents:
                continue
            try:
                size = size_of(directive.size, sizes)
            except DataflowError:
                continue
            reach = (extents[directive.dim] - 1) * strides[directive.dim] + 1
            if size > reach:
                return f"{directive} covers {size}, the output has {reach}"
    return ""
