"""One design of an exploration, as an experiment: mappings of every layer on one chip."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import baselines
import cost_models
from cost_models import Accelerator, Chain, ChainBatch, CostModel, MappingBatch
from layers import Layer
from maestro_env import Evaluation, Problem
from mapper.explore.design_space import label_of, nameless
from mapper.explore.mapping_rows import batch_of, rows_of
from mapper.explore.network_hull import corners, pareto_rows
from mapper.pretrained.weights import NONE
from marl_common import IntArray, engineering, files_of
from marl_runs import Context, Experiment

if TYPE_CHECKING:
    Mappings = MappingBatch | ChainBatch

AIMS = ("edp", "latency", "energy")
"""What mappings are looked for: the objectives that agents know."""
PROPOSALS = 32
"""Mappings that the agents propose for each layer and aim."""
IMPROVED = 512
"""Samples of `zero-shot` on a list of levels: the first 32 are too far from the best there."""
SEARCHED = 3000
"""Samples of `ga` where nothing that was tried is feasible, or there are no agents."""


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
        return cost_models.load(self.cost_model, **self.cost_model_options)

    def problem(self, shape: int, chip: Accelerator | Chain, aim: str, model: CostModel) -> Problem:
        """The mapping problem of one shape on a chip."""
        return Problem(self.layers[shape], chip, aim, model, dict(self.space))

    def spec(self) -> dict[str, Any]:
        """As JSON values, without names and counts: these change no mapping."""
        import layers

        return {
            "layers": [layers.to_fields(layer.renamed("shape")) for layer in self.layers],
            "cost_model": self.cost_model,
            "cost_model_options": dict(self.cost_model_options),
            **files_of(self.cost_model_options),
            "space": dict(self.space),
        }


@dataclass
class Tried:
    """What was tried for a shape.

    Args:
        batches: Mappings that were proposed or found.
        samples: How many were tried.
    """

    batches: list[Mappings] = field(default_factory=list)
    samples: int = 0


@dataclass(frozen=True)
class DesignRun(Experiment):
    """Mappings of every shape on one chip, as trained agents propose them.

    On a list of levels, those that `zero-shot` finds.

    Args:
        workload: The network.
        chip: The design.
        aims: What mappings are proposed for, of `AIMS`.
        pretrained: The agents, as ``--pretrained`` takes them.
        seed: The seed of the draws.
        budget: Mappings to try, the same number for each shape and aim; 0 for `PROPOSALS` each, on
            a list of levels for `IMPROVED`, or `SEARCHED` without agents.
    """

    kind: ClassVar[str] = "explore"
    counts: ClassVar[str] = "proposals"
    workload: Workload
    chip: Accelerator | Chain
    aims: tuple[str, ...] = ("edp",)
    pretrained: str = "auto"
    seed: int = 0
    budget: int = 0

    def __post_init__(self) -> None:
        if self.budget == 0:
            each = self._searcher[1] if isinstance(self.chip, Chain) else PROPOSALS
            object.__setattr__(self, "budget", each * len(self.workload.layers) * len(self.aims))

    @property
    def name(self) -> str:
        """Such as ``design 256 PEs, L1 512 B, L2 128 kB, NoC 64, DRAM 16``."""
        return f"design {label_of(self.chip)}"

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`."""
        how: dict[str, Any] = {"pretrained": self.pretrained}
        if Path(self.pretrained).is_file():
            how["digest"] = hashlib.sha256(Path(self.pretrained).read_bytes()).hexdigest()[:16]
        if isinstance(self.chip, Chain):
            how["method"] = self._searcher[0]
        return {
            **self.workload.spec(),
            "chip": nameless(self.chip),
            "aims": list(self.aims),
            **how,
        }

    def standing(self, best: float) -> str:
        """See :meth:`Experiment.standing`."""
        return f"EDP {engineering(best, 'cycles * nJ', 4)}"

    def run(self, context: Context) -> dict[str, Any]:
        """The best of what is tried for every shape: of latency and energy no other is below both.

        Returns:
            ``rows`` (mappings of each shape, see :mod:`mapper.explore.mapping_rows`), and
            ``latency`` and ``energy`` of the network where their product is least; ``empty``
            instead, where a shape has no mapping.
        """
        model: Any = self.workload.model()
        rng = np.random.default_rng(self.seed)
        shapes = range(len(self.workload.layers))
        deep = isinstance(self.chip, Chain)
        proposed = [] if deep else self._proposals(model, rng)
        rows, latencies, energies = [], [], []
        samples = 0
        for shape in shapes:
            tried = self._searched(shape, model) if deep else proposed[shape]
            try:
                batch = self._feasible(shape, tried, model)
            except NoMappingError as error:
                return {"samples": samples, "best_value": None, "empty": str(error)}
            samples += tried.samples
            costs = model.evaluate_batch(self.workload.layers[shape], self.chip, batch)
            kept = pareto_rows(costs.latency_cycles, costs.energy_nj)
            rows.append(rows_of(batch.take(kept), self.chip).tolist())
            latencies.append(costs.latency_cycles[kept])
            energies.append(costs.energy_nj[kept])
            context.progress(samples)
        sums = corners(latencies, energies, self.workload.counts)
        latency, energy, _ = min(sums, key=lambda corner: corner[0] * corner[1])
        context.progress(samples, latency * energy)
        return {
            "samples": samples,
            "best_value": latency * energy,
            "unit": "cycles * nJ",
            "latency": latency,
            "energy": energy,
            "rows": rows,
        }

    def _proposals(self, model: Any, rng: np.random.Generator) -> list[Tried]:
        """For each shape the mappings that agents propose for each aim."""
        from mapper.pretrained.policy_proposals import proposed
        from mapper.pretrained.problem_arrays import arrays_of
        from mapper.pretrained.weights import agents_of

        shapes = range(len(self.workload.layers))
        agents = agents_of(self.pretrained)
        found = [Tried() for _ in shapes]
        if agents is None:
            return found
        for aim in self.aims:
            problems = [self.workload.problem(shape, self.chip, aim, model) for shape in shapes]
            numbers = np.arange(self.budget // (len(problems) * len(self.aims)))
            batches = proposed(agents.weights, arrays_of(problems), numbers, rng)
            for shape, batch in enumerate(batches):
                found[shape].batches.append(batch)
                found[shape].samples += len(batch)
        return found

    @property
    def _searcher(self) -> tuple[str, int]:
        """The searcher of a list of levels, and its samples for each shape and aim."""
        return ("ga", SEARCHED) if self.pretrained == NONE else ("zero-shot", IMPROVED)

    def _searched(self, shape: int, model: Any) -> Tried:
        """Mappings of a shape on a list of levels that a searcher finds for each aim.

        Of each of its batches those stay that no other is below in latency and energy.
        """
        name, _ = self._searcher
        method = baselines.load(name, **({} if name == "ga" else {"pretrained": self.pretrained}))
        found = Tried()

        def keep(_actions: IntArray, looked: Evaluation) -> None:
            costs = looked.costs
            best = pareto_rows(costs.latency_cycles, costs.energy_nj)
            found.batches.append(looked.mappings.take(best))

        for aim in self.aims:
            problem = self.workload.problem(shape, self.chip, aim, model)
            if problem.why_empty() is None:
                problem.on_evaluate = keep
                each = self.budget // (len(self.workload.layers) * len(self.aims))
                found.samples += method.search(problem, each, self.seed).samples
        return found

    def _feasible(self, shape: int, tried: Tried, model: Any) -> Mappings:
        """Mappings of a shape, one of them feasible; where nothing that was tried is, of a search.

        Raises:
            NoMappingError: There is none.
        """
        layer = self.workload.layers[shape]
        if tried.samples:
            rows = np.concatenate([rows_of(batch, self.chip) for batch in tried.batches])
            whole: Mappings = batch_of(rows, self.chip)
            if len(whole) and model.evaluate_batch(layer, self.chip, whole).feasible.any():
                return whole
        problem = self.workload.problem(shape, self.chip, self.aims[0], model)
        why = problem.why_empty()
        if why is not None:
            raise NoMappingError(why)
        result = baselines.load("ga").search(problem, SEARCHED, self.seed)
        if result.best_action is None:
            raise NoMappingError(
                f"layer {layer.name!r}: no feasible mapping found on {label_of(self.chip)}"
            )
        tried.samples += problem.samples
        found: Mappings = problem.look(result.best_action[None]).mappings
        return found
