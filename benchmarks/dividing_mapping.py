"""Dividing mappings of two levels, as the table of tools has them, under any bypass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

from benchmarks.frame import known
from cost_models import Accelerator, CostModel, Mapping
from layers import DIMS, TENSORS, Layer, LayerKind

NEST = DIMS[:6]
INPUTS = ("dram_in", "l2r_in", "l1w_in")
Bypass = tuple[frozenset[str], frozenset[str]]
KEY = ("kind", "extents", "stride", "parallel", "orders", "tiles", "units")
PASSES = ("l2_passes", "l1_passes")
NOTHING: frozenset[str] = frozenset()
NO_BYPASS: Bypass = (NOTHING, NOTHING)
_SOME = [frozenset({tensor}) for tensor in TENSORS]
_PAIRS = [frozenset(TENSORS) - one for one in _SOME]
BYPASS = [(l2, l1) for l2, l1 in product([NOTHING, *_SOME, *_PAIRS], repeat=2) if not l2 & l1]
"""Tensors that pass L2, and that pass L1: every choice that leaves each tensor a level."""
CLUSTERS_INSIDE = "ZigZag lays clusters inside the inner loops, where neighbours share more halo"
"""Why input counts differ where clusters and inner loops both cut an axis of a sliding window."""
NO_CAUSE = "NO CAUSE NAMED"
COUNTED = {
    "dram_out_w": ("DRAM", "output", "updates"),
    "dram_out_r": ("DRAM", "output", "reads"),
    "l2w_out": ("L2", "output", "updates"),
    "l2r_psum": ("L2", "output", "reads"),
    "dram_in": ("DRAM", "input", "reads"),
    "l2r_in": ("L2", "input", "reads"),
    "l1w_in": ("L1", "input", "fills"),
    "dram_fil": ("DRAM", "filter", "reads"),
    "l2r_fil": ("L2", "filter", "reads"),
    "l1w_fil": ("L1", "filter", "fills"),
}
"""Our counts: the level, the tensor, and Timeloop's word."""


class DividingMapping:
    """A dividing mapping of a layer.

    Args:
        row: A row of the table of tools.
    """

    def __init__(self, row: dict[str, str]) -> None:
        self.row = {name: row[name] for name in KEY}
        self.kind, self.stride = row["kind"], int(row["stride"])
        self.extents = dict(zip(NEST, map(int, row["extents"].split()), strict=True))
        self.orders = row["orders"].split("/")
        self.parallel = row["parallel"].split("/")
        self.units = [int(n) for n in row["units"].split("x")]
        self.tiles = [
            dict(zip(NEST, map(int, level.split()), strict=True))
            for level in row["tiles"].split(" / ")
        ]

    def loops(self, level: int) -> list[tuple[str, int]]:
        """Temporal loops of a level (0 outer, 1 inner, 2 in a PE), the innermost first."""
        whole = (self.extents, *self.tiles)[level]
        if level == 2:
            return [(d, n) for d, n in whole.items() if n > 1]
        found = []
        for d in reversed(self.orders[level]):
            steps = whole[d] // self.tiles[level][d]
            steps //= self.units[level] if d == self.parallel[level] else 1
            if steps > 1:
                found.append((d, steps))
        return found

    @property
    def cause(self) -> str:
        """Why its input counts may differ; empty where they may not."""
        d = self.parallel[0]
        taps = {"Y": "R", "X": "S"}.get(d)
        cut = self.units[0] > 1 and any(d == inner for inner, _ in self.loops(1))
        return CLUSTERS_INSIDE if cut and taps and self.extents[taps] > 1 else ""

    @property
    def chip(self) -> Accelerator:
        """A chip of as many PEs, that limits nothing."""
        return Accelerator(prod(self.units))

    def counts(self, model: CostModel, bypass: Bypass = NO_BYPASS) -> dict[str, int]:
        """The counts of a model."""
        cost = model.evaluate(self.layer(), self.chip, self.mapping(bypass))
        assert cost.feasible, cost.infeasible
        return cost.counts

    def layer(self) -> Layer:
        """The layer."""
        sizes = dict(self.extents)
        for axis, taps in (("Y", "R"), ("X", "S")):
            sizes[axis] = (sizes[axis] - 1) * self.stride + sizes[taps]
        return Layer("case", LayerKind(self.kind), **sizes, stride=self.stride)

    def mapping(self, bypass: Bypass = NO_BYPASS) -> Mapping:
        """The mapping."""
        orders, parallel = self.orders, self.parallel
        return Mapping(
            (orders[0], orders[1]), (parallel[0], parallel[1]), (self.tiles[0], self.tiles[1]),
            self.units[1], bypass=bypass,
        )  # fmt: skip


@cache
def _case(*key: str) -> DividingMapping:
    return DividingMapping(dict(zip(KEY, key, strict=True)))


def case_of(line: dict[str, str]) -> DividingMapping:
    """The mapping of a line, the same for all of its lines."""
    return _case(*(line[name] for name in KEY))


def counted(
    path: Path, tool: str, counts: Callable[[DividingMapping, Bypass], dict[str, int]]
) -> Iterator[dict[str, str]]:
    """A tool's counts of every mapping of a table under every bypass, a line each."""
    for case in dict.fromkeys(map(case_of, known(path))):
        for bypass in BYPASS:
            passed = zip(PASSES, (" ".join(sorted(part)) for part in bypass), strict=True)
            told = case.row | dict(passed)
            for metric, value in counts(case, bypass).items():
                yield told | {"metric": metric, tool: str(value)}


def passing(line: dict[str, str]) -> bool:
    """Whether some tensor passes a level in a line of :func:`counted`."""
    return any(line[name] for name in PASSES)


def bypass_of(line: dict[str, str]) -> Bypass:
    """What tensors pass in a line of :func:`counted`."""
    return frozenset(line[PASSES[0]].split()), frozenset(line[PASSES[1]].split())


class Compared(NamedTuple):
    """A line of a table, our count, the tool's, and why they differ, where a cause is named."""

    row: dict[str, str]
    ours: int
    theirs: int
    cause: str

    @property
    def equal(self) -> bool:
        """Whether the two agree."""
        return self.ours == self.theirs


def report(found: Iterable[tuple[str, Compared]]) -> int:
    """Print how many counts of each name are equal, and why others are not.

    Returns:
        How many differ without a cause.
    """
    lines = list(found)
    total, equal = Counter(name for name, _ in lines), Counter(n for n, one in lines if one.equal)
    for name, rows in sorted(total.items()):
        print(f"{name:18} {equal[name]:5} of {rows} counts equal")
    differ = Counter((n, one.row["metric"], one.cause) for n, one in lines if not one.equal)
    for (name, metric, cause), rows in sorted(differ.items()):
        print(f"  {rows:4} {name:18} {metric:12} {cause or NO_CAUSE}")
    return sum(rows for (*_, cause), rows in differ.items() if not cause)
