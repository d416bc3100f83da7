"""A training from start to file: progress, validation, checkpoints, and the best agents at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from common import atomic_write
from cost_models import CostModel
from mapper.pretrained.network import Weights
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.trainer import Schedule, Trainer
from mapper.pretrained.training.validation import Validation
from mapper.pretrained.weights import Agents, PretrainedError, save

CHECKPOINT_S = 60.0
VALIDATIONS = 24
"""How often agents are measured during a training, evenly over its steps."""
STEPS_PER_CPU_MINUTE = 230
"""Steps that a processor of the reference machine does in a minute, all stages together."""
NOTE_S = 5.0


def schedule_of(cpu_minutes: float) -> Schedule:
    """The schedule that takes about so much processor time on the reference machine.

    Raises:
        PretrainedError: `cpu_minutes` is not above 0.
    """
    if not cpu_minutes > 0 or not np.isfinite(cpu_minutes):
        raise PretrainedError(
            f"--cpu-minutes: got {cpu_minutes}, expected a number above 0, such as 15"
        )
    plan = Schedule()
    return plan.scaled(cpu_minutes * STEPS_PER_CPU_MINUTE / plan.steps)


class Session:
    """One training that can be stopped and continued.

    Args:
        model: The cost model.
        schedule: What is done.
        seed: Seeds everything.
        out: File of the agents; beside it lie a checkpoint while training goes on (``.part``) and
            the validation curve (``.csv``).
        say: Takes a line of progress.
        stopping: Whether the person asked to stop.
    """

    def __init__(
        self,
        model: CostModel,
        schedule: Schedule,
        seed: int,
        out: Path,
        say: Callable[[str], None],
        stopping: Callable[[], bool],
    ) -> None:
        torch.set_num_threads(1)
        self.schedule, self.seed, self.out = schedule, seed, out
        self.say, self.stopping = say, stopping
        self.trainer = Trainer(model, schedule, seed)
        self.validation = Validation.build(model)
        self.curve: list[dict[str, float]] = []
        self.best: tuple[float, Weights] | None = None
        self._last = self._noted = time.monotonic()

    @property
    def part(self) -> Path:
        """The checkpoint of a training that is not finished."""
        return self.out.with_name(self.out.name + ".part")

    def run(self) -> bool:
        """Train to the end, or until the person stops; returns whether it finished."""
        if self.part.exists():
            self._resume()
        plan, trainer = self.schedule, self.trainer
        every = max(1, plan.steps // VALIDATIONS)
        while trainer.done < plan.steps:
            begin = time.process_time()
            figures = trainer.step()
            trainer.cpu_s += time.process_time() - begin
            if trainer.done % every == 0 or trainer.done == plan.steps:
                self._validate()
            self._note(figures)
            if self.stopping():
                self._checkpoint()
                return False
            if time.monotonic() - self._last > CHECKPOINT_S:
                self._checkpoint()
        self._finish()
        return True

    def _validate(self) -> None:
        trainer = self.trainer
        found = self.validation.measure(trainer.proposer)
        self.curve.append({"step": trainer.done, "cpu_s": round(trainer.cpu_s, 1), **found})
        score = self.validation.score(found)
        # the last stage alone is chosen from: an earlier one has not seen all there is to see
        refining = trainer.done > self.schedule.steps - self.schedule.refine_steps
        if refining and (self.best is None or score < self.best[0]):
            self.best = (score, trainer.weights)
        self.say(
            f"step {trainer.done:,} of {self.schedule.steps:,}, {trainer.cpu_s / 60:.1f} CPU min: "
            f"best of 1 / 16 / 100 over the best known, 90th percentile "
            f"{found['p90_1']:.3f} / {found['p90_16']:.3f} / {found['p90_100']:.3f}"
        )

    def _note(self, figures: dict[str, float]) -> None:
        if time.monotonic() - self._noted < NOTE_S:
            return
        self._noted = time.monotonic()
        stage = ("", "policy gradient", "imitation", "refining")[int(figures["stage"])]
        self.say(f"step {self.trainer.done:,} of {self.schedule.steps:,}, {stage}")

    def _finish(self) -> None:
        weights = self.trainer.weights if self.best is None else self.best[1]
        save(self.out, Agents(weights, self._card(weights), self.trainer.proposer.sees))
        with atomic_write(self.out.with_suffix(".csv")) as draft:
            names = list(self.curve[0]) if self.curve else []
            lines = [",".join(names), *(",".join(f"{r[n]:.6g}" for n in names) for r in self.curve)]
            draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.part.unlink(missing_ok=True)

    def _card(self, weights: Weights) -> dict[str, Any]:
        proposer = Proposer(weights, self.trainer.proposer.sees)
        return {
            "cost_model": self.trainer.model.name,
            "seed": self.seed,
            "schedule": asdict(self.schedule),
            "parameters": int(sum(array.size for array in weights.values())),
            "cost_model_calls": self.trainer.calls,
            "cpu_minutes": round(self.trainer.cpu_s / 60, 2),
            "validation": self.validation.measure(proposer, seed=1),
            "trained_on": "random layers, chips and objectives; no shape of the zoo",
        }

    def _state(self) -> dict[str, Any]:
        best = {} if self.best is None else {
            name: torch.from_numpy(array) for name, array in self.best[1].items()
        }
        return {
            "schedule": asdict(self.schedule),
            "seed": self.seed,
            "trainer": self.trainer.state_dict(),
            "curve": self.curve,
            "best_score": None if self.best is None else self.best[0],
            "best": best,
            "reference": torch.from_numpy(self.validation.reference),
        }

    def _checkpoint(self) -> None:
        self._last = time.monotonic()
        with atomic_write(self.part) as draft:
            torch.save(self._state(), draft)

    def _resume(self) -> None:
        try:
            state = torch.load(self.part, weights_only=True)
            same = state["schedule"] == asdict(self.schedule) and state["seed"] == self.seed
        except Exception as error:
            raise PretrainedError(
                f"{self.part}: no checkpoint of a training ({type(error).__name__}); remove it to "
                "start anew"
            ) from None
        if not same:
            raise PretrainedError(
                f"{self.part}: belongs to a training with another schedule or seed; give the same "
                "options, or remove it to start anew"
            )
        self.trainer.load_state_dict(state["trainer"])
        self.curve = state["curve"]
        self.validation.reference = state["reference"].numpy()
        if state["best_score"] is not None:
            weights = {name: array.numpy() for name, array in state["best"].items()}
            self.best = (state["best_score"], weights)
        self.say(f"continuing at step {self.trainer.done:,}")
