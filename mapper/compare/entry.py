"""What the store knows about each search of a comparison."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cost_models import recorded_options
from maestro_env import MapSpace
from mapper.compare.plan import Plan
from mapper.search.search_run import KIND, SearchRun
from marl_runs import RunStatus, Store, StoredRun, plain, told_apart


@dataclass(frozen=True)
class ComparedCase:
    """What methods are compared on.

    Args:
        objective: Name of the objective.
        layer: Name of the layer; with the space's options where they are not the defaults.
    """

    objective: str
    layer: str


@dataclass(frozen=True)
class Board:
    """What one set of tables is about.

    Args:
        cost_model: Name of the cost model.
        accelerator: Name of the accelerator.
        budget: Samples a search.
    """

    cost_model: str
    accelerator: str
    budget: int

    def __str__(self) -> str:
        return (
            f"cost model {self.cost_model}, accelerator {self.accelerator}, {self.budget:,} samples"
        )


@dataclass(frozen=True)
class ComparedRun:
    """One search, done or not.

    Args:
        board: Cost model, accelerator and budget.
        case: Layer and objective.
        method: What tables call the method.
        seed: The seed.
        state: ``finished``, or why there is no value: ``failed``, ``interrupted``, ``running``,
            ``killed``, ``missing``.
        note: More about the state, such as an error's first line.
        run_id: Number in the store; None if it is missing.
        samples: Samples spent.
        best: Best value; None without a feasible sample.
        cpu_s: Processor time of the search [s].
        curve: Every improvement ``(n, best so far)``.
        bound: Physical lower bound of the objective, or None.
        proved: Whether `best` is the proven optimum of the space.
        problem: Fingerprint of the problem, see :func:`fingerprint`.
    """

    board: Board
    case: ComparedCase
    method: str
    seed: int
    state: str
    note: str = ""
    run_id: int | None = None
    samples: int = 0
    best: float | None = None
    cpu_s: float | None = None
    curve: tuple[tuple[int, float], ...] = ()
    bound: float | None = None
    proved: bool = False
    problem: str = ""

    @property
    def finished(self) -> bool:
        """Whether the search was done to its end."""
        return self.state == RunStatus.FINISHED


Optima = dict[str, float]
"""Proven optima by the fingerprint of their problem."""


def collect(plan: Plan, store: Store) -> list[ComparedRun]:
    """An entry for every search of the plan, methods that cannot run here included."""
    stored = {run.key: run for run in store.runs(kind=KIND)}
    entries = []
    for run in plan.runs():
        found = stored.get(run.identity().key)
        entries.append(_missing(run, "") if found is None else of_stored(found))
    for method in plan.methods:
        if method.missing is not None:
            entries += [
                _missing(SearchRun(problem, method.name, plan.budget, seed), method.missing)
                for seed in plan.seeds
                for problem in plan.problems
            ]
    return entries


def of_stored(run: StoredRun) -> ComparedRun:
    """The entry of a stored search."""
    result: dict[str, Any] = run.result or {}
    curve = tuple((int(n), float(value)) for n, value in result.get("curve", ()))
    return ComparedRun(
        *place_of(run.spec["problem"], run.budget),
        method=run.spec["label"],
        seed=run.seed,
        state=run.standing,
        note=(run.error or "").partition("\n")[0],
        run_id=run.id,
        samples=run.samples,
        best=run.best_value,
        cpu_s=run.cpu_s,
        curve=curve,
        bound=result.get("bound"),
        proved=bool(result.get("proves_optimum")),
        problem=fingerprint(run.spec["problem"]),
    )


def entries_of(runs: Sequence[StoredRun]) -> list[ComparedRun]:
    """An entry for each stored search.

    Where searches of several problems have the same names, as of a chip's file that was edited in
    between, the case of each says what differs.
    """
    entries = [of_stored(run) for run in runs]
    alike: dict[tuple[Board, ComparedCase], list[int]] = {}
    for place, entry in enumerate(entries):
        alike.setdefault((entry.board, entry.case), []).append(place)
    for (_, case), places in alike.items():
        labels = told_apart([_settings(runs[place].spec["problem"]) for place in places])
        for place, label in zip(places, labels, strict=True):
            if label:
                named = replace(case, layer=f"{case.layer}, {label}")
                entries[place] = replace(entries[place], case=named)
    return entries


def _settings(problem: Mapping[str, Any]) -> dict[str, Any]:
    """What a problem is but for names, and for the space, which a case tells."""
    parts = _nameless(problem) | {"cost_model_options": recorded_options(problem), "space": {}}
    levels = parts["accelerator"].get("levels")
    if isinstance(levels, list):
        parts["accelerator"] |= {"levels": {level["name"]: level for level in levels}}
    return parts


def _missing(run: SearchRun, note: str) -> ComparedRun:
    problem = run.problem.to_dict()
    return ComparedRun(
        *place_of(problem, run.budget), method=run.label, seed=run.seed, state="missing", note=note,
        problem=fingerprint(problem),
    )  # fmt: skip


def fingerprint(problem: Mapping[str, Any]) -> str:
    """What tells a problem from all others, whatever it, its layer and its chip are called.

    Args:
        problem: As :meth:`ProblemSpec.to_dict` gives it.
    """
    return hashlib.sha256(json.dumps(_nameless(problem), sort_keys=True).encode()).hexdigest()


def _nameless(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem's JSON values without what it, its layer and its chip are called."""
    given: dict[str, Any] = plain(dict(problem))
    parts = {name: value for name, value in given.items() if not name.endswith("_name")}
    for name in ("layer", "accelerator"):
        parts[name] = {field: value for field, value in parts[name].items() if field != "name"}
    return parts


