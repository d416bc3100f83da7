"""What the library gives back: a mapped layer, and a model as its mapped layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from baselines import SearchResult
from common import engineering, html_table
from cost_models import (
    Accelerator,
    Chain,
    ChainMapping,
    Cost,
    Mapping,
    loop_nest,
    nest_of_loops,
)
from layers import Layer
from maestro_env import Objective


@dataclass(frozen=True)
class Mapped:
    """A layer on an accelerator, with the best mapping that was found.

    Args:
        layer: The layer.
        accelerator: The accelerator.
        chip: What tables call the accelerator.
        objective: What was minimised.
        result: The search, with its samples and its proof.
    """

    layer: Layer
    accelerator: Accelerator | Chain
    chip: str
    objective: Objective
    result: SearchResult

    @property
    def mapping(self) -> Mapping | ChainMapping | None:
        """The mapping; None where the layer has none."""
        found: Mapping | ChainMapping | None = self.result.mapping
        return found

    @property
    def cost(self) -> Cost | None:
        """What it costs; None where the layer has no mapping."""
        return self.result.cost

    @property
    def value(self) -> float:
        """Its value of the objective, in the objective's unit; inf where there is no mapping."""
        return self.result.best_value

    @property
    def bound(self) -> float | None:
        """No mapping of the space has a lower value; None where nothing is known."""
        return self.result.bound

    @property
    def gap(self) -> float | None:
        """How far above the optimum `value` may be, as a share; 0 where it is proven."""
        return self.result.gap

    @property
    def nest(self) -> str:
        """The loop nest as text; empty where there is no mapping."""
        mapping, chip = self.mapping, self.accelerator
        if isinstance(chip, Chain):
            if not isinstance(mapping, ChainMapping):
                return ""
            return nest_of_loops(mapping.loops(self.layer, chip))
        if not isinstance(mapping, Mapping):
            return ""
        return loop_nest(mapping, self.layer, chip.num_pes)

    def __str__(self) -> str:
        if self.mapping is None:
            return f"{self.layer.name} on {self.chip}: no mapping"
        value = engineering(self.value, self.objective.unit, digits=4)
        known = f", {_gap_text(self.gap)}" if self.gap is not None else ""
        return (
            f"{self.layer.name} on {self.chip}: {self.objective.name} {value}{known}\n{self.nest}"
        )

    def _repr_html_(self) -> str:
        return html_table(_HEADER, [_row(self)], self.nest)


@dataclass(frozen=True)
class MappedModel:
    """A model on an accelerator: its distinct shapes, each mapped by itself, one after another.

    Args:
        name: What the model is called.
        shapes: The shapes in the order of their first layer.
        counts: How many layers have each shape.
    """

    name: str
    shapes: tuple[Mapped, ...]
    counts: tuple[int, ...]

    def __iter__(self) -> Iterator[Mapped]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def latency_cycles(self) -> float:
        """Cycles of all layers, one after another; inf where one has no mapping."""
        return self._sum("latency_cycles")

    @property
    def energy_nj(self) -> float:
        """Energy of all layers [nJ]; inf where one has no mapping."""
        return self._sum("energy_nj")

    @property
    def gap(self) -> float | None:
        """The largest gap of a shape; None where one of them is not known."""
        gaps = [one.gap for one in self.shapes]
        return None if None in gaps else max(gap for gap in gaps if gap is not None)

    def _sum(self, figure: str) -> float:
        pairs = zip(self.shapes, self.counts, strict=True)
        return sum(n * (getattr(one.cost, figure) if one.cost else math.inf) for one, n in pairs)

    def __str__(self) -> str:
        cycles = engineering(self.latency_cycles, "cycles", digits=4)
        energy = engineering(self.energy_nj, "nJ", digits=4)
        known = f", {_gap_text(self.gap)}" if self.gap is not None else ""
        return f"{self.name}: {sum(self.counts)} layers, {cycles}, {energy}{known}"

    def _repr_html_(self) -> str:
        rows = [
            [*_row(one), str(count)] for one, count in zip(self.shapes, self.counts, strict=True)
        ]
        return html_table([*_HEADER, "layers"], rows, str(self))


_HEADER = ("layer", "chip", "objective", "latency", "energy", "gap to the optimum")


def _row(one: Mapped) -> list[str]:
    if one.cost is None:
        return [one.layer.name, one.chip, "no mapping", "", "", ""]
    return [
        one.layer.name,
        one.chip,
        f"{one.objective.name} {engineering(one.value, one.objective.unit, digits=4)}",
        engineering(one.cost.latency_cycles, "cycles", digits=4),
        engineering(one.cost.energy_nj, "nJ", digits=4),
        "not known" if one.gap is None else _gap_text(one.gap),
    ]


def _gap_text(gap: float | None) -> str:
    return "" if gap is None else "proven optimal" if gap == 0 else f"within {gap:.2%}"
