"""The proof of one layer's optimum on one design, as an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import baselines
from cost_models import Accelerator, Chain
from maestro_env import Objective
from mapper.explore.design_run import Workload
from mapper.explore.design_space import label_of, nameless
from mapper.explore.mapping_rows import batch_of, row_of
from marl_common import engineering
from marl_runs import Context, Experiment


@dataclass(frozen=True)
class ShapeProof(Experiment):
    """What no mapping of a shape on a chip goes below, and the best mapping.

    Args:
        workload: The shape alone.
        chip: The design.
        aim: Name of the objective.
        timeout: Time that the proof may take [s].
        start: A mapping to start from; it changes how long the proof takes, not what it proves.
        seed: Not used; proofs draw nothing.
        budget: Not used; one proof.
    """

    kind: ClassVar[str] = "explore-proof"
    counts: ClassVar[str] = "proofs"
    workload: Workload
    chip: Accelerator | Chain
    aim: str
    timeout: float
    start: tuple[int, ...]
    seed: int = 0
    budget: int = 1

    @property
    def name(self) -> str:
        """Such as ``proof of resnet18.conv1, edp, 256 PEs, L1 512 B, ...``."""
        return f"proof of {self.workload.layers[0].name}, {self.aim}, {label_of(self.chip)}"

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`."""
        return {
            **self.workload.spec(),
            "chip": nameless(self.chip),
            "aim": self.aim,
            "timeout": self.timeout,
        }

    def standing(self, best: float) -> str:
        """See :meth:`Experiment.standing`."""
        return f"best {engineering(best, Objective.parse(self.aim).unit, 4)}"

    def run(self, context: Context) -> dict[str, Any]:
        """Prove it.

        Returns:
            ``bound`` and ``status`` of the proof, and the best mapping as ``rows``.
        """
        model = self.workload.model()
        problem = self.workload.problem(0, self.chip, self.aim, model)
        start: Any = batch_of(np.array([self.start]), self.chip)[0]
        proof = baselines.prove(
            problem,
            start=start,
            timeout=self.timeout,
            progress=lambda step: context.progress(0, step.value),
        )
        best = start if proof.mapping is None else proof.mapping
        rows = row_of(best, problem.layer, self.chip)
        return {
            "samples": 1,
            "boxes": proof.counts.boxes,
            "seconds": proof.seconds,
            "best_value": proof.value,
            "unit": problem.objective.unit,
            "bound": min(proof.bound, proof.value),
            "status": proof.status,
            "rows": rows.tolist(),
        }
