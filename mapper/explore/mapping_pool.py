"""Mappings that designs share: each is counted once per PEs and bandwidths, and priced per chip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from common import FloatArray, IntArray
from cost_models import Accelerator, CostBatch
from mapper.explore.design_run import Workload
from mapper.explore.mapping_rows import WIDTH, batch_of
from mapper.explore.network_hull import corners, pareto_rows


@dataclass(frozen=True)
class ShapeOffer:
    """The mappings of one shape on one design that no other is below in latency and energy.

    Args:
        rows: ``(n, WIDTH)`` the mappings.
        latency: ``(n,)`` [cycles].
        energy: ``(n,)`` [nJ].
    """

    rows: IntArray
    latency: FloatArray
    energy: FloatArray


@dataclass(frozen=True)
class NetworkPoint:
    """A choice of a mapping for every shape on a design.

    Args:
        latency: Of the whole network [cycles].
        energy: Likewise [nJ].
        choice: The mapping of each shape, a row of its offer.
    """

    latency: float
    energy: float
    choice: tuple[int, ...]


class MappingPool:
    """All mappings that any design of an exploration found, by shape and PEs.

    A chip's map space follows from its PEs: a mapping of one design is one of every other design
    with the same PEs, where it fits.
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self._model = workload.model()
        self._rows: dict[tuple[int, int], IntArray] = {}
        self._counted: dict[tuple[int, Accelerator], CostBatch] = {}

    def add(self, chip: Accelerator, shape: int, rows: Any) -> None:
        """Add mappings of a shape that a design found."""
        key = shape, chip.num_pes
        known = self._rows.get(key, np.empty((0, WIDTH), np.int64))
        given = np.asarray(rows, np.int64).reshape(-1, WIDTH)
        merged = np.unique(np.concatenate([known, given]), axis=0)
        if len(merged) > len(known):
            self._rows[key] = merged
            self._counted = {k: v for k, v in self._counted.items() if (k[0], k[1].num_pes) != key}

    def add_all(self, found: Iterable[tuple[Accelerator, Sequence[Any]]]) -> None:
        """Add the mappings of many designs: of each, the rows of every shape."""
        gathered: dict[tuple[int, int], list[Any]] = {}
        chips: dict[int, Accelerator] = {}
        for chip, by_shape in found:
            chips[chip.num_pes] = chip
            for shape, rows in enumerate(by_shape):
                gathered.setdefault((shape, chip.num_pes), []).extend(rows)
        for (shape, pes), rows in gathered.items():
            self.add(chips[pes], shape, rows)

    def __len__(self) -> int:
        return sum(map(len, self._rows.values()))

    def offers(self, chip: Accelerator) -> list[ShapeOffer] | None:
        """The offers of all shapes on a design; None where one has no mapping."""
        found = []
        for shape in range(len(self.workload.layers)):
            offer = self._offer(shape, chip)
            if offer is None:
                return None
            found.append(offer)
        return found

    def _offer(self, shape: int, chip: Accelerator) -> ShapeOffer | None:
        rows = self._rows.get((shape, chip.num_pes))
        if rows is None:
            return None
        latency, energy = self._figures(shape, chip, rows)
        kept = pareto_rows(np.where(np.isfinite(energy), latency, np.inf), energy)
        return ShapeOffer(rows[kept], latency[kept], energy[kept]) if len(kept) else None

    def _figures(
        self, shape: int, chip: Accelerator, rows: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        layer = self.workload.layers[shape]
        reprice = getattr(self._model, "reprice", None)
        if reprice is not None:
            counted = self._count(shape, chip, rows)
            energy = reprice(layer, chip, counted)
            if energy is not None:
                return counted.latency_cycles, energy
        costs = self._model.evaluate_batch(layer, chip, batch_of(rows))
        return costs.latency_cycles, costs.energy_nj

    def _count(self, shape: int, chip: Accelerator, rows: IntArray) -> CostBatch:
        """The costs of a shape's mappings where buffers hold anything; once for chips alike."""
        key = shape, replace(chip.unlimited_buffers(), name="")
        if key not in self._counted:
            self._counted[key] = self._model.evaluate_batch(
                self.workload.layers[shape], key[1], batch_of(rows)
            )
        return self._counted[key]

    def points(self, offers: Sequence[ShapeOffer]) -> list[NetworkPoint]:
        """The choices of mappings on a design whose sums no other choice is below."""
        found = corners(
            [offer.latency for offer in offers],
            [offer.energy for offer in offers],
            self.workload.counts,
        )
        return [NetworkPoint(*corner) for corner in found]
