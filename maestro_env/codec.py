"""Translation between actions and mapping arrays: what the compiled code is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maestro_env import kernel
from maestro_env.codec_layout import OFFERED, WIDTH, Columns, OfferRow
from marl_common import Int8Array, Int32Array, IntArray, contiguous


class Offer(NamedTuple):
    """Whether a space offers mappings; only `status` has a meaning where it is `OFFERED`.

    Args:
        status: One of the codes of `codec_layout`.
        row: The first mapping that is not offered.
        column: The parameter that lacks a choice, or -1.
        dim: The dimension that is meant, or -1.
        value: The value of the mapping there.
    """

    status: int
    row: int
    column: int
    dim: int
    value: int


@dataclass(frozen=True)
class SpaceLayout:
    """Where each part of a mapping sits in an action.

    Args:
        nvec: ``(P,)`` number of choices.
        values: ``(P, most choices)`` the value of each choice (priority, number of an order or a
            dimension, tile, PEs), ascending.
        table: ``(orders, 8)`` the orders by number; none where orders are not numbered.
        columns: ``(1,)`` of `codec_layout.Columns`.
    """

    nvec: IntArray
    values: Int32Array
    table: Int8Array
    columns: Any

    @classmethod
    def of(
        cls, nvec: IntArray, values: Int32Array, table: Int8Array, fields: Mapping[str, Any]
    ) -> SpaceLayout:
        """A layout from the fields of its columns; what follows from others is worked out."""
        columns = np.zeros(1, Columns)
        for name, value in fields.items():
            columns[name][0] = value
        columns["parameters"], columns["most"] = values.shape
        lead = columns["lead"][0] != 0
        for level in range(2):
            moves = columns["priority"][0, level] >= 0
            order = [*np.flatnonzero(lead), *np.flatnonzero(moves), *np.flatnonzero(~moves & ~lead)]
            columns["unsorted"][0, level, : len(order)] = order[:WIDTH]
            columns["first"][0, level] = lead.sum()
            columns["last"][0, level] = lead.sum() + moves.sum()
        return cls(nvec, values, table, columns)


def first_illegal(actions: IntArray, nvec: IntArray) -> tuple[int, int]:
    """Row and column of the first value outside ``[0, nvec)``, or (-1, -1)."""
    place = kernel.first_illegal(actions, nvec, *actions.shape)
    return divmod(place, actions.shape[1]) if place >= 0 else (-1, -1)


def decode_rows(
    actions: IntArray, layout: SpaceLayout
) -> tuple[Int8Array, Int8Array, Int32Array, Int32Array, Int32Array]:
    """Arrays of a MappingBatch: orders, parallel, tiles, cluster sizes, PE counts."""
    size = len(actions)
    found = (
        np.empty((size, 2, WIDTH), np.int8),
        np.empty((size, 2), np.int8),
        np.empty((size, 2, WIDTH), np.int32),
        np.empty(size, np.int32),
        np.zeros(size, np.int32),
    )
    ranks = np.empty(WIDTH, np.int64)
    kernel.decode_rows(actions, layout.columns, layout.values, layout.table, ranks, *found, size)
    return found


def encode_rows(
    arrays: tuple[Int8Array, Int8Array, Int32Array, Int32Array, Int32Array], layout: SpaceLayout
) -> tuple[IntArray, Offer]:
    """Canonical actions, and the offer of all mappings.

    Args:
        arrays: As :func:`decode_rows` gives them.
        layout: The space.
    """
    size = len(arrays[0])
    actions = np.zeros((size, len(layout.nvec)), np.int64)
    offers = np.array([(OFFERED, -1, -1, -1, -1)], OfferRow)
    space = (layout.columns, layout.nvec, layout.values)
    arguments = (*contiguous(arrays), *space, actions, offers, size)
    kernel.encode_rows(*arguments)
    return actions, Offer(*offers[0].item())


def layout_columns(columns: dict[Any, int], keys: list[Any]) -> IntArray:
    """The columns of some keys, -1 where a key has none."""
    return np.array([columns.get(key, -1) for key in keys], dtype=np.int64)
