"""Which searches a comparison consists of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import baselines
import cost_models
from cost_models import Accelerator, load_chip, with_fields
from maestro_env import Objective
from mapper.search.problem_spec import ProblemSpec, accelerator_name
from mapper.search.search_run import SearchRun
from marl_common import value_of

AREA_LATENCY = 4.0
"""A search for area may be this much slower than the fastest the accelerator could be."""
AREA_NOTE = (
    "Area is searched together with the number of PEs (co_search=num_pes), under a latency limit "
    f"of {AREA_LATENCY:g} times the accelerator's bound: with the PEs fixed the array's area "
    "hardly depends on the mapping, and without a limit the smallest array always wins."
)


class CompareError(ValueError):
    """A comparison that cannot be made as asked."""


@dataclass(frozen=True)
class Method:
    """A searcher with options.

    Args:
        name: Its name in the registry, or ``module:Class``.
        options: Options that are not its defaults.
        missing: Why it cannot run here (an optional dependency is missing), or None.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    missing: str | None = None


@dataclass(frozen=True)
class Plan:
    """A comparison: every method on every problem with every seed.

    Args:
        problems: The problems.
        methods: The methods.
        budget: Samples a search.
        seeds: Seeds, the same for all.
    """

    problems: tuple[ProblemSpec, ...]
    methods: tuple[Method, ...]
    budget: int
    seeds: tuple[int, ...]

    def runs(self) -> Iterator[SearchRun]:
        """All searches; seed by seed, so that an interrupted comparison has whole rows early."""
        for seed in self.seeds:
            for problem in self.problems:
                for method in self.methods:
                    if method.missing is None:
                        yield SearchRun(problem, method.name, self.budget, seed, method.options)


def make_plan(
    layers: Sequence[str],
    objectives: Sequence[str],
    methods: Sequence[str],
    *,
    accelerator: str = "edge",
    sets: Sequence[str] = (),
    cost_model: str = "exact",
    budget: int = 20_000,
    seeds: int = 5,
    space: Mapping[str, Any] | None = None,
) -> Plan:
    """A plan from what a person writes.

    Args:
        layers: Layers as :func:`layers.parse` takes them; a name of a network is all its layers.
        objectives: Names of objectives.
        methods: Names of searchers, or ``module:Class``, each with options as ``ga:population=50``;
            ``all`` is every installed one but those that prove an optimum or take minutes.
        accelerator: A preset's name or a YAML file.
        sets: Fields of it as ``PATH=VALUE``.
        cost_model: Name of a cost model, with options as ``exact:energy=maestro``.
        budget: Samples a search.
        seeds: How many seeds, from 0.
        space: Options of the map space.

    Raises:
        CompareError: Nothing to compare, or a name that occurs twice.
        ValueError: An error of a layer, accelerator, objective, cost model or searcher.
    """
    for name, number in (("--budget", budget), ("--seeds", seeds)):
        if number < 1:
            raise CompareError(f"{name}: got {number}, expected a whole number of at least 1")
    named = [Objective.parse(objective).name for objective in objectives]
    problems = [
        problem
        for objective in _distinct("--objectives", named)
        for layer in _distinct("--layers", layers)
        for problem in _problems(layer, objective, (accelerator, sets), cost_model, space or {})
    ]
    _distinct("--layers", [one.layer_name for one in problems if one.objective == named[0]])
    return Plan(tuple(problems), tuple(_methods(methods)), budget, tuple(range(seeds)))


def _problems(
    layer: str,
    objective: str,
    hardware: tuple[str, Sequence[str]],
    cost_model: str,
    space: Mapping[str, Any],
) -> Iterator[ProblemSpec]:
    import layers

    accelerator, sets = hardware
    chip = with_fields(load_chip(accelerator), sets)
    model = cost_models.load(cost_model)
    options = dict(getattr(model, "options", {}))
    if layers.is_network(layer):
        found = [(f"{layer}.{i}", item) for i, item in enumerate(layers.network(layer))]
    elif layers.is_file(layer):
        found = [(item.name, item) for item in layers.layers_of(layer)]
    else:
        found = [(layer, layers.parse(layer))]
    called = accelerator_name(accelerator, sets=sets)
    for name, item in found:
        spec = ProblemSpec(item, name, chip, called, objective, model.name, options, space)
        yield _with_area_rules(spec) if "area" in objective.split("*") else spec.complete()


def _with_area_rules(spec: ProblemSpec) -> ProblemSpec:
    """Area with PE co-search and a latency limit, see `AREA_NOTE`."""
    bound = replace(spec, objective="latency").build().bound
    limits = {} if bound is None else {"max_latency_cycles": AREA_LATENCY * bound}
    space = dict(spec.space)
    if isinstance(spec.accelerator, Accelerator):  # of a list of levels the chip says the units
        space["co_search"] = ["num_pes"]
    return replace(spec, space=space, limits=limits).complete()


def _methods(texts: Sequence[str]) -> Iterator[Method]:

    names = []
    for text in _distinct("--methods", texts):
        names += _comparable() if text == "all" else [text]
    for text in dict.fromkeys(names):
        name, options = method_of(text)
        try:
            baselines.load(name, **options)
        except (baselines.SearcherError, ImportError) as error:
            if text in texts:  # asked for by name: say so now; through `all`: say so in the table
                raise
            yield Method(name, options, str(error))
        else:
            yield Method(name, options)


def _comparable() -> list[str]:
    """Every searcher but those that prove an optimum or take minutes: these are named."""
    found = []
    for name in baselines.names():
        try:
            capabilities = baselines.load(name).capabilities
            if capabilities.proves_optimum or capabilities.on_request:
                continue
        except (baselines.SearcherError, ImportError):
            pass  # named in the table with its reason
        found.append(name)
    return found


def method_of(text: str) -> tuple[str, dict[str, Any]]:
    """Name and options of a method: ``ga:population=50``, or ``mypackage.search:Mine:size=3``.

    Raises:
        CompareError: An option has another form, or comes twice.
    """
    name, *rest = text.split(":")
    if rest and "=" not in rest[0] and name not in baselines.names():
        name = f"{name}:{rest.pop(0)}"
    options = dict[str, Any]()
    for key, value in (_option(text, pair) for pair in rest):
        if key in options:
            raise CompareError(f"--methods: {text!r} gives {key} twice; give it once")
        options[key] = value
    return name, options


def _option(method: str, pair: str) -> tuple[str, Any]:
    key, equals, value = pair.partition("=")
    if not equals:
        raise CompareError(
            f"--methods: got {method!r}, expected NAME:OPTION=VALUE:OPTION=VALUE, or "
            "module:Class:OPTION=VALUE"
        )
    return key.replace("-", "_"), value_of(value)


def _distinct(option: str, values: Sequence[str]) -> Sequence[str]:
    """The values; none and doubles are mistakes."""
    if not values:
        raise CompareError(f"{option}: got nothing, expected at least one name")
    for value in values:
        if values.count(value) > 1:
            raise CompareError(f"{option}: {value!r} is there twice; name it once")
    return values
