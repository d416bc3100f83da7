"""The file of an exploration, from which the page of the network draws its front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mapper.explore.design_figures import OBJECTIVES, gap_text
from mapper.explore.design_ranges import ExploreError
from mapper.explore.design_rows import COLUMN_OF, all_rows, share_text
from mapper.explore.design_space import FIELDS, text_of
from mapper.explore.exploration import Exploration
from marl_common import read_json
from marl_runs import made_with

NAME = "explore.json"
"""What ``mapper explore --out`` writes."""


@dataclass(frozen=True)
class ExploredDesigns:
    """The designs of an exploration, as its file keeps them.

    Args:
        network: What was mapped.
        cost_model: By which model.
        cost_model_options: With which options.
        objectives: What designs were compared by; the first one is the plots' height.
        rows: Of :func:`mapper.explore.design_rows.all_rows`, those of the front first.
        command: What made it.
    """

    network: str
    cost_model: str
    cost_model_options: Mapping[str, Any]
    objectives: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    command: str

    @property
    def front(self) -> list[Mapping[str, Any]]:
        """Rows of the designs that no other one beats."""
        return [row for row in self.rows if row["front"]]

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """Rows of the other designs that can run the network."""
        return [row for row in self.rows if not row["front"] and self._figures_of(row)]

    @property
    def share(self) -> str:
        """How many designs are on the front; each of its points has a row."""
        on = {design_text(row) for row in self.front}
        points = len(self.front)
        return share_text(len(on), len(self.rows) - points + len(on), points)

    def _figures_of(self, row: Mapping[str, Any]) -> bool:
        return all(COLUMN_OF[name] in row for name in self.objectives)


def figure(row: Mapping[str, Any], objective: str) -> float:
    """An objective of a row."""
    return float(row[COLUMN_OF[objective]])


def design_text(row: Mapping[str, Any]) -> str:
    """A row's design in a few words; files of 0.2 have its fields alone."""
    return str(row["design"]) if "design" in row else text_of({name: row[name] for name in FIELDS})


def proven_text(row: Mapping[str, Any]) -> str:
    """What is proven of a row of the front."""
    return gap_text(float(row["gap"]))


def explored(exploration: Exploration) -> ExploredDesigns:
    """What is kept of an exploration."""
    plan = exploration.plan
    return ExploredDesigns(
        plan.network,
        plan.workload.cost_model,
        plan.workload.cost_model_options,
        plan.objectives,
        tuple(all_rows(exploration)),
        made_with().command,
    )


def read_explored(path: Path) -> ExploredDesigns:
    """Read a file that ``mapper explore --out`` wrote.

    Raises:
        ExploreError: It is no such file.
    """
    data = read_json(path, ExploreError)
    try:
        found = ExploredDesigns(
            str(data["network"]),
            str(data["cost_model"]),
            dict(data["cost_model_options"]),
            tuple(str(name) for name in data["objectives"]),
            tuple(dict(row) for row in data["rows"]),
            str(data["command"]),
        )
        _check(found)
    except (KeyError, TypeError, ValueError) as error:
        raise ExploreError(
            f"{path}: is no {NAME} of `mapper explore --out` ({error!r}); make it again"
        ) from None
    return found


def _check(found: ExploredDesigns) -> None:
    """Touch all that is drawn of it."""
    if len(found.objectives) < 2 or not set(found.objectives) <= set(OBJECTIVES):
        raise ValueError(f"objectives {found.objectives}")
    for row in (*found.front, *found.others):
        design_text(row)
        if not all(figure(row, name) > 0 for name in found.objectives):
            raise ValueError(f"figures of {row}")
    for row in found.front:
        proven_text(row)
