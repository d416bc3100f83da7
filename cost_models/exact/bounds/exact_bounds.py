"""The bounds that the exact model offers for one problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from common import FloatArray, IntArray
from cost_models.accelerator import Accelerator
from cost_models.exact.bounds.bound_problem import (
    BOUNDED,
    ENERGIES,
    HELD,
    AllocationTables,
    BoundProblem,
)
from cost_models.exact.bounds.offers import offers_of
from cost_models.exact.bounds.price_tables import Priced, PriceTables, price_tables, stacked
from cost_models.exact.bounds.problem_facts import (
    Passing,
    is_free,
    problem_facts,
    problem_flags,
    real_inputs,
)
from cost_models.exact.figures import area as area_of
from cost_models.lower_bounds import Structures
from cost_models.threads import default_threads, run_rows
from layers import Layer

if TYPE_CHECKING:
    from cost_models.exact.figures import Setting
    from cost_models.exact.options import ExactOptions


class ExactBounds:
    """Bounds of an objective under the exact model; see :class:`cost_models.LowerBounds`.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective, of `BOUNDED`.
        limits: Largest figures allowed, such as ``{"max_latency_cycles": 1e6}``.
        structures: Allocations and tiles.
        threads: Threads for a batch; None for NUMBA_NUM_THREADS, or the number of cores.
    """

    def __init__(
        self,
        model: ExactOptions,
        layer: Layer,
        accelerator: Accelerator,
        figures: Sequence[str],
        limits: Mapping[str, float],
        structures: Structures,
        threads: int | None = None,
    ) -> None:
        setting, machine = model.setting(accelerator), model.machine(accelerator)
        passings = [Passing.of(machine, bypass) for bypass in structures.bypasses]
        here = sum(1 << t for t in range(3) if model.residents[t])
        areas, per_element = np.zeros(len(structures.num_pes)), (0.0, 0.0)
        if "area_um2" in figures:
            areas, per_element = _areas(setting, structures.num_pes)
        facts = [
            problem_facts(model, layer, accelerator, limits, passing, per_element)
            for passing in passings
        ]
        flags = [
            problem_flags(model, layer, accelerator, figures, structures, passing, limits)
            for passing in passings
        ]
        bits = max(float(numbers[HELD : HELD + 6].max()) for numbers in facts)
        real = real_inputs(layer) if is_free(model, layer) else None
        most = bits * (layer.input_size + layer.filter_size + layer.output_size)
        prices = stacked(
            [
                price_tables(
                    Priced(layer, setting, passing, most, layer.output_size, real, model.residents)
                )
                for passing in passings
            ]
        )
        # arrays of one layout, so that one compiled version serves all problems
        prices = PriceTables(*(np.ascontiguousarray(table) for table in prices))
        energy = any(name in ENERGIES for name in figures)
        self.sizes_priced = energy and bool(prices.scale.any())
        offers = offers_of(layer.extents, structures)
        self.problem = BoundProblem(np.stack(facts), np.stack(flags), offers, prices)
        self._allocations = AllocationTables(
            np.minimum(structures.fans, np.array(layer.extents, dtype=np.int32)),
            structures.spread,
            structures.arrays,
            structures.starts,
            structures.num_pes.astype(np.float64),
            areas,
            np.array([passing.refused or bool(passing.l2 & here) for passing in passings]),
        )
        self.threads = default_threads() if threads is None else threads

    def bounds(self, which: IntArray, boxes: NDArray[np.signedinteger[Any]]) -> FloatArray:
        """See :meth:`cost_models.LowerBounds.bounds`."""
        from cost_models.exact.bounds.box_kernel import bound_boxes

        out = np.empty(len(which))

        def work(low: int, high: int) -> None:
            bound_boxes(self.problem, self._allocations, which, boxes, out, low, high)

        run_rows(work, len(which), self.threads)
        return out


def bounded(figures: Sequence[str]) -> bool:
    """Whether the bounds know all factors of an objective."""
    return all(name in BOUNDED for name in figures)


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
