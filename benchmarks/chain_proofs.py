"""Prove the EDP of every distinct shape of three networks on three chips of three levels and more.

    python -m benchmarks chain_proofs --seconds 10
    python -m benchmarks chain_proofs --seconds 60 --above 0.02 --out docs/data/chain-proofs-60.csv

Processor time of one core, the first value included. Where a proof did not end, the row has what
bounds of energy and of latency make of the best mapping (:mod:`benchmarks.chain_proofs`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import layers
from baselines import Proof, ProofProgress, prove
from baselines.optimal.chain_structures import ChainStructures
from benchmarks.chain_problems import structures_of
from benchmarks.frame import DATA, Row, Table, known
from benchmarks.optimal_speed import shapes, told
from cost_models import ChainBatch, ChainBrancher, ChainMapping, CostsToGo, shared_out
from layers import DIMS
from maestro_env import Problem

CHOSEN = ("way", "tiles", "structure")
LOSSES = tuple(f"{figure}_{stage}" for stage in CHOSEN for figure in ("energy", "cycles"))
"""Bound over figure of the mapping: its way of spreading units is chosen, the outermost memory's
tiles and innermost loop too, and those of all memories."""


def losses_of(problem: Problem, mapping: ChainMapping) -> dict[str, str]:
    """Bound energy and latency of a mapping as its choices are made; shares of its own figures."""
    structures = structures_of(problem)
    batch = ChainBatch.from_mappings([mapping], problem.accelerator)
    way, action = _way_of(structures, batch), problem.space.encode(batch)[0]
    spread, none = structures.spread(way), ((0,) * len(DIMS),) * (structures.facts.depth + 1)
    cost = problem.cost_model.evaluate(problem.layer, problem.accelerator, mapping)
    tried = (
        ChainBrancher(CostsToGo(spread, structures.tiles, redundant), (1, 1))
        for redundant in (structures.redundant(way), none)  # units of the mapping may idle
    )
    found = next(filter(None, (_stages(b, _steps_of(structures, b, action)) for b in tried)))
    rows = zip(CHOSEN, (found[0], found[1], found[-1]), strict=True)
    return {
        f"{figure}_{stage}": f"{bound / float(getattr(cost, name)):.4f}"
        for stage, row in rows
        for figure, name, bound in zip(
            ("energy", "cycles"), ("energy_nj", "latency_cycles"), row, strict=True
        )
    }


def _stages(
    bounds: ChainBrancher, steps: list[tuple[Any, list[int]]]
) -> list[tuple[float, float]] | None:
    """Bounds of the way and after each memory's choice; None where it leaves a tile out."""
    bounds.fill_all()
    node, found = bounds.root(), [_least(bounds)]
    for kind, tiles in steps:
        offered = bounds.tables.options(node)
        if any(tile not in o.at for o, tile in zip(offered, tiles, strict=True)):
            return None
        options = [
            o.one(int(np.searchsorted(o.at, tile))) for o, tile in zip(offered, tiles, strict=True)
        ]
        bounds.tables.look_at([np.zeros(1, np.int64)] * len(tiles), np.array([kind]))
        _, after = bounds.bound(node, options)
        bounds.tables.cells = None
        found.append(_figures(bounds, after))
        node = bounds.child(node, kind, np.array(tiles))
    return found if np.isfinite(found).all() else None


def _figures(bounds: ChainBrancher, after: Row) -> tuple[float, float]:
    cycles = float(np.ravel(after["cycles"])[0])
    energy = float(np.ravel(after["energy"] + after["rest"])[0])
    return energy + bounds.facts.leakage * cycles, cycles


def _least(bounds: ChainBrancher) -> tuple[float, float]:
    """The least energy and the least latency of all tiles of the outermost memory."""
    _, (energy, cycles, _) = bounds.reaches(np.inf)
    least, fastest = float(energy.min(initial=np.inf)), float(cycles.min(initial=np.inf))
    return least + bounds.facts.leakage * fastest, fastest


