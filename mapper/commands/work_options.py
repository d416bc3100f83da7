"""Options that say where work is kept, and who does it."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.commands.options import DEFAULT_STORE, cores
from marl_common import MOST_THREADS, option


@dataclass(frozen=True)
class WorkOptions:
    """Where work is kept, and how much of it is done at once.

    Attributes:
        store: SQLite file, or any database URL.
        workers: Processes, one thread each; 0 takes one a core.
    """

    store: str = option(DEFAULT_STORE, metavar="PATH|URL")
    workers: int = option(0, low=0, high=MOST_THREADS)

    @property
    def processes(self) -> int:
        """How many processes there shall be."""
        return self.workers or cores()


@dataclass(frozen=True)
class RayWork(WorkOptions):
    """The same, or a Ray cluster.

    Attributes:
        ray_address: Work on a Ray cluster instead: auto, HOST:PORT or local.
    """

    ray_address: str | None = option(None)
