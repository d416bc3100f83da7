"""The proof of a layer's optimum where some of its tensors are in L2, as an experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import baselines
import cost_models
from cost_models import Accelerator, Chain, ChainMapping, Widths, mapping_from
from cost_models import Mapping as TwoLevelMapping
from layers import TENSORS, Layer, to_fields
from maestro_env import Problem
from mapper.staying.rooms import home_of, limits_of
from mapper.staying.shape_facts import (
    BOTH,
    CostLine,
    KnownMapping,
    Resident,
    ShapeFacts,
    SumWeights,
)
from marl_common import engineering, files_of
from marl_runs import Context, Experiment

if TYPE_CHECKING:
    LoopMapping = TwoLevelMapping | ChainMapping

SEARCHED, BOXES, PART_BOXES = 5_000, 5_000_000, 500_000
"""On a list of levels: samples of a search where there is no proof, boxes of one, and of one with
tensors on the chip, of which there are many."""
DRAWN = 64
"""Mappings that agents propose to start a proof from, where no other is known."""


@dataclass(frozen=True)
class StaySetting:
    """Under what the layers of a network are costed.

    Args:
        chip: The chip.
        options: Options of the model `exact`.
        space: Options of the map space.
        gap: Proofs end where a mapping is at most this share above the optimum.
    """

    chip: Accelerator | Chain
    options: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    gap: float = 0.0

    @property
    def two_levels(self) -> Accelerator:
        """The chip, which is no list of levels."""
        assert isinstance(self.chip, Accelerator)
        return self.chip

    def problem(
        self, layer: Layer, resident: Resident, room: float, weights: SumWeights
    ) -> Problem:
        """A layer's problem; `room` is inf where nothing takes any."""
        options = self._options(resident)
        if weights.energy and weights.latency:
            options["cycle_nj"] = weights.latency / weights.energy
        aim, limits = "energy" if weights.energy else "latency", limits_of(self.chip, room)
        if isinstance(self.chip, Chain) and options.pop("cycle_nj", None):
            aim = "edp"
        model = cost_models.load("exact", **options)
        return Problem(layer, self.chip, aim, model, dict(self.space), limits)

    def _options(self, resident: Resident) -> dict[str, Any]:
        """Options of the model where some tensors are in L2."""
        here = "+".join(t for t in TENSORS if t in resident)
        return {**self.options, **({"resident": here} if here else {})}

    def known(
        self, layer: Layer, resident: Resident, mapping: LoopMapping, model: str = "exact"
    ) -> KnownMapping:
        """A mapping with its cost.

        Args:
            layer: The layer.
            resident: What is whole in L2.
            mapping: The mapping.
            model: ``exact``, or ``simulator``, which executes it.

        Raises:
            InfeasibleError: It has none.
        """
        loaded: Any = cost_models.load(model, **self._options(resident))
        cost = loaded.evaluate(layer, self.chip, mapping)
        if cost.infeasible is not None:
            raise cost_models.InfeasibleError(cost.infeasible)
        needs = cost.l2_bytes
        if isinstance(self.chip, Chain):
            needs = cost.levels[home_of(self.chip).name].bytes
        dram = dram_bytes(cost.accesses, self.chip.widths)
        return KnownMapping(cost.energy_nj, cost.latency_cycles, needs, dram, mapping)


def dram_bytes(accesses: Mapping[str, Mapping[str, float]], widths: Widths) -> float:
    """Count what crosses DRAM's boundary [B], as its energy does.

    A sum that comes back has the width of partial sums both ways, a finished one that of outputs.

    Args:
        accesses: Elements by tensor and kind, of a cost.
        widths: Bits of an element.
    """
    outputs = accesses["output"]
    again = outputs["dram_read"]
    bits = 2 * again * widths.psum + (outputs["dram_write"] - again) * widths.output
    for tensor, width in (("input", widths.input), ("filter", widths.filter)):
        bits += accesses[tensor]["dram_read"] * width
    return bits / 8


