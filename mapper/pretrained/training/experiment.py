"""A training as the runner and the store know it; its budget is counted in steps."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.weights import Agents, PretrainedError, load, save
from marl_runs import Autosave, CheckpointFormat, Context, Experiment, gathered

FORMAT = CheckpointFormat("trained agents", 7)
AGENTS = "agents.safetensors"
"""The finished agents, in the run's folder."""
VALIDATIONS = 12
"""How often agents are measured during a training, evenly over its steps."""
VALIDATION = 40, 2000
"""Held-out problems, and samples of the search that gives the reference of each."""


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

        from mapper.pretrained.training.trainer import PolicyTrainer
        from mapper.pretrained.training.validation import Validation

        torch.set_num_threads(1)
        first = None if self.begin is None else load(self.begin).weights
        validation, score = Validation(self.cost_model, *self.validation), None
        every = max(1, self.budget // VALIDATIONS)
        with gathered(min(self.workers, self.schedule.shards), self.ray_address) as crew:
            trainer = PolicyTrainer(self.cost_model, self.schedule, self.seed, first, crew)
            autosave = Autosave(context, trainer, FORMAT)
            if autosave.resume():
                context.rewind(trainer.done)
            while trainer.done < self.budget:
                begin = time.process_time() + crew.cpu_s
                trainer.step()
                trainer.cpu_s += time.process_time() + crew.cpu_s - begin
                if trainer.done % every == 0 or trainer.done == self.budget:
                    found = validation.measure(trainer.weights)
                    for name, value in (found | {"cpu_s": trainer.cpu_s}).items():
                        context.metric(name, value, trainer.done)
                    score = validation.score(found)
                context.progress(trainer.done, score)
                autosave.tick()
        path, weights = context.folder / AGENTS, trainer.weights
        card = {
            "cost_model": self.cost_model,
            "seed": self.seed,
            "schedule": asdict(self.schedule),
            "parameters": sum(array.size for array in weights.values()),
            "cost_model_calls": trainer.calls,
            "cpu_minutes": round(trainer.cpu_s / 60, 2),
            "validation": validation.measure(weights, seed=1),
            "trained_on": "random layers, chips and objectives; no shape of the zoo",
        }
        save(path, Agents(weights, card))
        autosave.finish()
        return {"samples": self.budget, "best_value": score, "agents": str(path), **card}
