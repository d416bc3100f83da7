"""In which order proposals are offered: good ones first, but not all alike (compiled)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from common import compiled
from mapper.pretrained.state import State
from mapper.pretrained.tables import D

ALIKE: Final = 0.05
"""What a proposal loses by its equal, in the judge's logarithms."""
REACH: Final = 3.0
"""Distance over which that falls to 1 / e: factors of two between tiles, added up."""
ARRANGED: Final = 3.0
"""Distance of two parallel dimensions, or of cluster sizes a factor of two apart."""
ROUNDED: Final = 1e-3
"""What the judge expects of equal mappings differs by less."""
CANDIDATES: Final = 8
"""So many of the best are looked at for each one offered."""
PRIME: Final = 1_099_511_628_211
"""Of Fowler, Noll and Vo's hash, in 64 bits."""


@compiled
def fingerprints(state: State) -> Any:
    """``(B,)`` int64, alike where mappings are."""
    found = np.empty(len(state.cluster), np.int64)
    for row in range(len(found)):
        mixed = np.int64(state.cluster[row])
        for level in range(2):
            mixed = (mixed ^ state.spread[row, level]) * PRIME
            for d in range(D):
                mixed = (mixed ^ state.tiles[row, level, d]) * PRIME
                mixed = (mixed ^ state.orders[row, level, d]) * PRIME
                mixed ^= mixed >> 29
        found[row] = mixed
    return found


@compiled
def offered_first(rows: Any, expected: Any, state: State, count: int) -> Any:
    """Rows of one problem as they are offered.

    What the judge errs about one mapping it errs about its like. So each offer counts against those
    that are near to it, and the next is the best of what is left so.

    Args:
        rows: ``(N,)`` different mappings, the best expected first.
        expected: ``(B,)`` logarithms that the judge expects of all mappings.
        state: All mappings.
        count: So many are chosen one after another; the rest follow as they come.
    """
    size = min(len(rows), CANDIDATES * count)
    where = np.empty((size, 2 * D + 1))
    loss = np.empty(size)
    for n in range(size):
        row = rows[n]
        loss[n] = expected[row]
        where[n, 2 * D] = ARRANGED * np.log2(max(state.cluster[row], 1))
        for d in range(D):
            where[n, d] = np.log2(state.tiles[row, 0, d])
            where[n, D + d] = np.log2(state.tiles[row, 1, d])
    order = rows.copy()
    taken = np.zeros(size, np.bool_)
    for place in range(min(count, size)):
        best = -1
        for n in range(size):
            if not taken[n] and (best < 0 or loss[n] < loss[best]):
                best = n
        taken[best] = True
        order[place] = rows[best]
        for n in range(size):
            if not taken[n]:
                far = 0.0
                for level in range(2):
                    if state.spread[rows[n], level] != state.spread[rows[best], level]:
                        far += ARRANGED
                for k in range(2 * D + 1):
                    far += abs(where[n, k] - where[best, k])
                loss[n] += ALIKE * np.exp(-far / REACH)
    place = min(count, size)
    for n in range(size):
        if not taken[n]:
            order[place] = rows[n]
            place += 1
    return order


@compiled
def different(order: Any, which: Any, expected: Any, numbers: Any) -> Any:
    """Rows without those of a mapping that stands before.

    Args:
        order: ``(N,)`` rows, problem by problem, those first that the judge expects most of.
        which: ``(B,)`` problem of each row.
        expected: ``(B,)`` what the judge expects, which is nearly equal of equal mappings.
        numbers: ``(B,)`` fingerprints.
    """
    kept = np.empty_like(order)
    count = 0
    for row in order:
        new = True
        for place in range(count - 1, -1, -1):
            other = kept[place]
            if which[other] != which[row] or expected[row] - expected[other] > ROUNDED:
                break
            if numbers[other] == numbers[row]:
                new = False
                break
        if new:
            kept[count] = row
            count += 1
    return kept[:count]
