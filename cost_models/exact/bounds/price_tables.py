"""Energies as linear functions of what moves, read off the model's own figure.

Where a buffer has no capacity, it is priced at what a mapping requires of it, and larger buffers
cost more an access: a table by its size then gives the prices of the size below.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.exact.figures import Setting, energy_nj
from cost_models.prices import open_levels
from layers import Layer

if TYPE_CHECKING:
    from cost_models.exact.bounds.problem_facts import Passing

INPUT: Final = 1  # tensors as bits of `Passing`
FILTER: Final = 2
OUTPUT: Final = 4

# columns of a price table
DRAM: Final = 0  # +tensor: energy of an element over DRAM's boundary [nJ]; of an output that went
# there before, as over the NoC
NOC: Final = 3  # +tensor: of a distinct one over the NoC
PE: Final = 6  # +tensor: of one that a PE receives or gives
BASE: Final = 9  # of all that no mapping changes
LEAKAGE: Final = 10  # of a cycle, PEs apart
PE_LEAKAGE: Final = 11  # of a cycle of a PE
PRICES: Final = 12
SIZES: Final = 2048
"""Sizes in a table, evenly spaced in their logarithm."""


class PriceTables(NamedTuple):
    """Prices by what the buffers must hold.

    Args:
        fixed: ``(PRICES,)`` prices where both buffers hold one bit.
        more: ``(2, n, PRICES)`` what prices are above those, by the bits in L2 and in L1; one row
            where both have a capacity.
        scale: ``(2,)`` rows per doubling of the size; 0 where the size changes no price.
    """

    fixed: NDArray[np.float64]
    more: NDArray[np.float64]
    scale: NDArray[np.float64]


class Priced(NamedTuple):
    """What is priced.

    Args:
        layer: The layer.
        setting: The accelerator, prices and options.
        passing: The tensors that pass a buffer.
        most: Bits that all tensors take in the larger of both buffers.
        outputs: Elements of the output.
        real: Input elements, each of which moves at least once; None where all that move count.
        resident: Whether input, filter and output are whole in L2.
    """

    layer: Layer
    setting: Setting
    passing: Passing
    most: float
    outputs: int
    real: int | None
    resident: tuple[bool, bool, bool]


def price_tables(priced: Priced) -> PriceTables:
    """The prices of a layer's energy."""
    setting = priced.setting
    names = open_levels(setting.accelerator) if setting.table is None else ()
    fixed = _prices(priced, 1.0, 1.0)
    scale = np.zeros(2)
    if not names:
        return PriceTables(fixed, np.zeros((2, 1, PRICES)), scale)
    doublings = math.log2(priced.most) + 1
    sizes = 2 ** (np.arange(SIZES) * doublings / (SIZES - 1))
    more = np.zeros((2, SIZES, PRICES))
    if "L2" in names:
        scale[0] = (SIZES - 1) / doublings
        more[0] = _prices(priced, sizes, 1.0) - fixed
    if "L1" in names:
        scale[1] = (SIZES - 1) / doublings
        more[1] = _prices(priced, 1.0, sizes) - fixed
    # of a size and all larger ones the least
    return PriceTables(fixed, np.minimum.accumulate(more[:, ::-1], axis=1)[:, ::-1], scale)


def stacked(tables: list[PriceTables]) -> PriceTables:
    """Some tables as one, with an axis more."""
    return PriceTables(*(np.stack(parts) for parts in zip(*tables, strict=True)))


class _Moves(NamedTuple):
    """The counts that an element of a tensor adds one to.

    Args:
        dram: On its way over DRAM's boundary, between DRAM and L2.
        noc: On its way between L2 (or DRAM, where it passes L2) and the PEs.
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
    past, streamed = priced.passing.l2, priced.passing.l1
    moves = []
    for tensor, short in ((INPUT, "in"), (FILTER, "fil")):
        if streamed & tensor:
            moves.append(
                _Moves((f"dram_{short}",), (f"l2r_{short}{tile}",), (), (f"l1_skipped_{short}",))
            )
        elif past & tensor:
            moves.append(_Moves((), (f"dram_{short}", f"dram_{short}_direct"), (f"l1w_{short}",)))
        else:
            moves.append(_Moves((f"dram_{short}",), (f"l2r_{short}{tile}",), (f"l1w_{short}",)))
    written = ("dram_out_w", "dram_out_r")
    noc = (f"l2w_out{tile}", "l2r_psum")
    if streamed & OUTPUT:
        moves.append(
            _Moves(written, (*noc, "l1_skipped_out"), (), ("l1_skipped_out", "l1drain_out"))
        )
    elif past & OUTPUT:
        direct = tuple(f"{name}_direct" for name in written)
        moves.append(_Moves((), (*written, *direct), ("l1drain_out",)))
    else:
        moves.append(_Moves(written, noc, ("l1drain_out",)))
    return [
        move._replace(dram=()) if here else move
        for move, here in zip(moves, priced.resident, strict=True)
    ]


READ_BACK = ("dram_out_r", "dram_out_r_direct", "l2r_psum", "l1_skipped_out")
"""Counts of partial sums that are read back; the first write of an output is not.

So the base holds the first writes, and each further one counts: all that a price is times is no
less than 0, and a larger buffer never costs less.
"""


def _prices(priced: Priced, l2: Any, l1: Any) -> Any:
    """``(PRICES,)`` prices at the bits that the buffers must hold; a row each for arrays."""
    nothing = defaultdict[str, Any](int, {"l2_bits": l2, "l1_bits": l1})

    def energy(**counts: float) -> Any:
        return energy_nj(nothing | counts, priced.setting)

    def price(names: tuple[str, ...]) -> Any:
        return energy(**dict.fromkeys(names, 1))

    moves = _moves(priced)
    leakage = price(("latency",))
    fixed = ("macs", *(name for move in moves for name in move.macs))
    base = energy(**dict.fromkeys(fixed, priced.layer.macs))
    for names in (moves[2].dram, moves[2].noc):
        base = base + priced.outputs * price(tuple(n for n in names if n not in READ_BACK))
    columns = [price(getattr(move, way)) for way in ("dram", "noc", "pe") for move in moves]
    if priced.real is not None:
        for way in (DRAM, NOC, PE):
            base = base + priced.real * columns[way]
            columns[way] = 0.0 * columns[way]
    columns += [base, leakage, energy(latency=1, num_pes=1) - leakage]
    return np.stack(np.broadcast_arrays(*columns), axis=-1).astype(np.float64)
