"""Many mappings of one layer as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.exact.records import MappingRow
from cost_models.infeasible import MappingError
from cost_models.lowering import REPEATED
from cost_models.mapping import Mapping
from layers import DIMS, MAX_EXTENT, NEST_DIMS, TENSORS
from marl_common import BoolArray, Int8Array, Int32Array

MOST = MAX_EXTENT
"""Largest tile, cluster size or PE count that the arrays hold; no extent is larger."""
NO_DIM = -1
"""What `parallel2` holds where a level has no second parallel dimension."""

_ROW: np.dtype[Any] = np.dtype(MappingRow)
_TYPES = {name: _ROW[name] for name in _ROW.names or ()}
"""Each array's type, with its shape behind the number of mappings."""
_PLACE: dict[str | None, int] = {dim: i for i, dim in enumerate(DIMS)}


@dataclass(frozen=True)
class MappingBatch:
    """`B` mappings as arrays; ``batch[i]`` is a :class:`Mapping`.

    Args:
        orders: ``(B, 2, 8)`` int8: indices into ``KCYXRSNG``, outermost loop first. With six
            columns (``KCYXRS``) N and G are put outermost, with a tile of 1.
        parallel: ``(B, 2)`` int8: indices into ``KCYXRSNG``.
        tiles: ``(B, 2, 8)`` int32 in the order ``KCYXRSNG``, or six columns as `orders`; Y and X in
            output coordinates.
        cluster_size: ``(B,)`` int32.
        num_pes: ``(B,)`` int32, or None to take the accelerator's.
        parallel2: ``(B, 2)`` int8: the second parallel dimension of each level, -1 for none; None
            where no mapping has one.
        units: ``(B, 2)`` int32: the units that `parallel` takes where `parallel2` has a dimension,
            else 0; None with `parallel2`.
        bypass: ``(B, 2, 3)`` bool: whether L2 (first) and L1 (second) let input, filter and output
            pass; None where no mapping does.
    """

    orders: Int8Array
    parallel: Int8Array
    tiles: Int32Array
    cluster_size: Int32Array
    num_pes: Int32Array | None = None
    parallel2: Int8Array | None = None
    units: Int32Array | None = None
    bypass: BoolArray | None = None

    def __post_init__(self) -> None:
        size = len(self.cluster_size)
        if (self.parallel2 is None) != (self.units is None):
            raise MappingError("MappingBatch.units: expected with parallel2, and only with it")
        for field, kind in _TYPES.items():
            value: Any = getattr(self, field)
            if value is None:
                continue
            array = np.ascontiguousarray(value, dtype=kind.base)
            if field in ("orders", "tiles") and array.shape == (size, 2, len(NEST_DIMS)):
                array = _widened(field, array)
            expected = (size, *kind.shape)
            if array.shape != expected:
                raise MappingError(
                    f"MappingBatch.{field}: got shape {array.shape}, expected {expected}"
                )
            if array is not value:
                object.__setattr__(self, field, array)

    @classmethod
    def from_mappings(cls, mappings: Sequence[Mapping], extents: Sequence[int]) -> MappingBatch:
        """Stack mappings; a tile that a mapping leaves out becomes the dimension's extent.

        Args:
            mappings: At least one mapping; all or none with `num_pes`.
            extents: Extents of the layer in the order ``KCYXRSNG`` (:attr:`Layer.extents`).
        """
        chosen = [m.num_pes for m in mappings]
        if len({n is None for n in chosen}) > 1:
            raise MappingError("mappings: num_pes is set in some and missing in others")
        known = list(zip(DIMS, extents, strict=True))
        parts: dict[str, list[Any]] = {
            "orders": [[[_PLACE[d] for d in order] for order in m.orders] for m in mappings],
            "parallel": [[_PLACE[d] for d in m.parallel] for m in mappings],
            "tiles": [
                [[min(t.get(d, n), MOST) for d, n in known] for t in m.tiles] for m in mappings
            ],
            "cluster_size": [min(m.cluster_size, MOST) for m in mappings],
        }
        if chosen[0] is not None:
            parts["num_pes"] = [min(n or 0, MOST) for n in chosen]
        if any(m.parallel2 != (None, None) for m in mappings):
            parts["parallel2"] = [[_PLACE.get(d, NO_DIM) for d in m.parallel2] for m in mappings]
            parts["units"] = [[n or 0 for n in m.units] for m in mappings]
        if any(m.bypass[0] or m.bypass[1] for m in mappings):
            parts["bypass"] = [[[t in p for t in TENSORS] for p in m.bypass] for m in mappings]
        return cls(**{name: np.array(part, _TYPES[name].base) for name, part in parts.items()})

    def __len__(self) -> int:
        return len(self.cluster_size)

    def __getitem__(self, index: int) -> Mapping:
        if not -len(self) <= index < len(self):
            raise IndexError(f"mapping {index} of a batch of {len(self)}")
        parts: dict[str, Any] = {
            "orders": ["".join(DIMS[d] for d in order) for order in self.orders[index]],
            "parallel": [DIMS[d] for d in self.parallel[index]],
            "tiles": [dict(zip(DIMS, t, strict=True)) for t in self.tiles[index].tolist()],
            "cluster_size": int(self.cluster_size[index]),
        }
        if self.num_pes is not None:
            parts["num_pes"] = int(self.num_pes[index])
        if self.parallel2 is not None and self.units is not None:
            second, units = self.parallel2[index].tolist(), self.units[index].tolist()
            parts["parallel2"] = [DIMS[d] if d >= 0 else None for d in second]
            parts["units"] = [n if d >= 0 else None for d, n in zip(second, units, strict=True)]
        if self.bypass is not None:
            parts["bypass"] = [frozenset(compress(TENSORS, row)) for row in self.bypass[index]]
        return Mapping(**parts)

    def __iter__(self) -> Iterator[Mapping]:
        return (self[i] for i in range(len(self)))

    def pes(self, num_pes: int) -> Int32Array:
        """``(B,)`` PEs of each mapping: its own, or as many as said."""
        if self.num_pes is not None:
            return self.num_pes
        return np.broadcast_to(np.int32(num_pes), len(self))

    @property
    def beyond(self) -> BoolArray:
        """``(B,)``: mappings with a second parallel dimension, or with bypass of a level."""
        found = np.zeros(len(self), np.bool_)
        if self.parallel2 is not None:
            found |= (self.parallel2 >= 0).any(axis=1)
        if self.bypass is not None:
            found |= self.bypass.any(axis=(1, 2))
        return found

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> MappingBatch:
        """The mappings of the given rows, as a new batch."""
        arrays: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: None if all_ is None else all_[rows] for name, all_ in arrays.items()}
        return MappingBatch(**arrays)


def _widened(field: str, array: NDArray[Any]) -> NDArray[Any]:
    """Arrays over ``KCYXRS`` with N and G beside them, which repeat the nest."""
    size = len(array)
    if field == "tiles":
        return np.concatenate([array, np.ones((size, 2, len(REPEATED)), array.dtype)], axis=2)
    outermost = np.array([DIMS.index(dim) for dim in REPEATED], array.dtype)
    return np.concatenate([np.broadcast_to(outermost, (size, 2, len(outermost))), array], axis=2)
