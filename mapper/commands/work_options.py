"""Options that say where work is kept, who does it, and where results go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mapper.commands.options import DEFAULT_STORE, cores
from marl_common import MOST_THREADS, option


@dataclass(frozen=True)
class StoreOption:
    """Where work is kept.

    Attributes:
        store: SQLite file, or any database URL.
    """

    store: str = option(DEFAULT_STORE, metavar="PATH|URL")


@dataclass(frozen=True)
class WorkOptions(StoreOption):
    """Where work is kept, and how much of it is done at once.

    Attributes:
        workers: Processes, one thread each; 0 takes one a core.
    """

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


@dataclass(frozen=True)
class ResultOptions:
    """Where results go.

    Attributes:
        out: Folder for mapping.yaml, mapping.m, manifest.json; else none.
        store: Keep the search in this store (an SQLite file, or any database URL); a finished one
            is not done again. A network is always kept: in --out, or runs.sqlite.
        workers: Of --network: processes of one thread each, for layers that take nothing over.
        verbose: Print every figure, its bound, and all accesses.
        as_json: Print JSON alone on standard output.
    """

    out: Path | None = option(None, kind=Path)
    store: str | None = option(None, metavar="PATH|URL")
    workers: int | None = option(None, kind=int, low=1, high=MOST_THREADS, shown="this process")
    verbose: bool = option(False, "", "--verbose")
    as_json: bool = option(False, "", "--json")

    @property
    def location(self) -> str:
        """The store of a network: the one that is given, or one in the folder of results."""
        return self.store or str(DEFAULT_STORE if self.out is None else self.out / DEFAULT_STORE)
