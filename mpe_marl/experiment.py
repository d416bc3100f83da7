"""A training run as the runner and the store know it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from marl_common import engineering
from marl_runs import Autosave, Context, Experiment, MetricBoard
from mpe_marl.replay import NEIGHBORS
from mpe_marl.train_config import TrainConfig

if TYPE_CHECKING:
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
        autosave = Autosave(context, trainer, FORMAT)
        if autosave.resume():
            context.rewind(len(trainer.history.rewards))
        with MetricBoard(self.log, f"{self.name} {self.identity().key[:8]}") as board:
            done = len(trainer.history.rewards)
            self._train(trainer, autosave, _Report(context, board, self.report_every, done))
        trainer.keep(context.folder)
        autosave.finish()
        return self._result(trainer)

    def _train(self, trainer: Trainer, autosave: Autosave, report: _Report) -> None:
        def on_step(trainer: Trainer) -> None:
            report(trainer)
            autosave.tick()

        trainer.run(self.budget, on_step)

    def _result(self, trainer: Trainer) -> Mapping[str, Any]:
        history = trainer.history
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

    def __init__(self, context: Context, board: MetricBoard, every: int, done: int) -> None:
        self._context, self._board, self._every = context, board, every
        self._reported = done - done % every  # a run that goes on reports where it would have
        self._start, self._first = time.monotonic(), done

    def __call__(self, trainer: Trainer) -> None:
        done = len(trainer.history.rewards)
        if done < self._reported + self._every:
            return
        mean = trainer.history.mean(done - self._reported)
        self._reported = done - done % self._every
        speed = (done - self._first) / max(time.monotonic() - self._start, 1e-9)
        metrics = {"mean_reward": mean, "episodes_per_s": speed, **trainer.history.losses}
        metrics |= {f"share.{k}": v for k, v in trainer.clock.shares().items()}
        for name, value in metrics.items():
            self._context.metric(name, value, done)
            self._board.add(name, value, done)
        self._context.progress(done, -mean)
