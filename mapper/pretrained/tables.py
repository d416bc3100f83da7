"""Mapping problems as arrays: what the agents see of many problems at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from cost_models import Accelerator
from layers import DIMS, Layer
from maestro_env import MapSpace
from mapper.pretrained import turns as turn

Int64Array = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]

D = len(DIMS)
Y, X, R, S = (DIMS.index(d) for d in "YXRS")
OBJECTIVE_WEIGHTS = {"latency": (1.0, 0.0), "energy": (0.0, 1.0), "edp": (1.0, 1.0)}
"""Exponents of latency and energy in the objectives that were trained."""
PROBLEM_FEATURES = 2 * D + 30
UNLIMITED = 1e9
"""Elements a cycle where nothing limits a boundary."""


class ProblemTables(NamedTuple):
    """`M` problems, of which each row of a batch of proposals names one.

    Args:
        extents: ``(M, D)`` extents in the order of ``layers.DIMS``.
        window: ``(M, 4)`` strides of rows and columns, dilations of rows and columns.
        coupling: ``(M, 3, D)`` 1 where a tensor (input, filter, output) depends on a dimension.
        pes: ``(M,)`` PEs.
        capacity: ``(M, 2)`` bits that L2 and L1 hold; inf where nothing limits them.
        own: ``(M, 2, 3)`` the same of one tensor alone.
        bits: ``(M, 2, 3)`` bits an element takes in L2 and L1, double buffering included; 0 where
            the level does not hold the tensor.
        shares: ``(M, 2, 3)`` 1 where a tensor lies in the capacity that tensors share.
        counts: ``(M, TURNS)`` choices of each decision; of an order, the loops that can iterate.
        values: ``(M, TURNS, C)`` dimensions, PEs, tiles or loops that the choices stand for.
        bandwidth: ``(M, 2, 2)`` elements a cycle over the off-chip boundary into L2 and out of it,
            and over the NoC into the PEs and out of them.
        lanes: ``(M,)`` MACs that a PE does in a cycle.
        features: ``(M, PROBLEM_FEATURES)`` float32, the problem as the agents see it.
        weights: ``(M, 2)`` exponents of latency and energy in the objective.
    """

    extents: Int64Array
    window: Int64Array
    coupling: Int64Array
    pes: Int64Array
    capacity: FloatArray
    own: FloatArray
    bits: FloatArray
    shares: FloatArray
    counts: Int64Array
    values: Int64Array
    bandwidth: FloatArray
    lanes: Int64Array
    features: Float32Array
    weights: Float32Array


class Case(NamedTuple):
    """One problem: a space with its layer and accelerator, and an objective's weights.

    Args:
        space: The map space.
        weights: Exponents of latency and energy in the objective.
        copies: Copies of each tile that a buffer holds (2 with double buffering).
    """

    space: MapSpace
    weights: tuple[float, float]
    copies: int = 2

    @property
    def layer(self) -> Layer:
        """The layer."""
        return self.space.layer

    @property
    def accelerator(self) -> Accelerator:
        """The accelerator."""
        found: Accelerator = self.space.accelerator
        return found


def tabulate(cases: Sequence[Case]) -> ProblemTables:
    """The arrays of problems."""
    m = len(cases)
    choices = [_choices(case.space) for case in cases]
    width = max(len(c) for rows in choices for c in rows)
    count = np.array([[len(c) for c in rows] for rows in choices], np.int64)
    values = np.zeros((m, turn.TURNS, width), np.int64)
    for row, rows in enumerate(choices):
        for place, found in enumerate(rows):
            values[row, place, : len(found)] = found
    extents = np.array([case.layer.extents for case in cases], np.int64)
    window = np.array([_window(case.layer) for case in cases], np.int64)
    coupling = np.array([case.layer.coupling for case in cases], np.int64)
    pes = np.array([case.accelerator.num_pes for case in cases], np.int64)
    capacity = np.full((m, 2), np.inf)
    own = np.full((m, 2, 3), np.inf)
    bits = np.empty((m, 2, 3))
    shares = np.empty((m, 2, 3))
    for row, case in enumerate(cases):
        for level, buffer in enumerate(_buffers(case)):
            capacity[row, level], own[row, level], bits[row, level], shares[row, level] = buffer
    bandwidth = np.array([_bandwidth(case.accelerator) for case in cases])
    lanes = np.array([case.accelerator.simd_lanes for case in cases], np.int64)
    features = np.array([_features(case) for case in cases], np.float32)
    weights = np.array([case.weights for case in cases], np.float32)
    return ProblemTables(
        extents,
        window,
        coupling,
        pes,
        capacity,
        own,
        bits,
        shares,
        count,
        values,
        bandwidth,
        lanes,
        features,
        weights,
    )


def _window(layer: Layer) -> tuple[int, int, int, int]:
    return layer.stride_y, layer.stride_x, layer.dilation_y, layer.dilation_x


class _Room(NamedTuple):
    """What a level holds: shared bits, bits per tensor, bits per element, who shares."""

    shared: float
    own: list[float]
    widths: list[float]
    shares: list[float]


def _buffers(case: Case) -> list[_Room]:
    """Per level, L2 first. Outputs are held as partial sums."""
    accelerator = case.accelerator
    inputs, filters, _, psums = accelerator.widths
    found = []
    for buffer in accelerator.buffers():
        shared = np.inf if buffer.capacity_bits is None else float(buffer.capacity_bits)
        own = [np.inf if b is None else float(b) for b in buffer.tensor_bits]
        copies = [min(c, case.copies) for c in buffer.copies]
        widths = [
            float(w * c * held)
            for w, c, held in zip((inputs, filters, psums), copies, buffer.holds, strict=True)
        ]
        shares = [float(flag) for flag in buffer.sharing]
        found.append(_Room(shared, own, widths, shares))
    return found


def _bandwidth(chip: Accelerator) -> list[list[float]]:
    """Elements a cycle over the boundary outside of each level, into it and out of it."""
    inputs, _, outputs, psums = chip.widths
    found = []
    for buffer, leaving in zip(chip.buffers(), (outputs, psums), strict=True):
        ways = ((buffer.read_bw, inputs), (buffer.write_bw, leaving))
        found.append([UNLIMITED if bits is None else bits / width for bits, width in ways])
    return found


def _choices(space: MapSpace) -> list[list[int]]:
    """What each decision may choose; whatever the space does not search has one choice."""
    known = {p.name: _numbers(p.choices) for p in space.parameters}
    moving = [DIMS.index(d) for d in space.moving]
    found = []
    for decision in turn.all_turns():
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


def _features(case: Case) -> list[float]:
    layer, chip = case.layer, case.accelerator
    l2, l1 = (room.shared for room in _buffers(case))
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
        *case.weights,
        float(case.weights == (1.0, 1.0)),
        *(_log(size) for size in tensors),
        _log(layer.macs),
        _log(compute / (sum(tensors) / offchip)),
        _log(noc / offchip),
        *(_log(8 * size / l2) if np.isfinite(l2) else 0.0 for size in tensors),
        _log(l2 / (l1 * chip.num_pes)) if finite else 0.0,
        float(case.copies == 2),
    ]
