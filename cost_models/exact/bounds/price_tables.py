"""Energies as linear functions of what moves, read off the model's own figure.

Where a buffer has no capacity, it is priced at what a mapping requires of it, and larger buffers
cost more an access: a table by its size then gives the prices of the size below.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cost_models.exact.bounds.box_records import FILTER, IN, INNER, OUT, OUTER, TENSORS
from cost_models.exact.figures import Setting, energy_nj
from cost_models.prices import open_levels
from layers import Layer
from marl_common import FloatArray

if TYPE_CHECKING:
    from cost_models.exact.bounds.problem_facts import Bypass

SIZES: Final = 2048
"""Sizes in a table, evenly spaced in their logarithm."""


class PriceTables(NamedTuple):
    """Prices by what the buffers must hold, each with the fields of `box_records.Price`.

    Args:
        fixed: ``(12,)`` prices where both buffers hold one bit.
        more: ``(2, n, 12)`` what prices are above those, by the bits in L2 and in L1; one row
            where both have a capacity.
        scale: ``(2,)`` rows per doubling of the size; 0 where the size changes no price.
    """

    fixed: FloatArray
    more: FloatArray
    scale: FloatArray


class Priced(NamedTuple):
    """What is priced.

    Args:
        layer: The layer.
        setting: The accelerator, prices and options.
        bypassed: The tensors that bypass a level.
        most: Bits that all tensors take in the larger of both buffers.
        real: Input elements, each of which moves at least once; None where all that move count.
        resident: Whether input, filter and output are whole in L2.
    """

    layer: Layer
    setting: Setting
    bypassed: Bypass
    most: float
    real: int | None
    resident: tuple[bool, bool, bool]


def price_tables(priced: Priced) -> PriceTables:
    """The prices of a layer's energy."""
    setting = priced.setting
    names = open_levels(setting.accelerator) if setting.table is None else ()
    fixed, scale = _prices(priced, 1.0, 1.0), np.zeros(2)
    if not names:
        return PriceTables(fixed, np.zeros((2, 1, len(fixed))), scale)
    doublings = math.log2(priced.most) + 1
    sizes = 2 ** (np.arange(SIZES) * doublings / (SIZES - 1))
    more = np.zeros((2, SIZES, len(fixed)))
    for level, name, held in ((OUTER, "L2", (sizes, 1.0)), (INNER, "L1", (1.0, sizes))):
        if name in names:
            scale[level] = (SIZES - 1) / doublings
            more[level] = _prices(priced, *held) - fixed
    # of a size and all larger ones the least
    return PriceTables(fixed, np.minimum.accumulate(more[:, ::-1], axis=1)[:, ::-1], scale)


class _Moves(NamedTuple):
    """The counts that an element of a tensor adds one to.

    Args:
        dram: On its way over DRAM's boundary, between DRAM and L2.
        noc: On its way between L2 (or DRAM, where it bypasses L2) and the PEs.
        pe: Where a PE receives or gives it.
        macs: Those that are one for every MAC.
    """

    dram: tuple[str, ...]
    noc: tuple[str, ...]
    pe: tuple[str, ...]
    macs: tuple[str, ...] = ()


def _moves(priced: Priced) -> list[_Moves]:
    """The counts of input, filter and output."""
    tile = "_tile" if priced.setting.tile else ""
    l2, l1 = priced.bypassed.l2, priced.bypassed.l1
    moves = []
    for tensor, short in ((IN, "in"), (FILTER, "fil")):
        dram, noc, pe = f"dram_{short}", f"l2r_{short}{tile}", f"l1w_{short}"
        if l1 >> tensor & 1:
            moves.append(_Moves((dram,), (noc,), (), (f"l1_skipped_{short}",)))
        elif l2 >> tensor & 1:
            moves.append(_Moves((), (dram, f"{dram}_direct"), (pe,)))
        else:
            moves.append(_Moves((dram,), (noc,), (pe,)))
    written, drain = ("dram_out_w", "dram_out_r"), ("l1drain_out",)
    noc_out, skipped = (f"l2w_out{tile}", "l2r_psum"), ("l1_skipped_out",)
    if l1 >> OUT & 1:
        moves.append(_Moves(written, noc_out + skipped, (), skipped + drain))
    elif l2 >> OUT & 1:
        moves.append(_Moves((), (*written, *(f"{name}_direct" for name in written)), drain))
    else:
        moves.append(_Moves(written, noc_out, drain))
    return [
        move._replace(dram=()) if here else move
        for move, here in zip(moves, priced.resident, strict=True)
    ]


READ_BACK = ("dram_out_r", "dram_out_r_direct", "l2r_psum", "l1_skipped_out")
"""Counts of partial sums that are read back; the first write of an output is not.

So the base holds the first writes, and each further one counts: all that a price is times is no
less than 0, and a larger buffer never costs less.
"""


def _prices(priced: Priced, l2: Any, l1: Any) -> FloatArray:
    """``(12,)`` prices at the bits that the buffers must hold; a row each for arrays."""
    nothing = defaultdict[str, Any](int, {"l2_bits": l2, "l1_bits": l1})

    def energy(**counts: float) -> Any:
        return energy_nj(nothing | counts, priced.setting)

    def price(names: tuple[str, ...]) -> Any:
        return energy(**dict.fromkeys(names, 1))

    moves, leakage = _moves(priced), price(("latency",))
    fixed = ("macs", *(name for move in moves for name in move.macs))
    base = energy(**dict.fromkeys(fixed, priced.layer.macs))
    for names in (moves[OUT].dram, moves[OUT].noc):
        first = tuple(name for name in names if name not in READ_BACK)
        base = base + priced.layer.output_size * price(first)
    moved = [price(getattr(move, way)) for way in ("dram", "noc", "pe") for move in moves]
    if priced.real is not None:
        for place in range(0, len(moved), TENSORS):
            base = base + priced.real * moved[place]
            moved[place] = 0.0 * moved[place]
    columns = [base, leakage, energy(latency=1, num_pes=1) - leakage, *moved]
    return np.stack(np.broadcast_arrays(*columns), axis=-1).astype(np.float64)
