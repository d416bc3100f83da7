"""The library of proven optima: the zoo's layers on three chips, as data.

Tests and benchmarks compare with it; no training reads it. ``python -m benchmarks build_optima``
makes it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import layers
from cost_models import Mapping
from maestro_env import MapSpaceError, Problem
from marl_common import atomic_write, files_of

FILE = "optima.csv"
VERSION = 1
"""Raised when the key's meaning changes."""


class OptimaError(ValueError):
    """A library that cannot be read, or an entry that does not hold any more."""


@dataclass(frozen=True)
class Optimum:
    """One entry.

    Args:
        key: Of the problem, see :func:`problem_key`.
        layer: Name of the layer, for people.
        accelerator: Name of the accelerator, likewise.
        objective: Name of the objective.
        status: How the proof ended; ``"optimal"`` where `value` is the optimum.
        value: Best value known.
        bound: No mapping is below it.
        boxes: Parts of the space that the proof looked at.
        seconds: Processor time of the proof [s].
        mapping: The mapping of `value`.
    """

    key: str
    layer: str
    accelerator: str
    objective: str
    status: str
    value: float
    bound: float
    boxes: int
    seconds: float
    mapping: Mapping

    @property
    def proven(self) -> bool:
        """Whether `value` is the optimum."""
        return self.status == "optimal"


def problem_key(problem: Problem) -> str:
    """A fingerprint of all that decides the optimum; names are no part of it."""
    described = problem.describe()
    chip = {name: value for name, value in described["accelerator"].items() if name != "name"}
    decisive = {
        "version": VERSION,
        "layer": layers.to_fields(problem.layer.renamed("")),
        "accelerator": chip,
        "figures": problem.objective.figures,
        "cost_model": [described["cost_model"], described["cost_model_options"]],
        **files_of(described["cost_model_options"]),
        "space": described["space"],
        "limits": described["limits"],
    }
    text = json.dumps(decisive, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def known_optimum(problem: Problem) -> Optimum | None:
    """What the library holds of a problem; None where it holds nothing.

    Raises:
        OptimaError: The model gives the entry's mapping another value now: the entry is stale.
    """
    found = _library().get(problem_key(problem))
    if found is not None:
        check_entry(problem, found)
    return found


def check_entry(problem: Problem, entry: Optimum) -> None:
    """Evaluate an entry's mapping again.

    Raises:
        OptimaError: It has another value now, or is no mapping of the space.
    """
    where = f"optimum of {entry.layer} on {entry.accelerator}, {entry.objective}"
    fix = "make the library again with python -m benchmarks build_optima"
    try:
        again = float(problem.look(problem.action_of(entry.mapping)).values[0])
    except MapSpaceError as error:
        raise OptimaError(f"{where}: {error}; {fix}") from None
    if not math.isclose(again, entry.value, rel_tol=1e-9):
        raise OptimaError(
            f"{where}: stored as {entry.value:.9g}, but the model gives its mapping {again:.9g} "
            f"now; {fix}"
        )


@cache
def _library() -> dict[str, Optimum]:
    file = files(__package__).joinpath(FILE)
    return read_optima(Path(str(file))) if file.is_file() else {}


def read_optima(path: Path) -> dict[str, Optimum]:
    """Read a library.

    Raises:
        OptimaError: The file is damaged.
    """
    found = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            try:
                entry = _entry(row)
            except (KeyError, TypeError, ValueError) as error:
                raise OptimaError(f"{path}: line {number}: {error}; expected an optimum") from None
            found[entry.key] = entry
    return found


def _entry(row: dict[str, Any]) -> Optimum:
    numbers = {name: float(row[name]) for name in ("value", "bound", "seconds")}
    mapping = Mapping.from_dict(json.loads(row["mapping"]))
    return Optimum(**row | numbers | {"boxes": int(row["boxes"]), "mapping": mapping})


def write_optima(path: Path, entries: Iterable[Optimum]) -> None:
    """Write a library, whole or not at all; sorted, so that a change shows as a difference."""
    ordered = sorted(entries, key=lambda e: (e.objective, e.accelerator, e.layer, e.key))
    names = [field.name for field in fields(Optimum)]
    with atomic_write(path) as draft, open(draft, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names, lineterminator="\n")
        writer.writeheader()
        for entry in ordered:
            values = {name: getattr(entry, name) for name in names} | {
                "mapping": json.dumps(entry.mapping.to_dict(), separators=(",", ":")),
                "seconds": f"{entry.seconds:.2f}",
            }
            writer.writerow(values)


def optimum_of(problem: Problem, accelerator: str, proof: Any) -> Optimum:
    """The entry of a proof that found a mapping."""
    return Optimum(
        key=problem_key(problem),
        layer=problem.layer.name,
        accelerator=accelerator,
        objective=problem.objective.name,
        status=proof.status,
        value=proof.value,
        bound=proof.bound,
        boxes=proof.counts.boxes,
        seconds=proof.seconds,
        mapping=proof.mapping,
    )
