"""Mapping problems as arrays: what the agents see of many problems at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from layers import DIMS, Layer
from maestro_env import MapSpace, Problem
from mapper.pretrained.decisions import DECISIONS
from mapper.pretrained.seen_records import ProblemRow
from marl_common import IntArray

OBJECTIVES = {"latency": (1.0, 0.0), "energy": (0.0, 1.0), "edp": (1.0, 1.0)}
"""Objectives that were trained, with their exponents of latency and energy."""


class ProblemArrays(NamedTuple):
    """`M` problems, of which each row of a batch of proposals names one.

    Args:
        rows: ``(M,)`` records `seen_records.ProblemRow`.
        values: ``(M, DECISIONS, C)`` dimensions, PEs, tiles or loops that choices stand for.
    """

    rows: NDArray[Any]
    values: IntArray

    @property
    def counts(self) -> IntArray:
        """``(M, DECISIONS)`` choices of each decision; of an order, loops that can iterate."""
        counts: IntArray = self.rows["counts"]
        return counts


def arrays_of(problems: Sequence[Problem]) -> ProblemArrays:
    """The arrays of problems."""
    choices = [_choices(problem.space) for problem in problems]
    width = max(len(c) for rows in choices for c in rows)
    values = np.zeros((len(problems), len(DECISIONS), width), np.int64)
    for row, rows in enumerate(choices):
        for place, held in enumerate(rows):
            values[row, place, : len(held)] = held
    found = np.zeros(len(problems), ProblemRow)
    for one, problem in zip(found, problems, strict=True):
        one["extents"], one["window"] = problem.layer.extents, _window(problem.layer)
        one["coupling"], one["pes"] = problem.layer.coupling, problem.accelerator.num_pes
        for level, buffer in enumerate(_buffers(problem)):
            for name, value in zip(_Buffer._fields, buffer, strict=True):
                one[name][level] = value
        one["features"] = _features(problem)
    found["counts"] = [[len(c) for c in rows] for rows in choices]
    return ProblemArrays(found, values)


def weights_of(problem: Problem) -> tuple[float, float]:
    """Exponents of latency and energy in the objective; EDP's where it has neither."""
    figures = problem.objective.figures
    latency = float("latency_cycles" in figures)
    energy = float(any(figure.startswith("energy") for figure in figures))
    return (latency, energy) if latency or energy else (1.0, 1.0)


def _copies(problem: Problem) -> int:
    """Copies of each tile that a buffer holds (2 with double buffering)."""
    return int(getattr(problem.cost_model, "buffers", 2))


def _window(layer: Layer) -> tuple[int, int, int, int]:
    return layer.stride_y, layer.stride_x, layer.dilation_y, layer.dilation_x


class _Buffer(NamedTuple):
    """Bits that tensors share, bits of each tensor alone, bits of an element, who shares."""

    capacity: float
    own: list[float]
    bits: list[float]
    shares: list[float]


def _buffers(problem: Problem) -> list[_Buffer]:
    """A level each, L2 first. Outputs are held as partial sums."""
    inputs, filters, _, psums = problem.accelerator.widths
    return [
        _Buffer(
            np.inf if buffer.capacity_bits is None else float(buffer.capacity_bits),
            [np.inf if b is None else float(b) for b in buffer.tensor_bits],
            [
                float(width * min(copies, _copies(problem)) * held)
                for width, copies, held in zip(
                    (inputs, filters, psums), buffer.copies, buffer.holds, strict=True
                )
            ],
            [float(flag) for flag in buffer.sharing],
        )
        for buffer in problem.accelerator.buffers()
    ]


def _choices(space: MapSpace) -> list[list[int]]:
    """What each decision may choose; whatever the space does not search has one choice."""
    known = {p.name: _numbers(p.choices) for p in space.parameters}
    moving = [DIMS.index(d) for d in space.moving]
    found = []
    for decision in DECISIONS:
        if decision.is_order:
            found.append(moving or [0])
        elif decision.dim >= 0:
            found.append(known.get(decision.name, [space.layer.extents[decision.dim]]))
        else:
            found.append(known[decision.name])
    return found


def _numbers(choices: Sequence[int | str]) -> list[int]:
    if isinstance(choices[0], int):  # as all of them are, then
        return list(cast(Sequence[int], choices))
    return [DIMS.index(str(c)) if len(str(c)) == 1 else -1 for c in choices]


def _log(value: float) -> float:
    return float(np.log2(max(value, 1e-9))) / 8


def _limit(value: int | None) -> list[float]:
    return [0.0, 1.0] if value is None else [_log(value), 0.0]


def _features(problem: Problem) -> list[float]:
    layer, chip = problem.layer, problem.accelerator
    l2, l1 = (buffer.capacity for buffer in _buffers(problem))
    weights = weights_of(problem)
    tensors = (layer.input_size, layer.filter_size, layer.output_size)
    offchip = chip.offchip_bw or 1e9
    noc = chip.noc_bw or 1e9
    compute = layer.macs / (chip.num_pes * chip.simd_lanes)
    finite = np.isfinite(l2) and np.isfinite(l1)
    return [
        *(_log(n) for n in layer.extents),
        *(float(bool(c)) for c in layer.coupling[1]),
        *(float(layer.coupling[2][DIMS.index(d)]) for d in "KC"),
        *(_log(v) for v in _window(layer)),
        _log(chip.num_pes),
        _log(chip.simd_lanes),
        *_limit(None if np.isinf(l1) else int(l1)),
        *_limit(None if np.isinf(l2) else int(l2)),
        *_limit(chip.noc_bw),
        *_limit(chip.offchip_bw),
        *weights,
        float(weights == (1.0, 1.0)),
        *(_log(size) for size in tensors),
        _log(layer.macs),
        _log(compute / (sum(tensors) / offchip)),
        _log(noc / offchip),
        *(_log(8 * size / l2) if np.isfinite(l2) else 0.0 for size in tensors),
        _log(l2 / (l1 * chip.num_pes)) if finite else 0.0,
        float(_copies(problem) == 2),
    ]
