"""One searcher on one problem with one budget and one seed, as an experiment of the runner."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from common import engineering
from runs import Context, Experiment

if TYPE_CHECKING:
    from cost_models import Accelerator
    from layers import Layer
    from maestro_env import Problem

KIND = "search"
WARM_UP_SAMPLES = 300
"""Enough to reach every part of a searcher that is compiled or imported late."""
WARM_UP_CAPPED = 8
"""The same for searchers whose own cost grows fast (those with a cap on samples)."""

_warm: set[tuple[str, str]] = set()
"""Pairs of method and cost model that this process has imported and compiled already."""


@dataclass(frozen=True)
class ProblemSpec:
    """The definition of a :class:`maestro_env.Problem` as plain values, with what tables call it.

    Args:
        layer: The layer.
        layer_name: What tables call it, such as ``mobilenetv2.2``.
        accelerator: The accelerator.
        accelerator_name: What tables call it, such as ``edge``.
        objective: Name of the objective.
        cost_model: Name of the cost model.
        cost_model_options: Options of the cost model, all of them; none stand for those that were
            the defaults before they were recorded.
        space: Options of the map space.
        limits: Limits such as ``{"max_latency_cycles": 1e6}``.
    """

    layer: Layer
    layer_name: str
    accelerator: Accelerator
    accelerator_name: str
    objective: str
    cost_model: str = "exact"
    cost_model_options: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    def build(self) -> Problem:
        """The problem, with fresh counters.

        Raises:
            ValueError: An error of the layer, cost model, space, objective or limits.
        """
        import cost_models
        from maestro_env import Problem

        options = self.cost_model_options or cost_models.EARLIER_OPTIONS.get(self.cost_model, {})
        return Problem(
            self.layer,
            self.accelerator,
            self.objective,
            cost_models.load(self.cost_model, **options),
            dict(self.space),
            dict(self.limits),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; :meth:`from_dict` reads them."""
        import layers

        return asdict(self) | {
            "layer": layers.to_fields(self.layer),
            "accelerator": self.accelerator.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProblemSpec:
        """The problem of a stored run.

        Raises:
            ValueError: The values are not those of :meth:`to_dict`.
        """
        from cost_models import Accelerator

        try:
            values = dict(data)
            values["layer"] = layer_of(values["layer"])
            values["accelerator"] = Accelerator.from_dict(values["accelerator"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise ValueError(f"problem of a stored run: {error}; the store is damaged") from None


def layer_of(fields: Mapping[str, Any]) -> Layer:
    """The layer of :func:`layers.to_fields`.

    Raises:
        LayerError: The fields make no layer.
        KeyError: Name or kind is missing.
    """
    import layers

    values = dict(fields)
    return layers.from_fields(values.pop("name"), values.pop("kind"), values)


@dataclass(frozen=True)
class SearchRun(Experiment):
    """One search.

    Args:
        problem: What is searched.
        method: Name of a searcher.
        budget: Samples it may spend.
        seed: Its seed.
        options: Options of the searcher that are not its defaults.
    """

    kind: ClassVar[str] = KIND
    problem: ProblemSpec
    method: str
    budget: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What tables call the method, such as ``ga`` or ``ga:population=50``."""
        return ":".join([self.method, *(f"{key}={value}" for key, value in self.options.items())])

    @property
    def name(self) -> str:
        """Such as ``ga on mobilenetv2.2, edp, exact on edge, seed 3``."""
        spec = self.problem
        return (
            f"{self.label} on {spec.layer_name}, {spec.objective}, "
            f"{spec.cost_model} on {spec.accelerator_name}, seed {self.seed}"
        )

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`; holds the searcher's whole config, defaults included."""
        return {
            "problem": self.problem.to_dict(),
            "method": self.method,
            "options": dict(self.options),
            "label": self.label,
            "config": _config(self.method, json.dumps(dict(self.options))),
        }

    def prepare(self) -> None:
        """Import and compile what the search needs, once a process, by a search that is not kept.

        So the run's processor time is that of the search, whichever run comes first.
        """
        if (self.method, self.problem.cost_model) in _warm:
            return
        import baselines

        problem = self.problem.build()
        with contextlib.suppress(Exception):  # a fault shows up, and is recorded, in the run itself
            searcher = baselines.load(self.method, **self.options)
            capped = searcher.capabilities.max_samples is not None
            samples = WARM_UP_CAPPED if capped else WARM_UP_SAMPLES
            searcher.search(problem, min(self.budget, samples), self.seed)
        _warm.add((self.method, self.problem.cost_model))

    def standing(self, best: float) -> str:
        """See :meth:`Experiment.standing`."""
        from maestro_env import Objective

        return f"best {engineering(best, Objective.parse(self.problem.objective).unit, digits=4)}"

    def run(self, context: Context) -> dict[str, Any]:
        """Search, recording every sample.

        Only the samples of a search that enumerates the space are not kept: they may be hundreds of
        millions, and the space says what they are.
        """
        import baselines

        problem = self.problem.build()
        searcher = baselines.load(self.method, **self.options)
        enumerates = searcher.capabilities.proves_optimum
        problem.on_evaluate = (
            (lambda _actions, _evaluation: context.progress(problem.samples, problem.best_value))
            if enumerates
            else (lambda actions, evaluation: context.record(actions, evaluation.values))
        )
        found = searcher.search(problem, self.budget, self.seed)
        result: dict[str, Any] = {
            "samples": found.samples,
            "best_value": found.best_value,
            "unit": problem.objective.unit,
            "feasible_samples": problem.feasible_samples,
            "curve": [[n, value] for n, value in found.improvements],
            "bound": problem.bound,
            "samples_kept": not enumerates,
            "proves_optimum": enumerates and found.samples < self.budget,
        }
        if found.best_action is not None:
            result |= _describe_best(problem, found.best_action)
        return result


@lru_cache
def _config(method: str, options: str) -> dict[str, Any]:
    """The whole config of a searcher; finding one takes milliseconds, and tables ask often."""
    import baselines

    return asdict(baselines.load(method, **json.loads(options)).config)


def _describe_best(problem: Problem, action: Any) -> dict[str, Any]:
    """The best mapping and its figures."""
    from cost_models import FIGURES

    evaluation = problem.look(action[None])
    cost = evaluation.costs[0]
    return {
        "best_action": [int(choice) for choice in action],
        "best_mapping": evaluation.mappings[0].to_dict(),
        "best_figures": {name: getattr(cost, name) for name in FIGURES},
    }
