"""One design of an exploration, as an experiment: mappings of every layer on one chip."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from common import engineering
from cost_models import Accelerator
from layers import Layer
from mapper.explore.design_space import label_of
from mapper.explore.mapping_rows import batch_of, rows_of
from mapper.explore.network_hull import corners, pareto_rows
from runs import Context, Experiment

if TYPE_CHECKING:
    from cost_models import CostModel, MappingBatch
    from maestro_env import Problem

KIND = "explore"
AIMS = ("edp", "latency", "energy")
"""What mappings are looked for: the objectives that agents know."""
PROPOSALS = 32
"""Mappings that the agents propose for each layer and aim."""
FALLBACK_SAMPLES = 3000
"""Samples of the search where no proposal is feasible."""


class NoMappingError(ValueError):
    """A layer that has no mapping on a design."""


@dataclass(frozen=True)
class Workload:
    """The distinct shapes of a network, and under what they are costed.

    Args:
        layers: One layer of each shape.
        counts: How many layers have it.
        cost_model: Name of the cost model.
        cost_model_options: All its options.
        space: Options of the map space.
    """

    layers: tuple[Layer, ...]
    counts: tuple[int, ...]
    cost_model: str
    cost_model_options: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)

    def model(self) -> CostModel:
        """The cost model, for one thread: workers share the cores."""
        import cost_models

        return cost_models.load(self.cost_model, **self.cost_model_options)

    def problem(self, shape: int, chip: Accelerator, aim: str, model: CostModel) -> Problem:
        """The mapping problem of one shape on a chip."""
        from maestro_env import Problem

        return Problem(self.layers[shape], chip, aim, model, dict(self.space))

    def spec(self) -> dict[str, Any]:
        """As JSON values, without names and counts: these change no mapping."""
        import layers

        return {
            "layers": [layers.to_fields(layer.renamed("shape")) for layer in self.layers],
            "cost_model": self.cost_model,
            "cost_model_options": dict(self.cost_model_options),
            "space": dict(self.space),
        }


@dataclass(frozen=True)
class DesignRun(Experiment):
    """Mappings of every shape on one chip, as trained agents propose them.

    Args:
        workload: The network.
        chip: The design.
        aims: What mappings are proposed for, of `AIMS`.
        pretrained: The agents, as ``--pretrained`` takes them.
        seed: The seed of the draws.
        budget: Mappings to propose, the same number for each shape and aim; 0 for `PROPOSALS` each.
    """

    kind: ClassVar[str] = KIND
    counts: ClassVar[str] = "proposals"
    workload: Workload
    chip: Accelerator
    aims: tuple[str, ...] = ("edp",)
    pretrained: str = "auto"
    seed: int = 0
    budget: int = 0

    def __post_init__(self) -> None:
        if self.budget == 0:
            proposals = PROPOSALS * len(self.workload.layers) * len(self.aims)
            object.__setattr__(self, "budget", proposals)

    @property
    def name(self) -> str:
        """Such as ``design 256 PEs, L1 512 B, L2 128 kB, NoC 64, DRAM 16``."""
        return f"design {label_of(self.chip)}"

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`."""
        agents: dict[str, Any] = {"pretrained": self.pretrained}
        if Path(self.pretrained).is_file():
            agents["digest"] = hashlib.sha256(Path(self.pretrained).read_bytes()).hexdigest()[:16]
        return {
            **self.workload.spec(),
            "chip": self.chip.to_dict(),
            "aims": list(self.aims),
            **agents,
        }

    def standing(self, best: float) -> str:
        """See :meth:`Experiment.standing`."""
        return f"EDP {engineering(best, 'cycles * nJ', 4)}"

    def run(self, context: Context) -> dict[str, Any]:
        """The best of the proposals for every shape: of latency and energy no other is below both.

        Returns:
            ``rows`` (mappings of each shape, see :mod:`mapper.explore.mapping_rows`), and
            ``latency`` and ``energy`` of the network where their product is least; ``empty``
            instead, where a shape has no mapping.
        """
        model = self.workload.model()
        rng = np.random.default_rng(self.seed)
        proposed = self._proposals(model, rng)
        rows, latencies, energies = [], [], []
        samples = 0
        for shape, batches in enumerate(proposed):
            try:
                batch, tried = self._feasible(shape, batches, model)
            except NoMappingError as error:
                return {"samples": samples, "best_value": None, "empty": str(error)}
            costs = model.evaluate_batch(self.workload.layers[shape], self.chip, batch)
            kept = pareto_rows(costs.latency_cycles, costs.energy_nj)
            rows.append(rows_of(batch.take(kept)).tolist())
            latencies.append(costs.latency_cycles[kept])
            energies.append(costs.energy_nj[kept])
            samples += tried
            context.progress(samples)
        found = corners(latencies, energies, self.workload.counts)
        latency, energy, _ = min(found, key=lambda corner: corner[0] * corner[1])
        context.progress(samples, latency * energy)
        return {
            "samples": samples,
            "best_value": latency * energy,
            "unit": "cycles * nJ",
            "latency": latency,
            "energy": energy,
            "rows": rows,
        }

    def _proposals(self, model: CostModel, rng: np.random.Generator) -> list[list[MappingBatch]]:
        """For each shape the batches of mappings that agents propose for each aim."""
        from mapper.pretrained.policy import MappingPolicy
        from mapper.pretrained.policy_proposals import proposed
        from mapper.pretrained.weights import agents_of

        shapes = range(len(self.workload.layers))
        agents = agents_of(self.pretrained, self.workload.cost_model)
        found: list[list[MappingBatch]] = [[] for _ in shapes]
        if agents is None:
            return found
        for aim in self.aims:
            problems = [self.workload.problem(shape, self.chip, aim, model) for shape in shapes]
            each = self.budget // (len(problems) * len(self.aims))
            batches = proposed(MappingPolicy(agents.weights), problems, each, rng)
            for shape, batch in enumerate(batches):
                found[shape].append(batch)
        return found

    def _feasible(
        self, shape: int, batches: list[MappingBatch], model: CostModel
    ) -> tuple[MappingBatch, int]:
        """Mappings of a shape, one of them feasible, and how many were tried.

        Raises:
            NoMappingError: There is none.
        """
        import baselines

        layer = self.workload.layers[shape]
        tried = sum(map(len, batches))
        if tried:
            whole = batch_of(np.concatenate([rows_of(batch) for batch in batches]))
            if model.evaluate_batch(layer, self.chip, whole).feasible.any():
                return whole, tried
        problem = self.workload.problem(shape, self.chip, self.aims[0], model)
        why = problem.why_empty()
        if why is not None:
            raise NoMappingError(why)
        result = baselines.load("ga").search(problem, FALLBACK_SAMPLES, self.seed)
        if result.best_action is None:
            raise NoMappingError(
                f"layer {layer.name!r}: no feasible mapping found on {label_of(self.chip)}"
            )
        return problem.look(result.best_action[None]).mappings, tried + problem.samples
