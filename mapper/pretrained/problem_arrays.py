"""Mapping problems as arrays: what the agents see of many problems at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models import Chain, chain_prices
from layers import DIMS, Layer
from maestro_env import Problem
from mapper.pretrained.decisions import DECISIONS
from mapper.pretrained.nest_choices import NestChoices
from mapper.pretrained.nest_sizes import size_log
from mapper.pretrained.seen_records import LOGS, ProblemRow, Seen
from marl_common import IntArray

OBJECTIVES = ("latency", "energy", "edp")
"""Objectives that were trained."""

KEPT = 64
"""Problems whose arrays are kept."""

_WORK = np.zeros(1, Seen)
_WORK["logs"] = np.log2(np.maximum(np.arange(LOGS), 1e-9)) / 8


class ProblemArrays(NamedTuple):
    """`M` problems, of which each row of a batch of proposals names one.

    Args:
        rows: ``(M,)`` records `seen_records.ProblemRow`.
        values: ``(DECISIONS, M, C)`` dimensions, units, tiles or loops that choices stand for.
        begins: ``(M,)`` records `seen_records.StateRow`: no choice made yet.
        nests: ``(M,)`` what the decisions of each problem may choose.
        work: ``(1,)`` record `seen_records.Seen`, in which one observation at a time is made.
    """

    rows: NDArray[Any]
    values: IntArray
    begins: NDArray[Any]
    nests: tuple[NestChoices, ...]
    work: NDArray[Any]


def arrays_of(problems: Sequence[Problem]) -> ProblemArrays:
    """The arrays of problems."""
    nests = tuple(NestChoices(problem) for problem in problems)
    width = max(len(held) for nest in nests for held in nest.choices)
    values = np.zeros((len(DECISIONS), len(nests), width), np.int64)
    found, begins = np.zeros(len(nests), ProblemRow), np.stack([nest.begin() for nest in nests])
    begins["problem"] = np.arange(len(nests))
    for row, nest in enumerate(nests):
        _fill(found[row], nest)
        for place, held in enumerate(nest.choices):
            values[place, row, : len(held)] = held
    return ProblemArrays(found, values, begins, nests, _WORK.copy())


@lru_cache(maxsize=KEPT)
def arrays_of_one(problem: Problem) -> ProblemArrays:
    """The arrays of a problem, kept for its next search."""
    return arrays_of([problem])


def _fill(row: Any, nest: NestChoices) -> None:
    """Write a problem down."""
    problem, layer, chip = nest.problem, nest.problem.layer, nest.problem.accelerator
    chain = chip if isinstance(chip, Chain) else chip.to_levels()  # PEs of two stand below L2
    row["extents"], row["coupling"] = layer.extents, layer.coupling
    row["window"] = layer.stride_y, layer.stride_x, layer.dilation_y, layer.dilation_x
    row["memories"], row["counts"] = len(nest.entries), [len(held) for held in nest.choices]
    row["capacity"], row["own"] = np.inf, np.inf
    copies, (inputs, filters, _, psums) = _copies(problem), chain.widths  # psums are what is held
    for number, level in enumerate(reversed(chain.memories)):
        buffer = level.buffer
        row["capacity"][number] = buffer.capacity_bits or np.inf
        row["own"][number] = [own or np.inf for own in buffer.tensor_bits]
        widths = np.array([inputs, filters, psums]) * np.minimum(buffer.copies, copies)
        row["bits"][number], row["shares"][number] = widths * buffer.holds, buffer.sharing
    _fill_spreads(row, nest)
    row["levels"][: len(nest.entries) + 1] = _features_of_levels(layer, chain)
    row["features"] = _features(nest, chain, row["window"].tolist())


def _fill_spreads(row: Any, nest: NestChoices) -> None:
    """Where spreads stand, and what they may share; PEs of two levels are all below L2."""
    row["spreads"], row["below"] = len(nest.spreads), -1
    row["multicast"] = row["reduce"] = 1
    if nest.plan is None:
        pes = nest.problem.accelerator.num_pes
        row["pool"], row["below"][:2], row["most"][:2] = pes, 1, pes
        return
    for s, place in enumerate(nest.spreads):
        spread = nest.plan.spreads[place]
        inside = sum(entry <= spread.slot.entry for entry in nest.entries)
        row["below"][s], row["most"][s] = len(nest.entries) - inside, spread.axis.units
        row["multicast"][s], row["reduce"][s] = spread.axis.multicast, spread.axis.reduce
        row["rivals"][s][:s] = [other in spread.rivals for other in nest.spreads[:s]]


def _copies(problem: Problem) -> int:
    """Copies of each tile that a buffer holds (2 with double buffering)."""
    return int(getattr(problem.cost_model, "buffers", 2))


def _features(nest: NestChoices, chain: Chain, window: list[int]) -> list[float]:
    problem, layer, dram = nest.problem, nest.problem.layer, chain.levels[0]
    figures = problem.objective.figures
    latency, energy = "latency_cycles" in figures, any(f.startswith("energy") for f in figures)
    both = latency == energy  # EDP's features stand for objectives with neither, too
    tensors = (layer.input_size, layer.filter_size, layer.output_size)
    offchip = (dram.read_bw or 1 << 33) / 8
    return [
        *map(size_log, layer.extents),
        *map(bool, layer.coupling[1]),
        *(layer.coupling[2][DIMS.index(d)] for d in "KC"),
        *map(size_log, (*window, chain.lanes, chain.peak_macs_per_cycle)),
        len(nest.entries) / 5,
        *(latency or both, energy or both, both),
        *map(size_log, (*tensors, layer.macs)),
        size_log(layer.macs / chain.peak_macs_per_cycle / (sum(tensors) / offchip)),
        *(dram.read_bw is None, dram.shared_bw),
        *map(size_log, chain.widths),
        *_log_or_none(dram.read_bw),
        *(nest.plan is not None, _copies(problem) == 2),
    ]


def _features_of_levels(layer: Layer, chip: Chain) -> list[list[float]]:
    """``LEVEL_FEATURES`` logarithms, shares and flags of each memory, innermost first, and DRAM."""
    try:
        prices = chain_prices(chip, {}).levels
    except ValueError:  # the data do not reach the chip's node
        prices = {}
    energy = {  # of reading and of writing an element of the widest tensor [fJ]
        name: [size_log(1e6 * float(max(each))) for each in (price.read, price.write)]
        for name, price in prices.items()
    }
    inputs, filters, _, psums = chip.widths
    bits = layer.input_size * inputs, layer.filter_size * filters, layer.output_size * psums
    found = []
    for level, count in reversed([*chip.instances()]):
        if not level.is_memory:
            continue
        buffer, whole = level.buffer, level is chip.levels[0]
        limits = [0 if whole else own or buffer.capacity_bits for own in buffer.tensor_bits]
        shares = [
            size_log(size / limit) if limit and held else 0.0
            for size, limit, held in zip(bits, limits, level.holds, strict=True)
        ]
        found.append([
            *(1.0, *_log_or_none(None if whole else buffer.total_bits), *level.holds, *shares),
            *(*_log_or_none(level.read_bw), _log_or_none(level.write_bw)[0], level.shared_bw),
            *(size_log(level.fanout.units), size_log(count)),
            *energy.get(level.name, (0.0, 0.0)),
        ])  # fmt: skip
    return found


def _log_or_none(limit: float | None) -> tuple[float, bool]:
    """Logarithm of a limit, and whether there is none."""
    return (0.0, True) if limit is None else (size_log(limit), False)
