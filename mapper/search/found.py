"""What a search found, whether it was done just now or is kept in a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cost_models import Cost
from cost_models import Mapping as LoopMapping
from maestro_env import Problem
from mapper.search.search_run import SearchRun, counters_of
from marl_runs import Ended, Provenance, RunStatus, made_with

if TYPE_CHECKING:
    from marl_runs import StoredRun


@dataclass(frozen=True)
class Found:
    """A finished or stopped search and its best mapping so far.

    Args:
        run: What was searched, and how.
        result: What :meth:`SearchRun.run` returned.
        seconds: Wall time of the search itself [s].
        interrupted: Whether it was stopped before its budget was spent.
        made: The command and the versions of the search.
    """

    run: SearchRun
    result: Mapping[str, Any]
    seconds: float
    interrupted: bool
    made: Provenance

    @classmethod
    def of(cls, run: SearchRun, ended: Ended) -> Found | None:
        """What a search of this process found; None where it failed before its first sample."""
        if not ended.result:
            return None
        stopped = ended.outcome != "finished"
        return cls(run, ended.result, ended.wall_s, stopped, made_with())

    @classmethod
    def of_stored(cls, run: SearchRun, stored: StoredRun) -> Found | None:
        """What a stored search found; None where it has no result."""
        if not stored.result:
            return None
        made = Provenance(stored.command, stored.versions, stored.git_revision)
        stopped = stored.status is not RunStatus.FINISHED
        return cls(run, stored.result, stored.wall_s or 0.0, stopped, made)

    @cached_property
    def problem(self) -> Problem:
        """The problem, its counters as the search left them."""
        problem = self.run.problem.build()
        problem.load_state_dict(counters_of(self.result))
        return problem

    @cached_property
    def best(self) -> tuple[LoopMapping, Cost] | None:
        """The best mapping and its cost; None where no sample was feasible."""
        action = self.problem.best_action
        if action is None:
            return None
        looked = self.problem.look(action[None])
        return looked.mappings[0], looked.costs[0]

    @property
    def empty(self) -> str | None:
        """Why the problem has no mapping, where that was found before the search."""
        return self.result.get("empty")

    @property
    def feasible_share(self) -> float:
        """Share of the samples that had a value, 0 to 1; 0 without samples."""
        return self.problem.feasible_samples / max(self.problem.samples, 1)

    @property
    def config(self) -> Mapping[str, Any]:
        """The searcher's whole config, with the files that it took over from."""
        config: Mapping[str, Any] = self.result.get("config", self.run.config)
        return config
