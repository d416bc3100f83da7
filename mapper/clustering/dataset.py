"""The dataset of <parameters, reward> pairs that an exploration policy collects."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import baselines
from maestro_env import Problem
from marl_common import FloatArray, IntArray, atomic_write


class DatasetError(ValueError):
    """A dataset that cannot be read, or that holds too little."""


@dataclass(frozen=True)
class Dataset:
    """Samples of one problem, in the order they were taken.

    Args:
        actions: ``(n, P)`` int64 choice indices.
        values: ``(n,)`` objective values to minimise; inf where infeasible.
        names: The `P` parameters' names.
        categorical: ``(P,)``, True where a parameter's choices have no order.
        source: Layer, accelerator, objective, cost model, policy, samples and seed.
    """

    actions: IntArray
    values: FloatArray
    names: tuple[str, ...]
    categorical: NDArray[np.bool_]
    source: dict[str, Any] = field(default_factory=dict)

    def best(self, percent: float = 15.0) -> IntArray:
        """Actions ``(m, P)`` of the best, see :meth:`best_with_values`."""
        return self.best_with_values(percent)[0]

    def best_with_values(self, percent: float = 15.0) -> tuple[IntArray, FloatArray]:
        """The best `percent` of the feasible samples, each action once: ``(m, P)`` and ``(m,)``.

        An exploration policy that converges repeats its favourites; repeats would measure the
        policy and not the landscape.

        Raises:
            DatasetError: Fewer than three distinct feasible samples are left.
        """
        if not 0.0 < percent <= 100.0:
            raise DatasetError(f"percent: got {percent}, expected above 0 and at most 100")
        actions, first = np.unique(self.actions, axis=0, return_index=True)
        values = self.values[first]
        order = np.argsort(values, kind="stable")
        order = order[: int(np.isfinite(values).sum())]
        keep = int(np.ceil(len(order) * percent / 100.0))
        if keep < 3:
            raise DatasetError(
                f"{keep} feasible samples in the best {percent:g} %, expected at least 3; "
                "collect more samples or raise --top"
            )
        return np.asarray(actions[order[:keep]]), values[order[:keep]]

    def choosing(self, columns: NDArray[np.bool_]) -> Dataset:
        """Only some parameters, such as those with more than one choice; ``(P,)`` bool."""
        names = tuple(name for name, kept in zip(self.names, columns, strict=True) if kept)
        return replace(
            self,
            actions=self.actions[:, columns],
            names=names,
            categorical=self.categorical[columns],
        )

    def save(self, path: str | Path) -> None:
        """Write a compressed ``.npz`` of plain arrays; the file is whole or untouched."""
        with atomic_write(path) as draft, draft.open("wb") as stream:
            np.savez_compressed(
                stream,
                actions=self.actions.astype(np.int16),
                values=self.values,
                names=np.array(self.names),
                categorical=self.categorical,
                source=np.array(json.dumps(self.source)),
            )

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read what `save` wrote; never unpickles.

        Raises:
            DatasetError: The file is missing or holds something else.
        """
        try:
            with np.load(Path(path), allow_pickle=False) as data:
                return cls(
                    data["actions"].astype(np.int64),
                    data["values"],
                    tuple(str(name) for name in data["names"]),
                    data["categorical"],
                    json.loads(str(data["source"])),
                )
        except FileNotFoundError:
            raise DatasetError(
                f"{path}: not found; expected a dataset that `mapper cluster --out` wrote"
            ) from None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise DatasetError(f"{path}: is no dataset: {error}; collect it again") from error


def collect(
    problem: Problem, policy: str = "random", samples: int = 20000, seed: int = 0
) -> Dataset:
    """Run an exploration policy (any registered searcher) and keep every sample it takes.

    The problem is forked: its own sample count stays as it is, and whether the dataset counts
    against a search budget is the caller's choice.

    Args:
        problem: What to explore.
        policy: A searcher's name.
        samples: Samples to take (fewer where the searcher has a cap of its own).
        seed: Seed of the searcher.
    """
    explored = problem.fork()
    actions: list[IntArray] = []
    values: list[FloatArray] = []

    def keep(batch: IntArray, evaluation: Any) -> None:
        actions.append(np.array(batch[: len(evaluation.values)], dtype=np.int64))
        values.append(np.array(evaluation.values))

    explored.on_evaluate = keep
    baselines.load(policy).search(explored, samples, seed)
    space = problem.space
    return Dataset(
        np.concatenate(actions),
        np.concatenate(values),
        space.names,
        np.array([not parameter.ordinal for parameter in space.parameters]),
        {**problem.describe(), "policy": policy, "samples": explored.samples, "seed": seed},
    )
