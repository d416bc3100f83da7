"""A training run as the runner and the store know it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from marl_common import engineering
from marl_runs import Context, Experiment, TrainingSession, training_session
from mpe_marl.replay import NEIGHBORS
from mpe_marl.train_config import TrainConfig

if TYPE_CHECKING:
    from marl_runs import StoredRun
    from mpe_marl.trainer import Trainer


@dataclass(frozen=True)
class Training(Experiment):
    """Training of one configuration with one seed; the budget is in episodes.

    Attributes:
        config: What to train on what.
        seed: The seed.
        budget: Episodes.
        report_every: Episodes between two reports.
        replay_dir: Folder for a memory-mapped replay store when memory is short.
        threads: Processor threads of the tensor library.
        log: ``"tensorboard:FOLDER"`` or ``"mlflow:FOLDER"``: a board draws metrics while it runs.
    """

    kind: ClassVar[str] = "mpe"
    continues: ClassVar[bool] = True
    counts: ClassVar[str] = "episodes"

    config: TrainConfig = field(default_factory=TrainConfig)
    seed: int = 0
    budget: int = 60_000
    report_every: int = 100
    replay_dir: str | None = None
    threads: int = 1
    log: str | None = None

    @property
    def name(self) -> str:
        """World, size, algorithm, and how it learns (law, layout, mode) or what is played."""
        c = self.config
        size = f"/{c.n_agents}" if ":" not in c.world else ""
        law = c.law if c.neighbors == NEIGHBORS else f"{c.law}{c.neighbors}"
        mode = c.learner.mode + "-one" * c.learner.share_parameters
        how = f"{law}-{c.layout}-{mode}-{c.batch}"
        if c.learner.on_policy:
            how = f"{c.n_worlds}-{c.update_every}-{c.batch}"
        return f"{c.world}{size} {c.learner.algorithm} {how} seed {self.seed}"

    def spec(self) -> Mapping[str, Any]:
        """See :meth:`Experiment.spec`."""
        return {"config": self.config.plain(), "report_every": self.report_every}

    def standing(self, best: float) -> str:
        """The mean reward as it is; what the store minimises is its negative."""
        return f"mean reward {engineering(-best)}"

    def run(self, context: Context) -> Mapping[str, Any]:
        """See :meth:`Experiment.run`."""
        import torch

        from mpe_marl.checkpoint import FORMAT
        from mpe_marl.trainer import Trainer

        torch.set_num_threads(self.threads)
        trainer = Trainer(self.config, self.seed, self.replay_dir)
        history = trainer.history
        with training_session(
            self, context, trainer, FORMAT, lambda: len(history.rewards)
        ) as session:
            report = _Report(session, self.report_every, len(history.rewards))
            trainer.run(self.budget, report)
            trainer.keep(context.folder)
        last = max(1, self.budget // 10)
        return {
            "samples": len(history.rewards),
            "best_value": -history.mean(last),
            "mean_reward": history.mean(last),
            "mean_over": last,
            "transitions": history.samples,
            "updates": history.updates,
            "phase_shares": trainer.clock.shares(),
            "episodes_per_s": len(history.rewards) / trainer.clock.total,
        }


class _Report:
    """Sends mean reward, speed and phase shares at every multiple of so many episodes."""

    def __init__(self, session: TrainingSession, every: int, done: int) -> None:
        self._session, self._every = session, every
        self._reported = done - done % every  # a run that goes on reports where it would have
        self._start, self._first = time.monotonic(), done

    def __call__(self, trainer: Trainer) -> None:
        if len(trainer.history.rewards) >= self._reported + self._every:
            self._send(trainer)
        self._session.tick()

    def _send(self, trainer: Trainer) -> None:
        done = len(trainer.history.rewards)
        mean = trainer.history.mean(done - self._reported)
        self._reported = done - done % self._every
        speed = (done - self._first) / max(time.monotonic() - self._start, 1e-9)
        metrics = {"mean_reward": mean, "episodes_per_s": speed, **trainer.history.losses}
        metrics |= {f"share.{k}": v for k, v in trainer.clock.shares().items()}
        self._session.send(metrics, done, -mean)


def run_row(run: StoredRun) -> dict[str, Any]:
    """A run as a row of the table of trained runs; shares of phases in percent."""
    result = run.result or {}
    shares = result.get("phase_shares", {})
    return {
        "run": run.id, "name": run.name, "status": str(run.standing),
        "updates": result.get("updates"), "mean reward": result.get("mean_reward"),
        "episodes/s": result.get("episodes_per_s"),
        **{f"{k} %": 100 * v for k, v in shares.items()},
    }  # fmt: skip
