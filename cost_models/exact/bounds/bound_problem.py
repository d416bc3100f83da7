"""Layer, accelerator, options and objective as the arrays that the compiled bounds take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.exact.costs import ROW_NAMES
from cost_models.exact.figures import FIGURE_OF, Setting
from cost_models.exact.layout import (
    DEPTHWISE_OUTPUT_MASK,
    FILTER_MASK,
    INPUT_MASK,
    OUTPUT_MASK,
    R,
    Y,
)
from cost_models.lower_bounds import Structures
from layers import DIMS, Layer

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

D: Final = len(DIMS)
IN: Final = 0
FILTER: Final = 1
OUT: Final = 2
L2: Final = 0
L1: Final = 1
# what moves an element: over DRAM's boundary; distinct over the NoC; into or out of a PE
DRAM: Final = 0
NOC: Final = 1
PE: Final = 2
NOC_IN: Final = 0
NOC_OUT: Final = 1
DRAM_IN: Final = 2
DRAM_OUT: Final = 3

ENERGIES = ("energy_nj", "energy_total_nj")
BOUNDED = ("latency_cycles", *ENERGIES)
"""Figures whose bounds depend on the mapping."""


# --- `facts`: numbers of the problem -----------------------------------------------------------
EXTENT: Final = 0  # +dimension
STRIDE: Final = D  # +pair (rows, columns)
SIZE: Final = STRIDE + 2  # +tensor: its elements; the input's without rows, columns and taps
WEIGHT: Final = SIZE + 3  # +3 * level + tensor: what an element takes of L2 or L1, copies included
CAPACITY: Final = WEIGHT + 6  # +level; inf = anything
BANDWIDTH: Final = CAPACITY + 2  # +boundary and direction [elements/cycle]; may be inf
PRICE: Final = BANDWIDTH + 4  # +3 * what moves it + tensor: energy of an element [nJ]
BASE: Final = PRICE + 9  # energy that no mapping changes [nJ]
SCALE: Final = BASE + 1  # the factors of the objective that are not bounded here, at their least
LIMIT: Final = SCALE + 1  # largest latency [cycles] and energy [nJ] allowed
LANES: Final = LIMIT + 2
REPEATS: Final = LANES + 1
FACTS: Final = REPEATS + 1

# --- `flags`: its whole numbers ---------------------------------------------------------------
COUPLED: Final = 0  # +tensor: dimensions as bits
POWER: Final = 3  # how often latency and energy are factors of the objective
SLIDE: Final = 5  # whether rows that a sliding window keeps are not fetched again
FILLS: Final = 6  # whether the first tiles' fills come before all else in the latency
ACTIVE: Final = 7  # number of dimensions whose extent is above 1; +1: which
FLAGS: Final = ACTIVE + 1 + D


class Offers(NamedTuple):
    """The tiles that are offered, and where a number stands among them.

    Args:
        tiles: ``(2, D, most)`` outer and inner tiles, ascending.
        above: Smallest inner tile at or above each number, dimension after dimension.
        below: ``(2, ...)`` position of the largest outer (inner) tile at or below each number.
        offset: ``(D,)`` where a dimension begins in `above` and `below`.
        uneven: ``(D, most)`` share of a dimension in a smaller last step of an outer tile that is
            not in parallel.
    """

    tiles: Floats
    above: Floats
    below: Ints
    offset: Ints
    uneven: Floats


class BoundProblem(NamedTuple):
    """One problem, for compiled code.

    Args:
        facts: ``(FACTS,)`` numbers.
        flags: ``(FLAGS,)`` whole numbers.
        offers: The tiles that are offered.
    """

    facts: Floats
    flags: Ints
    offers: Offers


def bound_problem(
    model: ExactOptions,
    layer: Layer,
    accelerator: Accelerator,
    figures: Sequence[str],
    limits: Mapping[str, float],
    structures: Structures,
    scale: float,
) -> BoundProblem:
    """Gather what the bounds need.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective.
        limits: Such as ``{"max_latency_cycles": 1e6}``.
        structures: The tiles that are offered.
        scale: Product of the least values of the factors that are not `BOUNDED`.
    """
    masks = (INPUT_MASK, FILTER_MASK, DEPTHWISE_OUTPUT_MASK if layer.depthwise else OUTPUT_MASK)
    extents = np.array(layer.extents, dtype=np.float64)
    sizes = [_size(extents, mask, tensor) for tensor, mask in enumerate(masks)]
    base, prices = _prices(layer, model.setting(accelerator), sizes[OUT])
    noc, offchip = accelerator.noc_bw or math.inf, accelerator.offchip_bw or math.inf
    facts = np.concatenate(
        [
            extents,
            [min(layer.stride, max(layer.R, layer.S))] * 2,
            sizes,
            np.full(6, model.buffers),
            [_limit(accelerator.l2_bytes), _limit(accelerator.l1_bytes)],
            [noc, noc, offchip, offchip],
            prices.ravel(),
            [base, scale],
            [
                limits.get("max_latency_cycles", math.inf),
                min(limits.get(f"max_{name}", math.inf) for name in ENERGIES),
            ],
            [accelerator.simd_lanes, layer.repeats],
        ]
    ).astype(np.float64)
    active = np.flatnonzero(extents > 1).tolist()
    flags = np.array(
        [
            *masks,
            figures.count("latency_cycles"),
            sum(map(figures.count, ENERGIES)),
            model.halo_time == "slide",
            model.latency == "stepwise",
            len(active),
            *active,
            *[0] * (D - len(active)),
        ],
        dtype=np.int64,
    )
    return BoundProblem(facts, flags, _offers(layer.extents, structures))


def _limit(capacity: int | None) -> float:
    return math.inf if capacity is None else float(capacity)


def _size(extents: Floats, mask: int, tensor: int) -> float:
    dims = [d for d in range(D) if mask >> d & 1 and not (tensor == IN and Y <= d <= R + 1)]
    return math.prod(float(extents[d]) for d in dims)


def _prices(layer: Layer, setting: Setting, outputs: float) -> tuple[float, Floats]:
    """The energy as a linear function of what moves, read off the model's own figure."""
    nothing: dict[str, int] = dict.fromkeys(ROW_NAMES, 0)

    def energy(**counts: int) -> float:
        return float(FIGURE_OF["energy_nj"](nothing | counts, setting))

    def price(*names: str) -> float:
        return energy(**dict.fromkeys(names, 1))

    suffix = "_tile" if setting.tile else ""
    prices = np.array(
        [
            [price("dram_in"), price("dram_fil"), price("dram_out_w", "dram_out_r")],
            [
                price(f"l2r_in{suffix}"),
                price(f"l2r_fil{suffix}"),
                price(f"l2w_out{suffix}", "l2r_psum"),
            ],
            [price("l1w_in"), price("l1w_fil"), price("l1drain_out")],
        ]
    )
    # the first write of each output is not read back
    first = outputs * (price("dram_out_r") + price("l2r_psum"))
    return energy(macs=layer.macs // layer.repeats) - first, prices


def _offers(extents: Sequence[int], structures: Structures) -> Offers:
    levels = (structures.outer_tiles, structures.inner_tiles)
    most = max(len(tiles) for level in levels for tiles in level)
    tiles = np.zeros((2, D, most))
    uneven = np.zeros((D, most))
    offset = np.concatenate([[0], np.cumsum(np.array(extents) + 1)])
    above = np.zeros(offset[-1])
    below = np.zeros((2, offset[-1]), dtype=np.int64)
    for d in range(D):
        numbers = np.arange(extents[d] + 1)
        mine = slice(offset[d], offset[d + 1])
        for level in (0, 1):
            choices = levels[level][d]
            tiles[level, d, : len(choices)] = choices
            below[level, mine] = np.searchsorted(choices, numbers, side="right") - 1
        outer, inner = structures.outer_tiles[d], structures.inner_tiles[d]
        position = np.searchsorted(inner, numbers)
        above[mine] = np.append(inner, extents[d])[position]
        rest = extents[d] % outer
        uneven[d, : len(outer)] = np.where(outer < extents[d], rest / extents[d], 0)
        covered = above[offset[d] + rest] < outer  # an inner tile covers the rest, not the tile
        uneven[d, : len(outer)] *= covered
        if not np.isin(outer, inner).all():
            # an inner tile may be cut to an outer one that is no choice itself: round up
            below[1, mine] = np.minimum(position, len(inner) - 1)
    return Offers(tiles, above, below, offset[:-1], uneven)
