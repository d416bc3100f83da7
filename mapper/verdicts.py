"""Whether stored results hold: every best mapping is evaluated again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cost_models import RetiredOptionError
from mapper.problem_spec import ProblemSpec
from mapper.search_run import KIND, name_of
from runs import DamagedRun, RunStatus, Store, StoredRun, StoreError, key_of

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

    A result holds if its best action and its best mapping both have the stored value now, and if
    the stored samples are as many as it says, with that value as their lowest.

    Raises:
        StoreError: The run is not in the store, or is no finished search.
    """
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
    try:
        again = _evaluate_again(run)
        fault = (
            _identity_fault(run)
            or _difference(run.best_value, again)
            or _sample_fault(store, run)
            or _nothing_fault(run)
        )
    except RetiredOptionError as error:
        return Verdict(run, run.best_value, None, "", f"not replayed: made with {error.chosen}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Verdict(run, run.best_value, None, f"{type(error).__name__}: {error}")
    return Verdict(run, run.best_value, again, fault)


def _identity_fault(run: StoredRun) -> str:
    """What of a run's key and name is not what its definition gives."""
    import layers
    from cost_models import PRESETS

    if key_of(run.kind, run.spec, run.seed, run.budget) != run.key:
        return "its definition is not the one that its key stands for"
    spec = ProblemSpec.from_dict(run.spec["problem"])
    if name_of(run.spec["label"], spec, run.seed) != run.name:
        return "its name is not the one that its definition gives"
    known = PRESETS.get(spec.accelerator_name)
    if known not in (None, spec.accelerator):
        return f"its chip is not the library's {spec.accelerator_name}"
    try:
        layer = layers.get(spec.layer_name)
    except layers.LayerError:
        return ""
    same = replace(layer, name=spec.layer.name) == spec.layer
    return "" if same else f"its layer is not the zoo's {spec.layer_name}"


def _nothing_fault(run: StoredRun) -> str:
    """Where no mapping was found: a random mapping that is feasible, and no sample says it is."""
    result = run.result or {}
    if run.best_value is not None or ("empty" not in result and result.get("samples_kept", True)):
        return ""
    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    values = problem.look(problem.space.sample(RANDOM, 0)).values
    found = np.isfinite(values).any() or ("empty" in result and problem.why_empty() is None)
    return "no mapping is said to be feasible, but the problem has some" if found else ""


def _evaluate_again(run: StoredRun) -> float | None:
    """The value of the best action; None where the search found none."""
    from cost_models import Mapping

    result = run.result or {}
    if "best_action" not in result:
        return None
    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    evaluation = problem.look(np.array([result["best_action"]]))
    if evaluation.mappings[0] != Mapping.from_dict(result["best_mapping"]):
        raise StoreError("the best action stands for another mapping than the stored one")
    return float(evaluation.values[0])


def _difference(stored: float | None, again: float | None) -> str:
    if stored is None and again is None:
        return ""
    if stored is None or again is None or not math.isclose(stored, again, rel_tol=TOLERANCE):
        return f"the best mapping's value is {again!r} now"
    return ""


def _sample_fault(store: Store, run: StoredRun) -> str:
    if not (run.result or {}).get("samples_kept", True):
        return ""
    _, values = store.samples(run.id)
    if len(values) != run.samples or run.samples > run.budget:
        return f"{len(values)} samples are stored, {run.samples} counted, {run.budget} allowed"
    finite = values[np.isfinite(values)]
    lowest = float(finite.min()) if finite.size else None
    return "" if lowest == run.best_value else f"the lowest stored sample is {lowest!r}"