def _way_of(structures: ChainStructures, batch: ChainBatch) -> Any:
    """The way of spreading units of a mapping."""
    extents, picks = np.array(structures.facts.layer.extents), []
    for fans, level in zip(structures.fans, structures.chip.levels, strict=True):
        units = (1,) * len(DIMS)
        if level.name in batch.levels:
            along = batch.units_along(batch.levels.index(level.name))[0]
            units = tuple(int(n) for n in np.minimum(along, extents))
        picks.append(next(i for i, fan in enumerate(fans) if fan.units == units))
    return np.array(picks)


def _steps_of(structures: ChainStructures, bounds: ChainBrancher, action: Any) -> list[Any]:
    """By memory, the class of its loop order and the places of its tiles."""
    space, dims = structures.space, structures.dims
    around = [int(v[-1]) for v in structures.tiles.values]
    found = []
    for m, columns in enumerate(structures._tile):
        tiles, iterates = [], []
        for place, d in enumerate(dims):
            shared = shared_out(bounds.spread.spatial, m, d, around[place])
            tile = min(
                int(space.parameters[columns[place]].choices[action[columns[place]]]), shared
            )
            tiles.append(int(np.searchsorted(structures.tiles.values[place], tile)))
            iterates.append(bounds.spread.stages(m + 1, d)[-1] * tile < shared)
            around[place] = tile
        column = structures._order[m]
        order = [DIMS.index(d) for d in str(space.parameters[column].choices[action[column]])]
        loops = [dims.index(d) for d in order if d in dims and iterates[dims.index(d)]]
        windows = [place for place in loops if place in bounds.halos]
        kinds = [
            kind
            for kind in bounds.classes
            if kind[0] == (loops[-1] if loops else -1)
            and (kind[1] in (-1, kind[0]) or not windows or windows[-1] == kind[1])
        ]
        found.append((kinds[0], tiles))
    return found


FILE = "chain-proofs.csv"
NETWORKS = ("resnet18", "mobilenetv2", "bert_base")
CHIPS = ("simba", "nvdla-cacc", "eyeriss-rs")


class OutOfTimeError(Exception):
    """The proof has had its processor time."""


def proof_within(problem: Problem, seconds: float) -> tuple[str, Proof | ProofProgress]:
    """Prove an optimum in so much processor time.

    Returns:
        The status, ``timeout`` where the time was up, and the proof or how far it came.
    """
    began = time.process_time()
    last: list[ProofProgress] = []

    def watch(step: ProofProgress) -> None:
        last[:] = [step]
        if time.process_time() - began > seconds:
            raise OutOfTimeError

    try:
        proof = prove(problem, progress=watch)
    except OutOfTimeError:
        return "timeout", last[0]
    return proof.status, proof


def row_of(given: Any, chip: str, objective: str, layer: str) -> Row:
    """Prove one case, or say how far it came."""
    began = time.process_time()
    problem = Problem(layers.parse(layer), chip, objective)
    status, found = proof_within(problem, given.seconds)
    row: Row = {
        "status": status,
        "value": repr(float(found.value)),
        "bound": repr(float(found.bound)),
        "gap": f"{found.gap:.3e}",
        "cpu_s": f"{time.process_time() - began:.2f}",
        "boxes": found.counts.boxes if isinstance(found, Proof) else found.boxes,
    }
    if isinstance(found, ProofProgress) and isinstance(found.mapping, ChainMapping):
        row |= losses_of(problem, found.mapping)
    return row


def keys(given: Any) -> Iterator[tuple[str, str, str]]:
    """Every shape on every chip; of some gap alone, those that the file leaves above it."""
    left = {
        (row["accelerator"], row["objective"], row["layer"])
        for row in known(DATA / FILE)
        if float(row["gap"]) > given.above
    }
    for layer in shapes(given.networks):
        for chip in given.accelerators:
            key = chip, given.objective, layer.name
            if given.above <= 0 or key in left:
                yield key


TABLE = Table(
    __doc__,
    (
        *("accelerator", "objective", "layer", "status", "value", "bound", "gap", "cpu_s"),
        *("boxes", *LOSSES),
    ),
    keys,
    row_of,
    FILE,
    {
        "networks": list(NETWORKS),
        "accelerators": list(CHIPS),
        "objective": "edp",
        "seconds": (10.0, "processor time of each"),
        "above": (0.0, f"cases alone whose gap in {FILE} is larger"),
    },
    {"seconds": 0.1},
    told,
)
