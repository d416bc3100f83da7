"""Where a report's searches come from: a store, or a folder of stores and search results."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import baselines
from cost_models import CHAINS, PRESETS, Chain, chip_from
from mapper.compare.entry import ComparedRun, entries_of
from mapper.explore.design_ranges import ExploreError
from mapper.explore.explore_file import NAME, ExploredDesigns, read_explored
from mapper.report.errors import ReportError as ReportError
from mapper.report.networks import NETWORK, NetworkShapes, read_network
from mapper.search.problem_spec import ProblemSpec, layer_of
from mapper.search.search_run import FILES, KIND
from marl_common import brief, read_json, read_yaml
from marl_runs import RunStatus, Store, StoredRun

MANIFEST, MAPPING = "manifest.json", "mapping.yaml"
STORE_ENDINGS = (".sqlite", ".sqlite3", ".db")


@dataclass(frozen=True)
class Source:
    """What a report is about.

    Args:
        runs: Searches.
        stores: The stores that they came from, as ``--store`` takes them.
        network: What the layers are together, and how many layers have the shape of the one of
            that name; None where that is not known.
        explored: Explorations of designs.
    """

    runs: tuple[StoredRun, ...]
    stores: tuple[str, ...] = ()
    network: NetworkShapes | None = None
    explored: tuple[ExploredDesigns, ...] = ()

    @cached_property
    def entries(self) -> list[ComparedRun]:
        """What comparisons know of each search."""
        return entries_of(self.runs)

    def of_network(self, network: NetworkShapes, keys: Collection[str]) -> Source:
        """The searches with these keys only, which are those of a network."""
        return Source(tuple(run for run in self.runs if run.key in keys), self.stores, network)

    def with_explored(self, folder: Path) -> Source:
        """With the explorations whose files are in a folder.

        Raises:
            ReportError: One of them is damaged.
        """
        try:
            return replace(self, explored=tuple(map(read_explored, sorted(folder.rglob(NAME)))))
        except ExploreError as error:
            raise ReportError(str(error)) from None


def from_store(location: str) -> Source:
    """The searches of a store.

    Raises:
        StoreError: There is no such store.
        ReportError: It holds no search.
    """
    with Store.open(location, create=False) as store:
        runs = store.runs(kind=KIND)
    if not runs:
        raise ReportError(
            f"store {location!r}: holds no searches; `mapper compare --store` adds some"
        )
    return Source(tuple(runs), (location,))


def from_folder(folder: Path) -> Source:
    """The searches of all stores and of all results of ``mapper search --out`` in a folder.

    Raises:
        ReportError: There is no such folder, nothing in it, or a file in it is damaged.
    """
    if not folder.is_dir():
        raise ReportError(f"{folder}: is no folder; give one, or a store as --store PATH")
    runs: list[StoredRun] = []
    stores: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in STORE_ENDINGS and path.is_file():
            with Store.open(path, create=False) as store:
                found = store.runs(kind=KIND)
            runs += found
            stores += [str(path)] if found else []
    stored = {_mark(run) for run in runs}
    manifests = [
        path for path in sorted(folder.rglob(MANIFEST)) if (path.parent / MAPPING).is_file()
    ]
    runs += [run for run in map(_read, manifests) if _mark(run) not in stored]
    if not runs:
        raise ReportError(
            f"{folder}: holds neither a store (*.sqlite) nor a {MANIFEST} of `mapper search --out`"
        )
    found_here = Source(tuple(runs), tuple(stores), read_network(folder / NETWORK))
    return found_here.with_explored(folder)


def _mark(run: StoredRun) -> str:
    """What tells searches apart; a store and a folder may hold the same one."""
    problem, result = run.spec["problem"], run.result or {}
    what = [problem[name] for name in ("layer", "accelerator", "objective", "cost_model")]
    found = [result.get("best_action"), result.get("curve")]
    return json.dumps([what, run.spec["method"], run.seed, run.budget, run.samples, found])


def _read(path: Path) -> StoredRun:
    """A search result on disk, as a store would hold it."""
    try:
        data = read_json(path, ReportError)
        mapping = read_yaml(path.parent / MAPPING, ReportError)
        return _as_run(data, mapping, path.stat().st_mtime)
    except ReportError:
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        why = brief(error)
        raise ReportError(f"{path}: is no result of `mapper search --out` ({why})") from error


def _as_run(data: dict[str, Any], mapping: dict[str, Any], written: float) -> StoredRun:

    problem = data["problem"]
    layer = layer_of(problem["layer_fields"])
    chip = chip_from(problem["accelerator"])
    spec = ProblemSpec(
        layer,
        problem["layer"],
        chip,
        chip_name(chip),
        problem["objective"],
        problem["cost_model"],
        problem["cost_model_options"],
        problem["space"],
        problem["limits"],
    )
    return StoredRun(
        id=0,
        key="",
        kind=KIND,
        name=f"{data['method']} on {layer.name}",
        seed=data["seed"],
        budget=data["budget"],
        spec={"problem": spec.to_dict(), "method": data["method"], "label": _label(data)},
        status=RunStatus.INTERRUPTED if data["interrupted"] else RunStatus.FINISHED,
        error=None,
        result={
            "curve": data["improvements"],
            "best_action": data["best_action"],
            "best_mapping": mapping,
            "bound": spec.build().bound,
        },
        samples=data["samples"],
        best_value=data["best_value"],
        wall_s=None,
        cpu_s=None,
        command=data["command"],
        versions=data["versions"],
        git_revision=data["git_revision"],
        started=written,
        ended=written,
        attempt=1,
        owner="",
        heartbeat=written,
    )


def _label(data: dict[str, Any]) -> str:
    """The method with its options that are not the defaults, as a store calls it."""
    method, given = str(data["method"]), data.get("method_options", {})
    try:  # of no class that a file names: that would run its module
        usual = asdict(baselines.load(method).config) if method in baselines.names() else {}
    except (ImportError, baselines.SearcherError):  # its extra is missing
        usual = {}
    kept = [name for name in usual if name not in FILES and not name.startswith("checkpoint")]
    own = [name for name in kept if given.get(name, usual[name]) != usual[name]]
    return ":".join([method, *(f"{name}={given[name]}" for name in own)])


def chip_name(chip: Any) -> str:
    """A name of the library, or a few words."""
    deep = isinstance(chip, Chain)
    names = [name for name, known in (CHAINS if deep else PRESETS).items() if known == chip]
    size = f"{chip.peak_macs_per_cycle} MACs" if deep else f"{chip.num_pes} PEs"
    return names[0] if names else f"custom ({size})"
