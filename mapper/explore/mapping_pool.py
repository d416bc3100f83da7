"""Mappings that designs share: counted once per PEs and bandwidths, priced per chip."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cost_models import Accelerator, Chain, CostBatch
from mapper.explore.design_run import Workload
from mapper.explore.mapping_rows import batch_of, kin_of
from mapper.explore.network_hull import corners, pareto_rows
from marl_common import FloatArray, IntArray


@dataclass(frozen=True)
class ShapeOffer:
    """The mappings of one shape on one design that no other is below in latency and energy.

    Args:
        rows: ``(n, W)`` the mappings, see :func:`mapper.explore.mapping_rows.rows_of`.
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
    """All mappings that any design of an exploration found, by shape and kin.

    A chip's map space follows from its PEs, or from its levels and axes: a mapping of one design
    is one of every other design of its kin (:func:`mapper.explore.mapping_rows.kin_of`), where it
    fits.
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self._model: Any = workload.model()
        self._rows: dict[tuple[int, Hashable], IntArray] = {}
        self._counted: dict[tuple[int, Accelerator], CostBatch] = {}

    def add(self, chip: Accelerator | Chain, shape: int, rows: Any) -> None:
        """Add mappings of a shape that a design found."""
        key = shape, kin_of(chip)
        given = np.asarray(rows, np.int64)
        known = self._rows.get(key, given[:0])
        merged = np.unique(np.concatenate([known, given]), axis=0)
        if len(merged) > len(known):
            self._rows[key] = merged
            self._counted = {k: v for k, v in self._counted.items() if (k[0], kin_of(k[1])) != key}

    def add_all(self, found: Iterable[tuple[Accelerator | Chain, Sequence[Any]]]) -> None:
        """Add the mappings of many designs: of each, the rows of every shape."""
        gathered: dict[tuple[int, Hashable], list[Any]] = {}
        chips: dict[Hashable, Accelerator | Chain] = {}
        for chip, by_shape in found:
            chips[kin_of(chip)] = chip
            for shape, rows in enumerate(by_shape):
                gathered.setdefault((shape, kin_of(chip)), []).extend(rows)
        for (shape, kin), rows in gathered.items():
            self.add(chips[kin], shape, rows)

    def __len__(self) -> int:
        return sum(map(len, self._rows.values()))

    def offers(self, chip: Accelerator | Chain) -> list[ShapeOffer] | None:
        """The offers of all shapes on a design; None where one has no mapping."""
        found = []
        for shape in range(len(self.workload.layers)):
            offer = self._offer(shape, chip)
            if offer is None:
                return None
            found.append(offer)
        return found

    def _offer(self, shape: int, chip: Accelerator | Chain) -> ShapeOffer | None:
        rows = self._rows.get((shape, kin_of(chip)))
        if rows is None:
            return None
        latency, energy = self._figures(shape, chip, rows)
        kept = pareto_rows(np.where(np.isfinite(energy), latency, np.inf), energy)
        return ShapeOffer(rows[kept], latency[kept], energy[kept]) if len(kept) else None

    def _figures(
        self, shape: int, chip: Accelerator | Chain, rows: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        layer = self.workload.layers[shape]
        reprice = getattr(self._model, "reprice", None)
        if reprice is not None and isinstance(chip, Accelerator):
            counted = self._count(shape, chip, rows)
            energy = reprice(layer, chip, counted)
            if energy is not None:
                return counted.latency_cycles, energy
        costs = self._model.evaluate_batch(layer, chip, batch_of(rows, chip))
        return costs.latency_cycles, costs.energy_nj

    def _count(self, shape: int, chip: Accelerator, rows: IntArray) -> CostBatch:
        """The costs of a shape's mappings where buffers hold anything; once for chips alike."""
        key = shape, replace(chip.unlimited_buffers(), name="")
        if key not in self._counted:
            self._counted[key] = self._model.evaluate_batch(
                self.workload.layers[shape], key[1], batch_of(rows, chip)
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
