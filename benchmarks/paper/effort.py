"""How much of the paper's experiments is run, and what every table is made with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import Row, write
from benchmarks.marl_cases import CASES
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import Search
from marl_runs import holm, mean_interval, two_level_ratio

REPEATS = 20_000
"""Draws of the bootstrap: with the tables' many comparisons Holm's p asks for small ones."""
FEWEST_CASES, FEWEST_FOR_P = 3, 5
"""Cases, such as layers, from which on an interval over them is given, and a p and verdict: four
of one sign come by chance in an eighth of all fours, whatever a bootstrap of them says."""
HALF = 0.5
"""A mean return on the way up."""
TINY = 1e-6
"""A mean return is at least this in a ratio."""


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
    table: tuple[str, ...] = CASES["table3"]["edge"]
    swept: tuple[str, ...] = ("mobilenetv2.2", "resnet18.1")
    seconds: tuple[float, ...] = (0.1, 1.0, 5.0)
    skip: tuple[str, ...] = ()

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
        write(self.data / name, rows[0], ({k: shown(v) for k, v in r.items()} for r in rows))


@dataclass(frozen=True)
class Step:
    """A table or figure of the paper.

    Args:
        name: What the command line calls it.
        what: What it shows.
        plan: The searches it stands on, as far as those that are finished tell, in groups.
        make: Makes tables and pictures of those that are finished.
    """

    name: str
    what: str
    plan: Callable[[Effort, Kept], Any]
    make: Callable[[Effort, Kept, Output], None]

    def searches(self, effort: Effort, kept: Kept) -> list[Search]:
        """All of them, one after another."""
        return _flat(self.plan(effort, kept))


def _flat(groups: Any) -> list[Search]:
    if isinstance(groups, Search):
        return [groups]
    parts = groups.values() if isinstance(groups, dict) else groups
    return [search for part in parts for search in _flat(part)]


def shown(value: Any) -> Any:
    """A cell as the file has it."""
    if isinstance(value, float) and not np.isfinite(value):
        return "never" if value > 0 else ""
    return f"{value:.6g}" if isinstance(value, float) else value


def measured(runs: Sequence[Found], best: float, level: float = HALF) -> Row:
    """What tables say of the searches of one method, over the best value of all."""

    def median(values: Iterable[float]) -> float:
        return float(np.median(list(values)))

    mean, half = mean_interval(np.array([one.last_return(best) for one in runs]))
    return {
        "seeds": len(runs),
        "samples": runs[0].samples,
        "last mean return": float(mean),
        "+-": float(half) if np.isfinite(half) else -np.inf,  # of one seed
        "arrives at": median(one.return_arrives(best, level) for one in runs),
        "value / best": median(one.best for one in runs) / best,
        "samples to 5 %": median(one.arrival(1.05 * best) for one in runs),
        "CPU s": float(np.mean([one.seconds for one in runs])),
    }


def least(found: Iterable[Iterable[Found]]) -> float:
    """The best value of all searches of several methods; inf where there are none."""
    return min((one.best for runs in found for one in runs), default=np.inf)


def finished(kept: Kept, searches: Mapping[str, Sequence[Search]]) -> dict[str, list[Found]]:
    """The groups of which at least one search is finished, and what these found."""
    found = {name: kept.of(group) for name, group in searches.items()}
    return {name: runs for name, runs in found.items() if runs}


def last_returns(runs: Iterable[Found], reference: float) -> np.ndarray:
    """Mean return of each search's last samples, for ratios."""
    return np.maximum([one.last_return(reference) for one in runs], TINY)


def compared(pairs: Sequence[tuple[list[Any], list[Any]]]) -> list[Row]:
    """Ratios of a table's comparisons, each with its interval, Holm's p and a verdict.

    What the cases are too few for stays empty.

    Args:
        pairs: Of each comparison the first method's and the second's values, an array a case.
    """
    ratios = [two_level_ratio(a, b, REPEATS) if a else None for a, b in pairs]
    enough = [i for i, (a, _) in enumerate(pairs) if len(a) >= FEWEST_FOR_P]
    ps = dict(zip(enough, holm([ratio.p for i in enough if (ratio := ratios[i])]), strict=True))
    rows: list[Row] = [
        dict.fromkeys(("ratio", "from", "to", "p (Holm)", "verdict"), "") for _ in pairs
    ]
    for i, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
        if ratio is not None:
            row["ratio"] = ratio.value
            if len(pairs[i][0]) >= FEWEST_CASES:
                row |= {"from": ratio.low, "to": ratio.high}
            if i in ps:
                verdict = "lower" if ratio.value < 1 else "higher"
                row |= {"p (Holm)": ps[i], "verdict": "within error" if ps[i] >= 0.05 else verdict}
    return rows


def over_cases(
    returns: Mapping[tuple[str, ...], list[dict[str, np.ndarray]]],
    reference: str,
    names: tuple[str, ...],
    title: str,
) -> list[Row]:
    """Each group of searches beside a reference: the ratio of their last mean returns.

    Args:
        returns: Of each table, a case after another, returns by group.
        reference: The group that others are compared with.
        names: Columns of what tells tables apart, and of the group.
        title: Column of the ratio.
    """
    rows: list[Row] = []
    pairs = []
    for key, cases in returns.items():
        for group in dict.fromkeys(n for case in cases for n in case if n != reference):
            both = [case for case in cases if group in case]
            pairs.append(([one[group] for one in both], [one[reference] for one in both]))
            rows.append(dict(zip(names, (*key, group), strict=True)))
            rows[-1] |= {"layers": len(both), "seeds": min(len(one[group]) for one in both)}
    return [
        {**row, title: over.pop("ratio"), **over}
        for row, over in zip(rows, compared(pairs), strict=True)
    ]
