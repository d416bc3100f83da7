"""A training run as the runner and the store know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from marl_common import engineering
from marl_runs import Context, Experiment, training_session
from mast.config import MastConfig

if TYPE_CHECKING:
    from mast.trainer import MastTrainer

LAST = 3
"""Evaluations whose mean is a run's score."""


@dataclass(frozen=True)
class ValueTraining(Experiment):
    """Training of one configuration with one seed; the budget is in steps of the environment.

    Attributes:
        config: What is learnt how.
        seed: The seed.
        budget: Steps, of all worlds together.
        episodes: Greedy episodes of an evaluation.
        threads: Processor threads of the tensor library.
        log: ``"tensorboard:FOLDER"`` or ``"mlflow:FOLDER"``: a board draws metrics while it runs.
        keep_all: Keep the team of every evaluation, not of the best alone.
    """

    kind: ClassVar[str] = "mast"
    continues: ClassVar[bool] = True
    counts: ClassVar[str] = "steps"
    before_first: ClassVar[str] = "not evaluated yet"

    config: MastConfig = field(default_factory=MastConfig)
    seed: int = 0
    budget: int = 300_000
    episodes: int = 1024
    threads: int = 1
    log: str | None = None
    keep_all: bool = False

    @property
    def name(self) -> str:
        """Task, algorithm, arm, what else differs from the defaults, and seed."""
        c = self.config
        return f"{c.task} {c.algorithm} {c.label}{c.differing} seed {self.seed}"

    def spec(self) -> Mapping[str, Any]:
        """See :meth:`Experiment.spec`."""
        return {"config": self.config.plain(), "episodes": self.episodes}

    def standing(self, best: float) -> str:
        """The return as it is; what the store minimises is its negative."""
        return f"return {engineering(-best)}"

    def run(self, context: Context) -> Mapping[str, Any]:
        """See :meth:`Experiment.run`."""
        import torch

        from mast.kept import FORMAT, keep, keep_team

        torch.set_num_threads(self.threads)
        trainer = self.trainer(context)
        with training_session(
            self, context, trainer, FORMAT, lambda: trainer.progress.steps
        ) as session:

            def on_step(trainer: MastTrainer) -> None:
                progress = trainer.progress
                if progress.evaluated:
                    value = progress.evaluations[-1][1]
                    figures = {"return": value, "train_cpu_s": progress.cpu_s[-1]}
                    session.send(figures | progress.latest, progress.steps, -value)
                    keep_team(trainer, context.folder, self.keep_all)
                else:
                    context.progress(progress.steps)
                session.tick()

            trainer.run(on_step)
            keep(trainer, context.folder)
        return result_of(trainer)

    def trainer(self, context: Context) -> MastTrainer:
        """The trainer at its start."""
        from mast.trainer import MastTrainer

        return MastTrainer(self.config, self.budget, self.seed, self.episodes)


def result_of(trainer: MastTrainer) -> dict[str, Any]:
    """What a finished run gave, as JSON values."""
    from mast.flops import run_cost
    from mast.playing import q_gap

    progress, config = trainer.progress, trainer.config
    returns = [value for _, value in progress.evaluations]
    score = float(np.mean(returns[-LAST:]))
    cost = run_cost(config, trainer.worlds.shape, trainer.total, trainer.learner.widths)
    gaps = (
        list(q_gap(trainer.task, trainer.learner, trainer.scale))
        if trainer.task.endless is not None
        else []
    )
    return {
        "samples": progress.steps,
        "best_value": -score,
        "return": score,
        "returns": returns,
        "steps": [at for at, _ in progress.evaluations],
        "train_cpu_s": list(progress.cpu_s),
        "updates": progress.updates,
        "episodes": progress.episodes,
        "sparsity": trainer.learner.sparsity,
        "q_gap": float(np.median(gaps)) if gaps else None,
        "reward_mean": trainer.scale.mean,
        "reward_sd": trainer.scale.deviation,
        **cost.plain(),
    }
