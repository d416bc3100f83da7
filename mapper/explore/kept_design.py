"""One design of an exploration whose network keeps tensors in L2, proven, as an experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from cost_models import Accelerator, Chain
from layers import NetworkGraph, graph_fields
from mapper.explore.design_space import label_of, nameless
from mapper.staying.kept_network import OBJECTIVES
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import NetworkResult, UnmappableError
from mapper.staying.shape_facts import ENERGY, LATENCY
from mapper.staying.stay_proof import StayProof, StaySetting
from marl_common import engineering, files_of
from marl_runs import Context, Experiment


@dataclass(frozen=True)
class KeptWorkload:
    """A network whose tensors may stay, and under what it is costed.

    Args:
        graph: The network.
        cost_model_options: Options of the model `exact`.
        counted: Whether nodes without MACs cost what they move, see :class:`NetworkProblem`.
        gap: Stop where a value is proven to be at most this share above the optimum.
    """

    graph: NetworkGraph
    cost_model_options: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = False
    gap: float = 0.01

    def spec(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            **graph_fields(self.graph),
            "cost_model_options": dict(self.cost_model_options),
            **files_of(self.cost_model_options),
            "counted": self.counted,
            "gap": self.gap,
        }


@dataclass(frozen=True)
class KeptDesign(Experiment):
    """The best schedules of a network on one chip, and what none is below.

    Shapes that occur several times, or with the same room left, are proven once.

    Args:
        workload: The network.
        chip: The design.
        aims: What schedules are looked for, of `OBJECTIVES`.
        seed: Not used; proofs draw from seed 0.
        budget: Not used; one network.
    """

    kind: ClassVar[str] = "explore-kept"
    counts: ClassVar[str] = "networks"
    workload: KeptWorkload
    chip: Accelerator | Chain
    aims: tuple[str, ...] = ("edp",)
    seed: int = 0
    budget: int = 1

    @property
    def name(self) -> str:
        """Such as ``design 256 PEs, L1 512 B, L2 128 kB, NoC 64, DRAM 16``."""
        return f"design {label_of(self.chip)}"

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`."""
        return {**self.workload.spec(), "chip": nameless(self.chip), "aims": list(self.aims)}

    def standing(self, best: float) -> str:
        """See :meth:`Experiment.standing`."""
        return f"EDP {engineering(best, 'cycles * nJ', 4)}"

    def run(self, context: Context) -> dict[str, Any]:
        """Find and prove them.

        Returns:
            ``points``, latency and energy of the schedule of each aim; ``floor``, what latency,
            energy and their product are at least; those of the least product again as ``latency``
            and ``energy``. ``empty`` instead, where a layer has no mapping.
        """
        # the value of a layer's proof is not the network's: nobody is told
        inside = Context(lambda _event: None, lambda: context.stopping, Path())

        def run(proofs: Sequence[StayProof]) -> list[Any]:
            return [proof.run(inside) for proof in proofs]

        one = self.workload
        setting = StaySetting(self.chip, one.cost_model_options)
        problem = NetworkProblem(one.graph, setting, run, one.counted, one.gap)
        try:
            found = {aim: _best(problem, aim) for aim in self.aims}
        except UnmappableError as error:
            return {"samples": 1, "best_value": None, "empty": str(error)}
        floor = {"latency": problem.floor(LATENCY), "energy": problem.floor(ENERGY)}
        floor["product"] = math.prod(floor.values())
        for aim, result in found.items():
            name = "product" if aim == "edp" else aim
            floor[name] = max(floor[name], result.bound)
        points = [(result.latency, result.energy) for result in found.values()]
        latency, energy = min(points, key=math.prod)
        context.progress(1, latency * energy)
        return {
            "samples": 1,
            "best_value": latency * energy,
            "unit": "cycles * nJ",
            "latency": latency,
            "energy": energy,
            "points": points,
            "floor": floor,
        }


def _best(problem: NetworkProblem, aim: str) -> NetworkResult:
    weights = OBJECTIVES[aim]
    return problem.product() if weights is None else problem.sum(weights)
