"""What no mapping of parts of a layer is below on a list of levels, for the checker alone.

Energy is the model's own floor of the least work of each part. Cycles are those of the best spread
over the axes of all fan-outs, or of its elements over DRAM's port, whichever takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, cached_property

import numpy as np

from cost_models import Chain, LeastWork, energy_floor, leakage_nj, offchip_cycles
from layers import DIMS, TENSORS, Layer, LayerKind
from mapper.certificate.relaxation import TIGHT
from mapper.staying.shape_facts import Resident
from marl_common import FloatArray

MOST_SPREADS = 20_000
"""Ways to spread dimensions over all axes that are told apart; of more, all units are busy."""
Units = tuple[int, ...]
"""Units along each of `DIMS`."""
Outputs = tuple[tuple[int, ...], tuple[int, ...]]
"""Rows and columns of outputs that parts have."""


class DeepPrices:
    """What parts cost at least on a list of levels.

    Args:
        chip: The chip.
        padding_free: Whether padding is not counted.
    """

    def __init__(self, chip: Chain, padding_free: bool) -> None:
        self.padding_free = padding_free
        self._chip, self._leak = chip, leakage_nj(chip)
        self._steps = cache(self._steps_of)

    def of_parts(
        self,
        layer: Layer,
        outputs: Outputs,
        sizes: Mapping[str, FloatArray],
        resident: Resident,
    ) -> FloatArray:
        """Energy [nJ] and latency [cycles] of parts: ``(2, rows, columns)``.

        Args:
            layer: The whole layer.
            outputs: Rows and columns of outputs.
            sizes: Elements of each tensor of each part.
            resident: Tensors that are whole in the level next to DRAM.
        """
        macs = sizes["output"] * (layer.macs // layer.output_size)
        input_, filter_, output = (name in resident for name in TENSORS)
        here = input_, filter_, output
        elements = [sizes[name] for name in TENSORS]
        loaded = [n * (not is_here) for n, is_here in zip(elements, here, strict=True)]
        cycles = np.ceil(self._steps(layer, outputs) * TIGHT / self._chip.lanes)
        cycles = np.maximum(cycles, offchip_cycles(self._chip, loaded))
        work = LeastWork(macs, elements, here, padding_free=self.padding_free)
        return np.stack([energy_floor(work, self._chip) + self._leak * cycles, cycles])

    def _steps_of(self, layer: Layer, outputs: Outputs) -> FloatArray:
        """MACs at least of the busiest instance that the last axes feed: ``(rows, columns)``."""
        rows, columns = (np.array(some, float) for some in outputs)
        axes = DIMS.index("Y"), DIMS.index("N" if layer.kind is LayerKind.GEMM else "X")
        fixed = [(at, extent) for at, extent in enumerate(layer.extents) if at not in axes]
        shares: dict[Units, int] = {}
        for units in self._spreads:
            share = math.prod(-(-extent // units[at]) for at, extent in fixed)
            along = tuple(units[at] for at in axes)
            shares[along] = min(share, shares.get(along, share))
        if not shares:
            whole = math.prod(extent for _, extent in fixed) * np.outer(rows, columns)
            return whole / (self._chip.peak_macs_per_cycle / self._chip.lanes)
        found: FloatArray = np.minimum.reduce(
            [share * np.outer(np.ceil(rows / y), np.ceil(columns / x))
             for (y, x), share in shares.items()]
        )  # fmt: skip
        return found

    @cached_property
    def _spreads(self) -> set[Units]:
        """All ways to spread a dimension over each axis; none where there are too many."""
        found: set[Units] = {(1,) * len(DIMS)}
        for level in self._chip.levels:
            for axis in () if level.fanout.any else level.fanout.axes:
                places = [DIMS.index(dim) for dim in axis.dims]
                found = {
                    (*one[:at], one[at] * axis.units, *one[at + 1 :])
                    for one in found
                    for at in places
                }
                if len(found) > MOST_SPREADS:
                    return set()
        return found
