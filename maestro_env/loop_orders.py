"""Loop orders by number: all permutations of some dimensions, with others outside or inside."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from layers import DIMS
from marl_common import Int8Array, IntArray


class Orders(NamedTuple):
    """All orders of some dimensions.

    Args:
        table: ``(n!, 8)``: the dimensions that stay outermost, then a permutation, lexicographic.
        names: The permutations, such as ``"KCYXRS"``.
        number: Number of each name.
    """

    table: Int8Array
    names: tuple[str, ...]
    number: dict[str, int]


@lru_cache(maxsize=8)
def orders_of(dims: str) -> Orders:
    """The orders of `dims`, which are in the order of `DIMS`; the others stay outermost."""
    lead = [DIMS.index(dim) for dim in DIMS if dim not in dims]
    permuted = np.array(list(permutations([DIMS.index(dim) for dim in dims])), dtype=np.int8)
    names = tuple("".join(order) for order in permutations(dims))
    outer = np.broadcast_to(np.array(lead, np.int8), (len(permuted), len(lead)))
    table = np.ascontiguousarray(np.concatenate([outer, permuted], axis=1))
    table.setflags(write=False)
    return Orders(table, names, {name: i for i, name in enumerate(names)})


@lru_cache(maxsize=8)
def numbered(count: int) -> Int8Array:
    """``(n!, n)``: the permutations of 0 to n - 1, lexicographic."""
    table = np.array(list(permutations(range(count))), dtype=np.int8)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=8)
def order_swaps(count: int) -> IntArray:
    """``(n!, n (n - 1) / 2)``: number of each order of n dimensions with two places swapped."""
    orders = numbered(count)
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    table = np.empty((len(orders), len(pairs)), dtype=np.int64)
    for column, (a, b) in enumerate(pairs):
        swapped = orders.copy()
        swapped[:, [a, b]] = orders[:, [b, a]]
        table[:, column] = ranks_of(swapped)
    table.setflags(write=False)
    return table


MOST_LISTED = 6
"""Dimensions whose orders are looked up by their digits; more take too large a table."""


def ranks_of(orders: Int8Array) -> IntArray:
    """Lexicographic place of each permutation ``(B, n)`` of 0 to n - 1."""
    count = orders.shape[1]
    if count > MOST_LISTED:
        return _counted(orders)
    ranks: IntArray = _ranks(count)[orders @ count ** np.arange(count)]
    return ranks


@lru_cache(maxsize=8)
def _ranks(count: int) -> IntArray:
    """``(n^n,)`` places of permutations by their digits, the first one times 1."""
    orders = numbered(count)
    table = np.zeros(count**count, dtype=np.int64)
    table[orders @ count ** np.arange(count)] = np.arange(len(orders))
    table.setflags(write=False)
    return table


def _counted(orders: Int8Array) -> IntArray:
    """The same by counting what is smaller than each digit behind it."""
    count = orders.shape[1]
    ranks = np.zeros(len(orders), dtype=np.int64)
    for place in range(count):
        smaller = (orders[:, place + 1 :] < orders[:, place, None]).sum(axis=1)
        ranks = ranks * (count - place) + smaller
    return ranks
