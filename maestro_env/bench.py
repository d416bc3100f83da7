"""The 30 problems of ``mapper bench``: a fixed list with proven optima.

``python -m benchmarks bench_problems`` proves and writes them; searchers and training never see
more of an optimum than the reward that is scaled with it.
"""

from __future__ import annotations

import csv
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cost_models import ChainMapping, Mapping
    from maestro_env.problem import Problem

FILE = "bench.csv"


class BenchProblem(NamedTuple):
    """One problem of the list; the cost model is `exact`, its options and the space's defaults.

    Args:
        number: From 1.
        layer: Name of the layer.
        accelerator: Name of the chip.
        objective: Name of the objective.
        optimum: The proven optimum, in the objective's unit.
        mapping_json: A mapping of that value, as JSON.
    """

    number: int
    layer: str
    accelerator: str
    objective: str
    optimum: float
    mapping_json: str

    @property
    def id(self) -> str:
        """Gymnasium's id of its environment."""
        return f"Bench-{self.number:02}-v0"

    def build(self) -> Problem:
        """The problem, with fresh counters."""
        from maestro_env.problem import Problem

        return Problem(self.layer, self.accelerator, self.objective)

    @property
    def mapping(self) -> Mapping | ChainMapping:
        """A mapping whose value is the optimum."""
        from cost_models import mapping_from

        return mapping_from(json.loads(self.mapping_json))


@cache
def bench_digest() -> str:
    """A digest of the list with its optima: results on two lists are never put side by side."""
    text = repr([problem[:5] for problem in bench_problems()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def bench_problems() -> tuple[BenchProblem, ...]:
    """All problems, in the order of their numbers."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return tuple(
        BenchProblem(
            int(row["number"]),
            row["layer"],
            row["accelerator"],
            row["objective"],
            float(row["optimum"]),
            row["mapping"],
        )
        for row in csv.DictReader(text.splitlines())
    )