def place_of(problem: dict[str, Any], budget: int) -> tuple[Board, ComparedCase]:
    """Board and case of a problem as :meth:`ProblemSpec.to_dict` gives it."""
    board = Board(problem["cost_model"], problem["accelerator_name"], budget)
    expected = _default_space()
    if "area" in problem["objective"].split("*"):
        expected["co_search"] = ["num_pes"]
    given = plain(problem["space"])
    if _same_dims(given.get("parallel"), expected["parallel"]):
        del given["parallel"]
    space = {k: v for k, v in given.items() if v != expected.get(k)}
    options = "".join(f" {key}={_short(value)}" for key, value in sorted(space.items()))
    return board, ComparedCase(problem["objective"], problem["layer_name"] + options)


def _default_space() -> dict[str, Any]:
    """Options of a map space that a table does not mention."""
    parameters = inspect.signature(MapSpace).parameters.values()
    given = {p.name: plain(p.default) for p in parameters if p.default is not p.empty}
    return {name: {} if value is None else value for name, value in given.items()}


def _same_dims(given: str | None, default: str) -> bool:
    """Whether dimensions are the default ones but for those that a layer does not have."""
    return given is not None and set(given) - set("NG") == set(default) - set("NG")


def _short(value: Any) -> str:
    """A value as text, a long one as its fingerprint."""
    text = str(value)
    return text if len(text) <= 20 else "#" + hashlib.sha256(text.encode()).hexdigest()[:6]


def optima(entries: Iterable[ComparedRun]) -> Optima:
    """The proven optima among searches with any budget."""
    found: Optima = {}
    for entry in entries:
        if entry.proved and entry.finished and entry.best is not None:
            found[entry.problem] = min(entry.best, found.get(entry.problem, entry.best))
    return found


def boards(entries: Iterable[ComparedRun]) -> dict[Board, list[ComparedRun]]:
    """The entries of each board, in the order they appear."""
    found: dict[Board, list[ComparedRun]] = {}
    for entry in entries:
        found.setdefault(entry.board, []).append(entry)
    return found
