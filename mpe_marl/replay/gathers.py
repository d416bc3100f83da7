"""Compiled gathers and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled
from mpe_marl.replay.intrinsics import copy_row, prefetch

Rows = NDArray[np.int64]
Float32 = NDArray[np.float32]


_AHEAD = 16  # rows to prefetch ahead of the copy
_LINE = 16  # float32 numbers in a cache line
_LONG = 2048  # rows of more numbers are long enough for the machine's own prefetch


@compiled
def gather_rows(data: Float32, rows: Rows, out: Float32) -> None:
    """Copy rows of a C-ordered ``(R, W)`` table: ``out[k] = data[rows[k]]``.

    Raises:
        IndexError: A row outside the table.
    """
    width, count = data.shape[1], rows.shape[0]
    if count and (rows.min() < 0 or rows.max() >= data.shape[0]):
        raise IndexError("row outside the table")
    for k in range(count):
        if width <= _LONG and k + _AHEAD < count:
            for column in range(0, width, _LINE):
                prefetch(data, rows[k + _AHEAD], column)
        copy_row(out, k, data, rows[k], width * 4)


@compiled
def write_joint(
    data: Float32,
    first: int,
    obs: Float32,
    actions: NDArray[Any],
    rewards: NDArray[np.float64],
    next_obs: Float32,
    terminated: NDArray[np.bool_],
    act_dim: int,
) -> None:
    """Write one step of ``W`` worlds as joint records; discrete ``(W, N)`` actions one-hot."""
    n, d = obs.shape[1], obs.shape[2]
    for w in range(obs.shape[0]):
        row = data[first + w]
        at = 0
        for i in range(n):
            for f in range(d):
                row[at] = obs[w, i, f]
                at += 1
        for i in range(n):
            for a in range(act_dim):
                row[at + a] = 0.0
            row[at + actions[w, i]] = 1.0
            at += act_dim
        for i in range(n):
            for f in range(d):
                row[at] = next_obs[w, i, f]
                at += 1
        for i in range(n):
            row[at] = rewards[w, i]
            at += 1
        row[at] = terminated[w]


@compiled
def gather_states(
    states: Float32,
    finals: Float32,
    final_slot: NDArray[np.int32],
    rows: Rows,
    streams: int,
    out: Float32,
    next_out: Float32,
) -> None:
    """Copy states and the states after them.

    The state after a row is the same stream's next row, or the episode's final state.
    """
    n_rows, nbytes = states.shape[0], states.shape[1] * 4
    for k in range(rows.shape[0]):
        row = rows[k]
        slot = final_slot[row]
        copy_row(out, k, states, row, nbytes)
        if slot >= 0:
            copy_row(next_out, k, finals, slot, nbytes)
        else:
            copy_row(next_out, k, states, (row + streams) % n_rows, nbytes)


@compiled
def expand_moves(moves: NDArray[np.uint8], rows: Rows, out: Float32) -> None:
    """One-hot rows of stored moves: ``out[k, i, moves[rows[k], i]] = 1``."""
    out[:] = 0.0
    for k in range(rows.shape[0]):
        for i in range(out.shape[1]):
            out[k, i, moves[rows[k], i]] = 1.0


@compiled
def tree_set(tree: NDArray[np.float64], rows: Rows, values: NDArray[np.float64]) -> None:
    """Set leaves of a sum tree (leaf ``r`` at ``len / 2 + r``) and the sums above them."""
    half = tree.shape[0] // 2
    for k in range(rows.shape[0]):
        node = half + rows[k]
        tree[node] = values[k]
        node //= 2
        while node >= 1:
            tree[node] = tree[2 * node] + tree[2 * node + 1]
            node //= 2


@compiled
def tree_find(tree: NDArray[np.float64], mass: NDArray[np.float64], out: Rows) -> None:
    """The leaf at which the running sum passes each mass in [0, tree[1])."""
    half = tree.shape[0] // 2
    for k in range(mass.shape[0]):
        rest, node = mass[k], 1
        while node < half:
            node *= 2
            if rest >= tree[node] and tree[node + 1] > 0.0:
                rest -= tree[node]
                node += 1
        out[k] = node - half
