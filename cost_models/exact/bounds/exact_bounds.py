"""The bounds that the exact model offers for one problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.cost_model import Structures
from cost_models.exact.bounds.box_records import ArrayRow, Box, Fan, Price
from cost_models.exact.bounds.offers import offers_of
from cost_models.exact.bounds.price_tables import Priced, price_tables
from cost_models.exact.bounds.problem_facts import BOUNDED, Asked, Bypass, problem_row
from cost_models.exact.figures import ENERGIES, Setting
from cost_models.exact.figures import area as area_of
from cost_models.exact.floors import real_inputs
from cost_models.threads import default_threads, run_rows
from marl_common import FloatArray, IntArray, contiguous


class ExactBounds:
    """Bounds of an objective under the exact model; see :class:`cost_models.LowerBounds`.

    Args:
        asked: What is bounded.
        threads: Threads for a batch; None for NUMBA_NUM_THREADS, or the number of cores.

    Attributes:
        problem: ``(V,)`` records `box_records.Problem`, a row for each choice of tensors that
            bypass a level.
    """

    def __init__(self, asked: Asked, threads: int | None = None) -> None:
        layer, structures = asked.layer, asked.structures
        setting = asked.model.setting(asked.accelerator)
        bypasses = [Bypass.of(asked.accelerator, bypass) for bypass in structures.bypasses]
        areas, per_element = np.zeros(len(structures.num_pes)), (0.0, 0.0)
        if "area_um2" in asked.figures:
            areas, per_element = _areas(setting, structures.num_pes)
        self.problem = np.stack([problem_row(asked, one, per_element) for one in bypasses])
        held = self.problem["held"]
        bits = max(float(held[tensor].max()) for tensor in ("input", "filter", "output"))
        most = bits * (layer.input_size + layer.filter_size + layer.output_size)
        real = real_inputs(layer) if asked.model.is_free(layer) else None
        resident = asked.model.residents
        tables = [
            price_tables(Priced(layer, setting, one, most, real, resident)) for one in bypasses
        ]
        self.problem["fixed"] = _priced(np.stack([table.fixed for table in tables]))
        self.problem["scale"] = [table.scale for table in tables]
        self._prices = _priced(np.stack([table.more for table in tables]))
        self.problem["sizes"] = self._prices.shape[-1]
        energy = any(name in ENERGIES for name in asked.figures)
        self.sizes_priced = energy and bool(self.problem["scale"].any())
        self._offers, first = offers_of(layer.extents, structures)
        self._arrays, self._fans = _allocations(structures, areas, layer.extents)
        self._work = np.ones(1, Box)
        self._work["bypass"], self._work["arrays"] = -1, len(areas)
        self._work["dim"]["at"], self._work["dim"]["extent"] = first, layer.extents
        self._work["dim"]["ragged"] = 0
        self.threads = default_threads() if threads is None else threads

    def bounds(self, which: IntArray, boxes: NDArray[np.signedinteger[Any]]) -> FloatArray:
        """See :meth:`cost_models.LowerBounds.bounds`."""
        from cost_models.exact.bounds.kernel import bound_boxes

        out = np.empty(len(which))
        which, places = contiguous((which, boxes.astype(np.int16, copy=False)))
        tables = self.problem, self._arrays, self._fans, self._offers, self._prices

        def work(low: int, high: int) -> None:
            part = slice(low, high)
            asked = which[part], places[part], out[part], high - low
            bound_boxes(self._work.copy(), *tables, *asked)

        run_rows(work, len(which), self.threads)
        return out


def bounded(figures: Sequence[str]) -> bool:
    """Whether the bounds know all factors of an objective."""
    return all(name in BOUNDED for name in figures)


def _priced(numbers: FloatArray) -> NDArray[Any]:
    """``(..., 12)`` numbers as prices ``(...,)``."""
    return np.ascontiguousarray(numbers).view(Price)[..., 0]


def _allocations(
    structures: Structures, areas: FloatArray, extents: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """``(G + 1,)`` arrays and ``(F,)`` fans, with no more units than a dimension's extent."""
    arrays, fans = np.zeros(len(areas) + 1, ArrayRow), np.zeros(len(structures.fans), Fan)
    for column, name in enumerate(("outer", "outers", "inner", "inners")):
        arrays[name][:-1] = structures.arrays[:, column]
    arrays["start"], arrays["pes"][:-1] = structures.starts, structures.num_pes
    arrays["area"][:-1] = areas
    fans["spread"], fans["units"] = structures.spread, np.minimum(structures.fans, extents)
    return arrays, fans


def _areas(setting: Setting, num_pes: IntArray) -> tuple[FloatArray, tuple[float, float]]:
    """Area of each allocation but for its buffers, and of an element that L2 and an L1 must hold.

    The area is linear in both; what a NoC of the bandwidth that is asked for adds is left out.
    """

    def area(pes: int, l2: int, l1: int) -> float:
        held = {"num_pes": pes, "l2_peak": l2, "l1_peak": l1, "compute_cycles": 1}
        counts = defaultdict[str, int](int, held)
        return float(area_of(counts, setting))

    per_l2, per_l1 = area(1, 2, 1) - area(1, 1, 1), area(1, 1, 2) - area(1, 1, 1)
    of_pes = {pes: area(pes, 1, 1) - per_l2 - pes * per_l1 for pes in set(num_pes.tolist())}
    return np.array([of_pes[pes] for pes in num_pes.tolist()]), (per_l2, per_l1)