@dataclass(frozen=True)
class StayProof(Experiment):
    """The best mapping of a layer, and what none is below.

    Args:
        setting: Under what it is costed.
        layer: The layer.
        resident: What is whole in L2.
        room: Bytes of L2 for tiles; inf for all of it.
        weights: What is least.
        start: A mapping to start from, or None; it changes how long the proof takes.
        seed: Not used; proofs draw from seed 0.
        budget: Not used; one proof.
    """

    kind: ClassVar[str] = "network-proof"
    counts: ClassVar[str] = "proofs"
    setting: StaySetting
    layer: Layer
    resident: Resident
    room: float
    weights: SumWeights
    start: LoopMapping | None = None
    seed: int = 0
    budget: int = 1

    @property
    def name(self) -> str:
        """Such as ``proof of resnet18.conv1, input in L2, 20.5 kB left``."""
        here = f", {' and '.join(t for t in TENSORS if t in self.resident)} in L2"
        left = "" if math.isinf(self.room) else f", {engineering(self.room, 'B')} left"
        aim = f", {self.weights.energy:g} energy + {self.weights.latency:g} latency"
        return f"proof of {self.layer.name}{here if self.resident else ''}{left}{aim}"

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`."""
        effort = {"samples": SEARCHED, "boxes": self._boxes}
        return {
            "layer": to_fields(self.layer.renamed("")),
            "chip": self.setting.chip.to_dict(),
            "options": dict(self.setting.options),
            **files_of(self.setting.options),
            "space": dict(self.setting.space),
            "gap": self.setting.gap,
            "resident": sorted(self.resident),
            "room": None if math.isinf(self.room) else self.room,
            "weights": list(self.weights),
            **(effort if isinstance(self.setting.chip, Chain) else {}),
        }

    @property
    def _boxes(self) -> int:
        return PART_BOXES if self.resident else BOXES

    def run(self, context: Context) -> dict[str, Any]:
        """Prove it.

        Returns:
            ``bound``, ``status`` and the best ``mapping``.
        """
        problem = self.setting.problem(self.layer, self.resident, self.room, self.weights)
        try:
            proof = baselines.prove(
                problem,
                start=self._fitting(problem) or drawn(problem),
                gap=self.setting.gap,
                boxes=self._boxes if isinstance(self.setting.chip, Chain) else None,
                progress=lambda step: context.progress(0, step.value),
            )
        except baselines.ProveError:  # no bounds know the problem
            return self._searched(problem)
        return {
            "samples": 1,
            "seconds": proof.seconds,
            "best_value": proof.value,
            "unit": problem.objective.unit,
            "bound": min(proof.bound, proof.value),
            "status": proof.status,
            "mapping": None if proof.mapping is None else proof.mapping.to_dict(),
        }

    def _searched(self, problem: Problem) -> dict[str, Any]:
        """What descent from the start finds, or a search without one, and the physical bound."""
        start, found, value = self._fitting(problem), None, math.inf
        if start is not None:
            found, value = _descended(problem, problem.action_of(start)[0])
        elif problem.why_empty() is None:
            done = baselines.load("ga").search(problem, SEARCHED, 0)
            found, value = done.mapping, done.best_value
        return {
            "samples": 1,
            "best_value": None if found is None else value,
            "unit": problem.objective.unit,
            "bound": problem.bound or 0.0,
            "status": "searched",
            "mapping": None if found is None else found.to_dict(),
        }

    def _fitting(self, problem: Problem) -> LoopMapping | None:
        """The mapping to start from, if it is one of this problem."""
        if self.start is None:
            return None
        values = problem.look(problem.action_of(self.start)).values
        return self.start if math.isfinite(values[0]) else None

    def take_in(self, result: Mapping[str, Any], facts: ShapeFacts) -> None:
        """Add what was proven to what is known of the shape."""
        bound = math.inf
        if result["status"] != "empty":  # also where boxes ended before there was a mapping
            bound = result["bound"] * (self.weights.energy or 1.0)
        if isinstance(self.setting.chip, Chain) and self.weights == BOTH:
            facts.bound_product(self.resident, self.room, bound)
        else:
            facts.bound(self.resident, CostLine(self.room, self.weights, bound))
        facts.proven.setdefault(self.resident, set()).add(self.room)
        if result["mapping"] is not None:
            mapping = mapping_from(result["mapping"])
            facts.add(self.resident, self.setting.known(self.layer, self.resident, mapping))


def drawn(problem: Problem) -> TwoLevelMapping | None:
    """The best of some mappings that trained agents propose; None on a list of levels."""
    if isinstance(problem.accelerator, Chain):
        return None
    found: TwoLevelMapping | None = baselines.load("zero-shot").search(problem, DRAWN, 0).mapping
    return found


def _descended(problem: Problem, action: Any) -> tuple[Any, float]:
    """The last of a chain of mappings, each the best neighbour of the one before, and its value."""
    from baselines import Moves

    moves = Moves(problem.space)
    value = float(problem.look(action[None]).values[0])
    while True:
        around = moves.neighbours(action)
        values = problem.look(around).values
        if not len(values) or values.min() >= value:
            return problem.space.decode(action[None])[0], value
        action, value = around[int(values.argmin())], float(values.min())
