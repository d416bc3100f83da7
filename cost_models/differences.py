"""Where MAESTRO's figures differ from an execution of the loop nest, for one mapping."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from cost_models.accelerator import Accelerator
from cost_models.chain.clusters import entries_of
from cost_models.cost import IN_HTML, Cost
from cost_models.cost_model import CostModel, load
from cost_models.dataflow import Dataflow, DataflowError, dimensions, language_kind, size_of
from cost_models.infeasible import InfeasibleError
from cost_models.mapping import Mapping as NestMapping
from layers import COUPLED, DIMS, TENSORS, Layer, footprint
from marl_common import engineering, html_table

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
    large: Iterator[str] = iter(())
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
        4: chain(nest.cluster_halo(), nest.kept_halo(exact)),
        5: _latency(exact),
        6: nest.stride(),
        7: nest.ragged(),
        8: large,
        9: nest.edge(),
    }
    return tuple(Cause(number, why) for number, some in found.items() for why in islice(some, 1))


class _ClippedNest:
    """A mapping's loops: tiles clipped to what they tile, and outer iterations by dimension."""

    def __init__(self, layer: Layer, accelerator: Accelerator, mapping: NestMapping) -> None:
        self.mapping, self.accelerator, self.layer = mapping, accelerator, layer
        pes = mapping.num_pes or accelerator.num_pes
        self.order, self.parallel = mapping.orders[0], mapping.parallel
        self.units = (pes // mapping.cluster_size, mapping.cluster_size)
        self.limits = dict(zip(DIMS, layer.extents, strict=True))
        entries = entries_of(mapping, layer, pes)
        self.spans, self.outer, inner = (entry.tiles for entry in entries)
        self.levels = ((self.limits, self.outer), (self.outer, inner))
        self.iterations = {d: -(-n // self.spans[d]) for d, n in self.limits.items()}
        self.walked = [d for d in self.order if self.iterations[d] > 1]
        self.coupled = dict(zip(TENSORS, COUPLED[layer.kind], strict=True))
        self.windows = (
            ("Y", "R", "rows", layer.stride_y, layer.dilation_y),
            ("X", "S", "columns", layer.stride_x, layer.dilation_x),
        )

    def missed_reload(self) -> Iterator[str]:
        for tensor in ("input", "filter"):
            coupled = self.coupled[tensor]
            for place, d in enumerate(self.walked):
                inside = [e for e in self.walked[place:] if e in coupled]
                if d not in coupled and inside:
                    yield (
                        f"{d} advances outside {inside[0]}, which walks all {tensor} tiles again "
                        f"in each of its {self.iterations[d]} iterations"
                    )

    def reduction(self) -> Iterator[str]:
        for d in self.walked:
            if d not in self.coupled["output"]:
                yield f"{d} is reduced in {self.iterations[d]} outer iterations"

    def cluster_halo(self) -> Iterator[str]:
        for axis, taps, rows, stride, _ in self.windows:
            spread = self.parallel[0] == axis and self.outer[axis] < self.limits[axis]
            if spread and self.limits[taps] > stride:
                yield (
                    f"clusters along {axis} share {self.limits[taps] - stride} input {rows} "
                    "with the next"
                )

    def kept_halo(self, exact: Cost) -> Iterator[str]:
        none = load("exact", halo_time="none")
        every = none.evaluate(self.layer, self.accelerator.unlimited_buffers(), self.mapping)
        more = every.counts["dram_in"] - self._window_credit() - exact.counts["dram_in"]
        if more > 0:
            yield f"L2 still holds {more} input elements where more than a window moves on"

    def _window_credit(self) -> int:
        """Input elements that L2 holds where its tile moves on along Y or X alone."""
        loops = [d for d in self.walked if d in self.coupled["input"]]
        if not loops or loops[-1] not in "YX":
            return 0
        outside = self.order[: self.order.index(loops[-1])]
        found = math.prod(self.iterations[d] for d in outside if d not in self.coupled["input"])
        found *= math.prod(self.limits[d] for d in self.coupled["input"] if d not in "YXRS")
        for axis, taps, _, *steps in self.windows:

            def touched(outputs: int, taps: str = taps, steps: list[int] = steps) -> int:
                return sum(footprint(outputs, r, *steps) for r in self._pieces(taps))

            pieces = self._pieces(axis)
            if axis == loops[-1]:
                pairs = pairwise(pieces)
                found *= sum(touched(a) + touched(b) - touched(a + b) for a, b in pairs)
            else:
                found *= sum(map(touched, pieces))
        return found

    def _pieces(self, dim: str) -> list[int]:
        """What L2 holds of a dimension in each of its outer steps."""
        limit, span = self.limits[dim], self.spans[dim]
        return [min(span, limit - low) for low in range(0, limit, span)]

    def stride(self) -> Iterator[str]:
        if self.layer.stride != 1:
            yield f"stride {self.layer.stride}"

    def ragged(self) -> Iterator[str]:
        for level, (limits, tiles) in enumerate(self.levels):
            d, count = self.parallel[level], self.units[level]
            width = tiles[d] * count
            if limits[d] % width:
                yield (
                    f"{d}={limits[d]} over {count} {('clusters', 'PEs')[level]} of tile {tiles[d]} "
                    f"leaves {limits[d] % width} of {width} in the last step"
                )

    def edge(self) -> Iterator[str]:
        for level, (limits, tiles) in enumerate(self.levels):
            for d in DIMS:
                if d != self.parallel[level] and limits[d] % tiles[d]:
                    yield (
                        f"the last {('outer', 'inner')[level]} tile of {d} holds "
                        f"{limits[d] % tiles[d]} of {tiles[d]}"
                    )


def _inner_traffic(exact: Cost) -> Iterator[str]:
    moved = (("l2r_in", "dram_in"), ("l2r_fil", "dram_fil"), ("l2w_out", "dram_out_w"))
    for tensor, names in zip(TENSORS, moved, strict=True):
        inner, outer = (exact.counts[name] for name in names)
        if inner > outer:
            yield (
                f"the inner loops move {inner:,} {tensor} elements between L2 and the PEs, the "
                f"outer ones {outer:,}"
            )


def _latency(exact: Cost) -> Iterator[str]:
    compute, steps, latency = (
        exact.counts[name] for name in ("compute_cycles", "outer_steps", "latency")
    )
    if latency != compute + steps + 1:
        waiting = sum(exact.detail[f"share_{part}"] for part in ("noc_in", "noc_out", "dram"))
        yield (
            f"{compute:,} + {steps:,} + 1 cycles; executed step by step it takes {latency:,}, of "
            f"which {waiting:.0%} wait for traffic"
        )


def _large_tile(layer: Layer, dataflow: Dataflow) -> Iterator[str]:
    sizes = dimensions(layer, language_kind(layer, dataflow))
    pairs = {"Y'": (layer.out_y, layer.stride_y), "X'": (layer.out_x, layer.stride_x)}
    reach = {dim: (outputs - 1) * stride + 1 for dim, (outputs, stride) in pairs.items()}
    for directive in dataflow.directives:
        most = reach.get(directive.dim, math.inf)
        with suppress(DataflowError):
            if directive.dim and (size := size_of(directive.size, sizes)) > most:
                yield f"{directive} covers {size}, the output has {most}"


FIGURES = {
    "MACs": ("macs", None),
    "latency [cycles]": ("latency_cycles", None),
    "input L2 reads": ("input", "l2_read"),
    "filter L2 reads": ("filter", "l2_read"),
    "output L2 reads": ("output", "l2_read"),
    "output L2 writes": ("output", "l2_write"),
    "L1 [B]": ("l1_bytes", None),
    "L2 [B]": ("l2_bytes", None),
    "energy [nJ]": ("energy_nj", None),
}
"""What is compared: a figure of the cost, or a tensor and a kind of access."""


@dataclass(frozen=True)
class Difference:
    """A figure in which the two models differ."""

    figure: str
    exact: float
    maestro: float

    @property
    def ratio(self) -> float:
        """MAESTRO's figure over the exact one; inf where the latter is zero."""
        return self.maestro / self.exact if self.exact else math.inf


@dataclass(frozen=True)
class Comparison:
    """The costs of one mapping under several models, and why MAESTRO differs.

    Args:
        costs: By model name, each under the accelerator's limits.
        differences: Figures in which MAESTRO, unguarded, differs from the exact model; buffer
            limits are left out of account, and so is the energy where the mapping breaks them:
            it is that of the chip's buffers. Empty where one of them has no figures.
        causes: The causes that apply; empty where the mapping does not partition the layer.
        refusal: Why MAESTRO has no figures at all, or an empty text.
    """

    costs: dict[str, Cost]
    differences: tuple[Difference, ...]
    causes: tuple[Cause, ...]
    refusal: str = ""

    def lines(self) -> list[str]:
        """The comparison as text, one thing a line."""
        lines = [f"MAESTRO has no figures here: {self.refusal}"] * bool(self.refusal)
        if self.differences:
            lines.append("Figures of maestro, unguarded, against those of exact:")
        for item in self.differences:
            times = f" ({item.ratio:.2f}x)" if math.isfinite(item.ratio) else ""
            name, _, unit = item.figure.rstrip("]").partition(" [")
            maestro, exact = (_shown(value, unit) for value in (item.maestro, item.exact))
            lines.append(f"  {name}: maestro {maestro}, exact {exact}{times}")
        if self.causes:
            lines.append("Why:")
        lines += [
            f"  {place}. {cause.title}: {cause.why} (cause {cause.number} in docs/cost-models.md)"
            for place, cause in enumerate(self.causes, 1)
        ]
        return lines or ["MAESTRO agrees on this mapping."]

    def _repr_html_(self) -> str:
        rows = [
            (title, *(_in_table(cost, name, unit) for cost in self.costs.values()))
            for name, title, unit in IN_HTML
            if (name, None) in FIGURES.values()
        ]
        return html_table(("", *self.costs), rows, "\n".join(self.lines()))


def _in_table(cost: Cost, figure: str, unit: str) -> str:
    return engineering(getattr(cost, figure), unit) if cost.feasible else "infeasible"


def _shown(value: float, unit: str) -> str:
    """A figure as the tables of costs have it; whole counts with all digits."""
    return engineering(value, unit) if unit == "nJ" else f"{value:,.10g} {unit}".rstrip()


def compare(
    layer: Layer,
    accelerator: Accelerator,
    mapping: NestMapping | Dataflow,
    models: Mapping[str, CostModel] | None = None,
) -> Comparison:
    """Evaluate a mapping under several models and say where and why MAESTRO differs.

    Args:
        layer: The layer.
        accelerator: The accelerator.
        mapping: A mapping or a dataflow.
        models: By name; None for ``exact`` and the guarded ``maestro``.
    """
    model = load("exact")
    if models is None:
        models = {"exact": model, "maestro": load("maestro")}
    costs = {name: one.evaluate(layer, accelerator, mapping) for name, one in models.items()}
    roomy = accelerator.unlimited_buffers()
    on_chip = model.evaluate(layer, accelerator, mapping)
    exact = on_chip if on_chip.feasible else model.evaluate(layer, roomy, mapping)
    raw = load("maestro", guard=False).evaluate(layer, roomy, mapping)
    refusal = "" if raw.infeasible is None else raw.infeasible.message
    if not exact.feasible:
        return Comparison(costs, (), (), refusal)
    left_out = "" if on_chip.feasible else "energy_nj"  # buffers of another size cost less
    differences = () if refusal else tuple(_differences(exact, raw, left_out))
    return Comparison(costs, differences, causes_of(layer, accelerator, mapping, exact), refusal)


def _differences(exact: Cost, raw: Cost, left_out: str) -> Iterator[Difference]:
    for label, (name, kind) in FIGURES.items():
        ours, theirs = (
            cost.accesses[name][kind] if kind else getattr(cost, name) for cost in (exact, raw)
        )
        if ours != theirs and name != left_out:
            yield Difference(label, ours, theirs)
