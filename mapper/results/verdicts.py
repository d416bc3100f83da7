"""Whether stored results hold: every best mapping is evaluated again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import layers
from cost_models import CHAINS, FIGURES, PRESETS, RetiredOptionError, mapping_from
from maestro_env import Evaluation, Objective, on_its_chip
from mapper.results.search_fields import ResultFields
from mapper.search.problem_spec import ProblemSpec
from mapper.search.search_run import KIND, name_of
from marl_runs import DamagedRun, RunStatus, Store, StoredRun, StoreError, key_of

RANDOM = 2_000
"""Random mappings that are looked at where none is said to be feasible."""
TOLERANCE = 1e-12
"""Largest relative difference between a stored value and the same one on another machine."""


@dataclass(frozen=True)
class Verdict:
    """One stored search, checked.

    Args:
        run: The run.
        stored: Its best value as stored; None where it found no feasible mapping.
        again: The value of its best mapping now.
        fault: What does not hold; empty where all does.
        unknown: Why it is not evaluated again; empty where it is.
    """

    run: StoredRun | DamagedRun
    stored: float | None
    again: float | None
    fault: str
    unknown: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the result can be made again; None where nobody can tell."""
        return None if self.unknown else not self.fault


def validate(store: Store, run: str | None = None) -> Iterator[Verdict]:
    """Check the finished searches of a store, or one of them.

    A result holds if its best action and its best mapping both have the stored value and figures
    now, and if the stored samples are as many as it says, with its curve of values.

    Raises:
        StoreError: The store's file is damaged, or the run is not in it, or is no finished search.
    """
    store.check_file()
    if run is None:
        runs = store.runs(kind=KIND, status=RunStatus.FINISHED)
        for damaged in store.damaged():
            yield Verdict(damaged, None, None, f"its row is damaged: {damaged.why}")
    else:
        runs = [store.run(run)]
        if runs[0].kind != KIND or runs[0].status is not RunStatus.FINISHED:
            raise StoreError(
                f"run {runs[0].id}: is a {runs[0].status} {runs[0].kind}, expected a finished "
                f"{KIND}; `mapper runs list` shows them"
            )
    for found in runs:
        yield _check(store, found)


def _check(store: Store, run: StoredRun) -> Verdict:
    from mapper.results.search_fields import check_search

    try:
        result = check_search(run)
        looked = _look_again(run, result)
        again = None if looked is None else float(looked.values[0])
        fault = (
            _identity_fault(run)
            or _difference(run.best_value, again)
            or _figure_fault(run, result, looked)
            or _sample_fault(store, run, result)
            or _nothing_fault(run, result)
        )
    except RetiredOptionError as error:
        return Verdict(run, run.best_value, None, "", f"not replayed: made with {error.chosen}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Verdict(run, run.best_value, None, f"{type(error).__name__}: {error}")
    return Verdict(run, run.best_value, again, fault)


def _identity_fault(run: StoredRun) -> str:
    """What of a run's key and name is not what its definition gives."""
    if key_of(run.kind, run.spec, run.seed, run.budget) != run.key:
        return "its definition is not the one that its key stands for"
    spec = ProblemSpec.from_dict(run.spec["problem"])
    if name_of(run.spec["label"], spec, run.seed) != run.name:
        return "its name is not the one that its definition gives"
    known = PRESETS.get(spec.accelerator_name) or CHAINS.get(spec.accelerator_name)
    if known is not None and on_its_chip(known, spec.space)[0] != spec.accelerator:
        return f"its chip is not the library's {spec.accelerator_name}"
    try:
        layer = layers.get(spec.layer_name)
    except layers.LayerError:
        return ""
    same = replace(layer, name=spec.layer.name) == spec.layer
    return "" if same else f"its layer is not the zoo's {spec.layer_name}"


def _nothing_fault(run: StoredRun, result: ResultFields[Any]) -> str:
    """Where no mapping was found: a random mapping that is feasible, and no sample says it is."""
    if run.best_value is not None or (result.empty is None and result.samples_kept):
        return ""
    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    values = problem.look(problem.space.sample(RANDOM, 0)).values
    found = np.isfinite(values).any() or (result.empty is not None and problem.why_empty() is None)
    return "no mapping is said to be feasible, but the problem has some" if found else ""


def _look_again(run: StoredRun, result: ResultFields[Any]) -> Evaluation | None:
    """What the best action is worth; None where the search found none."""
    if result.best_action is None or result.best_mapping is None:
        return None
    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    looked = problem.look(np.array([result.best_action]))
    if looked.mappings[0] != mapping_from((run.result or {})["best_mapping"]):
        raise StoreError("the best action stands for another mapping than the stored one")
    return looked


def _difference(stored: float | None, again: float | None) -> str:
    if stored is None and again is None:
        return ""
    if stored is None or again is None or not math.isclose(stored, again, rel_tol=TOLERANCE):
        return f"the best mapping's value is {again!r} now"
    return ""


def _figure_fault(run: StoredRun, result: ResultFields[Any], looked: Evaluation | None) -> str:
    """A figure of the best mapping that is another now, or a unit that is not the objective's."""
    unit = Objective.parse(run.spec["problem"]["objective"]).unit
    if result.unit not in ("", unit):
        return f"its unit is {result.unit!r}, the objective's is {unit!r}"
    if looked is None:
        return ""
    for name, stored in (result.best_figures or {}).items():
        now = float(getattr(looked.costs[0], name)) if name in FIGURES else math.nan
        if not math.isclose(math.inf if stored is None else stored, now, rel_tol=TOLERANCE):
            return f"the best mapping's {name} is {now!r} now"
    return ""


def _sample_fault(store: Store, run: StoredRun, result: ResultFields[Any]) -> str:
    """A count, a value or a curve that is not that of the stored samples."""
    counted = (result.samples, result.best_value)
    if counted != (run.samples, run.best_value):
        return f"its result says {counted}, its row {(run.samples, run.best_value)}"
    _, values = store.samples(run.id)
    if run.samples > run.budget or result.samples_kept != (len(values) == run.samples):
        return f"{len(values)} samples are stored, {run.samples} counted, {run.budget} allowed"
    if not result.samples_kept:
        return ""
    finite = values[np.isfinite(values)]
    lowest = float(finite.min()) if finite.size else None
    if lowest != run.best_value:
        return f"the lowest stored sample is {lowest!r}"
    if len(finite) != result.feasible_samples:
        return f"{len(finite)} stored samples are feasible, {result.feasible_samples} counted"
    best = np.minimum.accumulate(values)
    falls = np.flatnonzero(best < np.concatenate([[math.inf], best[:-1]]))
    if [(int(n) + 1, float(values[n])) for n in falls] != [*map(tuple, result.curve)]:
        return "its curve is not that of its samples"
    return ""
