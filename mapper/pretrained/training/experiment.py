"""A training as the runner and the store know it; its budget is counted in steps."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mapper.pretrained.policy import MappingPolicy
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.weights import Agents, PretrainedError, load, save
from marl_runs import Autosave, CheckpointFormat, Context, Experiment, gathered

if TYPE_CHECKING:
    from mapper.pretrained.network import Weights
    from mapper.pretrained.training.trainer import PolicyTrainer
    from marl_runs import Crew

FORMAT = CheckpointFormat("trained agents", 4)
AGENTS = "agents.safetensors"
"""The finished agents, in the run's folder."""
VALIDATIONS = 12
"""How often agents are measured during a training, evenly over its steps."""
VALIDATION = 40, 2000
"""Held-out problems, and samples of the search that gives the reference of each."""
CPU_MINUTES = 15
MOST_MINUTES = 10**6
"""Processor time that the default schedule takes at most on the reference machine [min]."""


def schedule_of(cpu_minutes: float) -> Schedule:
    """The schedule that takes about so much processor time on the reference machine.

    Raises:
        PretrainedError: `cpu_minutes` is not above 0, or beyond all measure.
    """
    if not 0 < cpu_minutes <= MOST_MINUTES:
        raise PretrainedError(
            f"--cpu-minutes: got {cpu_minutes}, expected a number above 0 and at most "
            f"{MOST_MINUTES:,}, such as 15"
        )
    return Schedule().scaled(cpu_minutes / CPU_MINUTES)


def check_trainable(cost_model: str) -> None:
    """Refuse a cost model for which agents cannot be trained, before anything is.

    Raises:
        CostModelError: There is no such model.
        PretrainedError: It cannot map what the agents choose, or not the layers they meet.
    """
    import cost_models
    from mapper.pretrained.training.random_problems import draw

    model = cost_models.load(cost_model)
    where, fix = f"--cost-model {cost_model}", "expected a model such as exact"
    repeated = cost_models.capabilities_of(model).repeated
    if repeated:
        raise PretrainedError(
            f"{where}: it only repeats the nest for {' and '.join(repeated)}, whose tiles the "
            f"agents choose; {fix}"
        )
    problem = draw(np.random.default_rng(0), model)
    try:
        problem.look(problem.space.sample(1, 0))
    except ValueError as error:
        raise PretrainedError(f"{where}: cannot map a training's layers ({error}); {fix}") from None


@dataclass(frozen=True)
class Pretraining(Experiment):
    """Training of one set of agents with one seed.

    Attributes:
        cost_model: Name of the cost model whose mappings are learnt.
        schedule: The stages.
        seed: Seeds everything.
        validation: Held-out problems, and samples of the search that gives their reference.
        begin: File of the agents that it goes on from; else from untrained ones.
        workers: Processes that share the sampling; the agents are the same with any number.
        ray_address: Share it on this Ray cluster instead.
    """

    kind: ClassVar[str] = "pretraining"
    continues: ClassVar[bool] = True
    counts: ClassVar[str] = "steps"
    before_first: ClassVar[str] = "nothing measured yet"

    cost_model: str = "exact"
    schedule: Schedule = field(default_factory=Schedule)
    seed: int = 0
    validation: tuple[int, int] = field(default_factory=lambda: VALIDATION)
    begin: str | None = None
    workers: int = 1
    ray_address: str | None = None

    @property
    def budget(self) -> int:  # type: ignore[override]  # it follows from the schedule
        """Steps of all stages."""
        return self.schedule.steps

    @property
    def name(self) -> str:
        """Cost model and length."""
        return f"agents for {self.cost_model}, {self.budget} steps, seed {self.seed}"

    def standing(self, best: float) -> str:
        """The validation's score as a ratio."""
        return f"{np.exp(best):.3f} x the best known on held-out problems"

    def spec(self) -> Mapping[str, Any]:
        """See :class:`Experiment`."""
        found = {
            "cost_model": self.cost_model,
            "schedule": asdict(self.schedule),
            "validation": list(self.validation),
        }
        if self.begin is not None:  # a training of before has none
            found["begin"] = hashlib.sha256(Path(self.begin).read_bytes()).hexdigest()
        return found

    def run(self, context: Context) -> Mapping[str, Any]:
        """Train; the agents lie in the run's folder afterwards."""
        import torch

        torch.set_num_threads(1)
        useful = min(self.workers, self.schedule.shards)
        with gathered(useful, self.ray_address) as crew:
            return self._train(context, crew)

    def _train(self, context: Context, crew: Crew) -> Mapping[str, Any]:
        import cost_models
        from mapper.pretrained.training.trainer import PolicyTrainer

        model = cost_models.load(self.cost_model)
        first = None if self.begin is None else load(self.begin).weights
        trainer = PolicyTrainer(model, self.schedule, self.seed, first, crew)
        course = _Course(trainer, self, context)
        autosave = Autosave(context, course, FORMAT)
        if autosave.resume():
            context.rewind(trainer.done)
        while trainer.done < self.budget:
            begin = time.process_time() + crew.cpu_s
            trainer.step()
            trainer.cpu_s += time.process_time() + crew.cpu_s - begin
            course.after_step()
            autosave.tick()
        path = context.folder / AGENTS
        agents, card = course.finish()
        save(path, Agents(agents, card))
        autosave.finish()
        return {"samples": self.budget, "best_value": course.score, "agents": str(path), **card}


class _Course:
    """Validates agents on the way."""

    def __init__(self, trainer: PolicyTrainer, plan: Pretraining, context: Context) -> None:
        from mapper.pretrained.training.validation import Validation

        self.trainer, self.plan, self.context = trainer, plan, context
        self.validation = Validation(trainer.model, *plan.validation)
        self.score = float("inf")
        self._every = max(1, plan.budget // VALIDATIONS)

    def after_step(self) -> None:
        """Measure if it is time to, and say how far the training is."""
        done, budget = self.trainer.done, self.plan.budget
        if done % self._every == 0 or done == budget:
            found = self.validation.measure(self.trainer.policy)
            for name, value in found.items():
                self.context.metric(name, value, done)
            self.context.metric("cpu_s", self.trainer.cpu_s, done)
            self.score = self.validation.score(found)
        self.context.progress(done, None if self.score == float("inf") else self.score)

    def finish(self) -> tuple[Weights, dict[str, Any]]:
        """The agents and their card."""
        trainer, weights = self.trainer, self.trainer.weights
        measured = self.validation.measure(MappingPolicy(weights), seed=1)
        return weights, {
            "cost_model": self.plan.cost_model,
            "seed": self.plan.seed,
            "schedule": asdict(self.plan.schedule),
            "parameters": int(sum(array.size for array in weights.values())),
            "cost_model_calls": trainer.calls,
            "cpu_minutes": round(trainer.cpu_s / 60, 2),
            "validation": measured,
            "trained_on": "random layers, chips and objectives; no shape of the zoo",
        }

    def state_dict(self) -> dict[str, Any]:
        """See :class:`marl_runs.Autosave`."""
        return {
            "trainer": self.trainer.state_dict(),
            "score": self.score,
            "reference": self.validation.reference,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See :class:`marl_runs.Autosave`."""
        self.trainer.load_state_dict(state["trainer"])
        self.score = state["score"]
        self.validation.reference = state["reference"]


def agents_file(folder: Path) -> Path:
    """Where a finished training's run keeps its agents."""
    return folder / AGENTS
