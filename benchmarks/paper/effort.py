"""How much of the paper's experiments is run, and what every table is made with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mpe.tables import write_table
from benchmarks.paper.searches import Found, Kept, Search
from runs import Ratio, holm, two_level_ratio

MANY, ONE = "marl:mode=paper:agents=all", "marl:mode=paper:agents=1"
"""The paper's method with one agent a parameter, and its single agent."""
WINDOW = 500
"""Samples over which a mean return is taken."""


@dataclass(frozen=True)
class Effort:
    """How much is run.

    Args:
        seeds: Seeds, from 0.
        budget: Samples of a search.
        long: Samples of the single agent's long search.
        cost_models: Cost models.
        layers: The four layers of Fig. 6.
        table: The layers of Table III.
        swept: The layers on which settings are swept.
        seconds: Processor times at which methods are compared [s].
        skip: Methods that are left out.
    """

    seeds: int = 5
    budget: int = 20_000
    long: int = 300_000
    cost_models: tuple[str, ...] = ("maestro", "exact")
    layers: tuple[str, ...] = ("mobilenetv2.2", "vgg16.1", "resnet18.1", "alexnet.2")
    table: tuple[str, ...] = (
        *("mobilenetv2.2", "mobilenetv2.7", "mobilenetv2.32", "mobilenetv2.46"),
        *("vgg16.1", "vgg16.4", "vgg16.8", "vgg16.11"),
    )
    swept: tuple[str, ...] = ("mobilenetv2.2", "resnet18.1")
    seconds: tuple[float, ...] = (0.1, 1.0, 5.0)
    skip: tuple[str, ...] = ()

    @property
    def window(self) -> int:
        """Samples over which a mean return is taken."""
        return min(WINDOW, max(1, self.budget // 4))

    def of_seeds(self, **fields: Any) -> list[Search]:
        """A search a seed."""
        fields = {"budget": self.budget, **fields}
        return [Search(seed=seed, **fields) for seed in range(self.seeds)]


FULL = Effort()
QUICK = Effort(
    seeds=1,
    budget=192,
    long=384,
    layers=("mobilenetv2.2", "resnet18.1"),
    table=("mobilenetv2.2", "vgg16.4"),
    swept=("mobilenetv2.2",),
    seconds=(0.02, 0.05),
    skip=("bo", "ppo"),
)
"""Every step, in a few minutes: whether it runs, not what comes out."""


@dataclass(frozen=True)
class Output:
    """Where tables and pictures go.

    Args:
        data: Folder of tables.
        figures: Folder of pictures.
    """

    data: Path
    figures: Path

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows to a CSV file, whole or not at all; fractions have six digits."""
        self.data.mkdir(parents=True, exist_ok=True)
        write_table(self.data / name, [{k: shown(v) for k, v in row.items()} for row in rows])


@dataclass(frozen=True)
class Step:
    """A table or figure of the paper.

    Args:
        name: What the command line calls it.
        what: What it shows.
        searches: The searches it stands on.
        make: Makes tables and pictures of them.
    """

    name: str
    what: str
    searches: Callable[[Effort, Kept], Iterable[Search]]
    make: Callable[[Effort, Kept, Output], None]


def shown(value: Any) -> Any:
    """A cell as the file has it."""
    if isinstance(value, float) and not np.isfinite(value):
        return "never" if value > 0 else ""
    return f"{value:.6g}" if isinstance(value, float) else value


def returns(found: Found, reference: float) -> np.ndarray:
    """Return of each sample: reference / value, 0 where infeasible."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isfinite(found.values), reference / found.values, 0.0)


def last_return(found: Found, reference: float, window: int) -> float:
    """Mean return of the last samples."""
    return float(returns(found, reference)[-window:].mean())


def return_arrives(found: Found, reference: float, level: float, window: int) -> float:
    """The sample at which the mean return of the last `window` reaches a level; inf if never."""
    sums = np.concatenate([[0.0], np.cumsum(returns(found, reference))])
    means = (sums[window:] - sums[:-window]) / window
    there = np.flatnonzero(means >= level)
    return float(there[0] + window) if len(there) else np.inf


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean over seeds, and half of its 95 % interval; nothing is said of one seed."""
    from runs import mean_interval

    mean, half = mean_interval(np.asarray(values, np.float64))
    return float(mean), float(half) if np.isfinite(half) else float("-inf")


def compared(pairs: Sequence[tuple[list[Any], list[Any]]]) -> list[dict[str, Any]]:
    """Ratios of several comparisons, each with its interval, Holm's p and a verdict.

    Args:
        pairs: Of each comparison the first method's and the second's values, an array a case.
    """
    ratios = [
        two_level_ratio(a, b) if a else Ratio(float("nan"), 0.0, float("inf"), 1.0)
        for a, b in pairs
    ]
    adjusted = holm([ratio.p for ratio in ratios])
    rows = []
    for ratio, p in zip(ratios, adjusted, strict=True):
        verdict = "within error" if p >= 0.05 else "lower" if ratio.value < 1 else "higher"
        told = {"ratio": ratio.value, "from": ratio.low, "to": ratio.high}
        rows.append({**told, "p (Holm)": p, "verdict": verdict})
    return rows
