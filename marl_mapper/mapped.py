"""What the library gives back: a mapped layer, and a model as its mapped layers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from baselines import SearchResult
from cost_models import (
    FIGURES,
    Accelerator,
    Chain,
    ChainMapping,
    Cost,
    Loop,
    loop_nest,
    nest_of_loops,
)
from cost_models import InfeasibleError as InfeasibleError
from cost_models import Mapping as TwoLevelMapping
from layers import Layer
from maestro_env import Objective
from mapper import ProblemSpec
from marl_common import engineering, html_table, percent
from marl_mapper.mapped_values import from_values, to_values
from marl_mapper.options import LibraryError
from marl_runs import json_text

Frame = Any
"""A `pandas.DataFrame`."""


@dataclass(frozen=True)
class Mapped:
    """A layer on an accelerator, with the best mapping that was found.

    Args:
        problem: What was searched: layer, chip, objective, cost model, space and limits.
        result: The search, with its samples and its proof.
    """

    problem: ProblemSpec
    result: SearchResult

    @property
    def layer(self) -> Layer:
        """The layer."""
        return self.problem.layer

    @property
    def accelerator(self) -> Accelerator | Chain:
        """The accelerator."""
        return self.problem.accelerator

    @property
    def chip(self) -> str:
        """What tables call the accelerator."""
        return self.problem.accelerator_name

    @property
    def objective(self) -> Objective:
        """What was minimised."""
        return Objective.parse(self.problem.objective)

    @property
    def mapping(self) -> TwoLevelMapping | ChainMapping:
        """The mapping."""
        found: TwoLevelMapping | ChainMapping = self.result.mapping
        return found

    @property
    def cost(self) -> Cost:
        """What it costs."""
        assert self.result.cost is not None
        return self.result.cost

    @property
    def value(self) -> float:
        """Its value of the objective, in the objective's unit."""
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
    def loops(self) -> list[Loop]:
        """The loop nest as rows, outermost first; units that work side by side are rows too."""
        mapping, chip = self.mapping, self.accelerator
        if isinstance(mapping, ChainMapping):
            assert isinstance(chip, Chain)
            return mapping.loops(self.layer, chip)
        assert isinstance(chip, Accelerator)
        return mapping.loops(self.layer, chip.num_pes)

    @property
    def nest(self) -> str:
        """The loop nest as text."""
        if isinstance(self.mapping, ChainMapping):
            return nest_of_loops(self.loops)
        assert isinstance(self.accelerator, Accelerator)
        return loop_nest(self.mapping, self.layer, self.accelerator.num_pes)

    def to_dict(self) -> dict[str, Any]:
        """Problem, mapping, figures and proof as JSON values; :meth:`from_dict` reads them."""
        return to_values(self.problem, self.result)

    def to_json(self) -> str:
        """The same as text."""
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mapped:
        """Read :meth:`to_dict`'s form; the cost model evaluates the mapping again.

        Raises:
            LibraryError: The values are of another kind or version, or the model gives the mapping
                another value now.
        """
        return cls(*from_values(data))

    def __str__(self) -> str:
        value = engineering(self.value, self.objective.unit, digits=4)
        known = f", {_gap_text(self.gap)}" if self.gap is not None else ""
        return (
            f"{self.layer.name} on {self.chip}: {self.objective.name} {value}{known}\n{self.nest}"
        )

    def _repr_html_(self) -> str:
        return html_table(_HEADER, [_row(self)], self.nest)


Answer = Mapped | InfeasibleError
"""A mapped layer, or why it has no mapping."""


@dataclass(frozen=True)
class MappedModel:
    """A model on an accelerator: its distinct shapes, each mapped by itself, one after another.

    Args:
        name: What the model is called.
        shapes: The shapes in the order of their first layer; where one has no mapping, the
            :class:`InfeasibleError` that says why.
        counts: How many layers have each shape.
    """

    name: str
    shapes: tuple[Answer, ...]
    counts: tuple[int, ...]

    def __iter__(self) -> Iterator[Answer]:
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
        gaps = [None if isinstance(one, InfeasibleError) else one.gap for one in self.shapes]
        return None if None in gaps else max(gap for gap in gaps if gap is not None)

    def to_frame(self) -> Frame:
        """A row a shape, as :func:`marl_mapper.to_frame`, and how many layers have it."""
        return to_frame(self.shapes).assign(layers=self.counts)

    def _sum(self, figure: str) -> float:
        return sum(
            n * (math.inf if isinstance(one, InfeasibleError) else getattr(one.cost, figure))
            for one, n in zip(self.shapes, self.counts, strict=True)
        )

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


def to_frame(answers: Iterable[Answer]) -> Frame:
    """Answers of :func:`map_many` as a `pandas.DataFrame`, a row each.

    Columns are ``layer``, ``chip``, ``objective``, ``value``, ``bound``, ``gap``, the figures of
    :data:`cost_models.FIGURES`, and ``infeasible``: why a layer has no mapping.

    Raises:
        LibraryError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise LibraryError(
            "to_frame needs the package 'pandas'; install it with: pip install 'marl-mapper[frame]'"
        ) from None
    return pandas.DataFrame([_figures(one) for one in answers])


def _figures(one: Answer) -> dict[str, object]:
    if isinstance(one, InfeasibleError):
        return {"layer": one.layer, "chip": one.chip, "infeasible": one.infeasible.message}
    return {
        "layer": one.layer.name,
        "chip": one.chip,
        "objective": one.objective.name,
        "value": one.value,
        "bound": math.nan if one.bound is None else one.bound,
        "gap": math.nan if one.gap is None else one.gap,
        **{name: getattr(one.cost, name) for name in FIGURES},
        "infeasible": "",
    }


_HEADER = ("layer", "chip", "objective", "latency", "energy", "gap to the optimum")


def _row(one: Answer) -> list[str]:
    if isinstance(one, InfeasibleError):
        return [one.layer, one.chip, "no mapping", "", "", ""]
    return [
        one.layer.name,
        one.chip,
        f"{one.objective.name} {engineering(one.value, one.objective.unit, digits=4)}",
        engineering(one.cost.latency_cycles, "cycles", digits=4),
        engineering(one.cost.energy_nj, "nJ", digits=4),
        "not known" if one.gap is None else _gap_text(one.gap),
    ]


def _gap_text(gap: float | None) -> str:
    return "" if gap is None else "proven optimal" if gap == 0 else f"within {percent(gap)}"
