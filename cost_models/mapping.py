"""Mappings of a layer: orders, parallel dimensions, tiles of two levels; one, or many as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass, fields
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models.buffers import BUFFERS
from cost_models.dataflow import Dataflow
from cost_models.exact.records import MappingRow
from cost_models.infeasible import MappingError
from cost_models.lowering import REPEATED, lowered, raised
from layers import DIMS, MAX_EXTENT, NEST_DIMS, TENSORS, Layer
from marl_common import BoolArray, Int8Array, Int32Array, html_table

if TYPE_CHECKING:
    from cost_models.chain.loops import Loop

Bypass = frozenset[str]


@dataclass(frozen=True)
class Mapping:
    """A two-level mapping; the outer level feeds clusters, the inner one the PEs of a cluster.

    Args:
        orders: Loop order of each level, outermost loop first: a permutation of ``KCYXRSNG``. Of
            N and G either may be left out: it is then outermost, and its tile 1 unless `tiles` has
            one, so that it repeats the rest.
        parallel: The dimension spread over clusters, and the one spread over a cluster's PEs.
        tiles: Tile of one cluster, and tile of one PE, as ``{"K": 4, ...}``. Y and X count output
            rows and columns. A dimension that is left out keeps its whole extent.
        cluster_size: PEs of one cluster.
        num_pes: PEs to use where the search chooses them; None takes the accelerator's.
        parallel2: A second dimension spread at each level, or None.
        units: How many of a level's units (clusters, or PEs of a cluster) `parallel` takes where
            there is a second dimension, which takes ``units of the level // units``; else None.
        bypass: The tensors that L2 does not keep, and those that L1 does not keep.

    Raises:
        MappingError: A loop order is no permutation, a dimension or tensor is unknown, a dimension
            is parallel twice at a level, a tensor is kept nowhere or a level keeps none, or a tile
            or a number of units is not a positive integer.
    """

    orders: tuple[str, str]
    parallel: tuple[str, str]
    tiles: tuple[dict[str, int], dict[str, int]]
    cluster_size: int
    num_pes: int | None = None
    parallel2: tuple[str | None, str | None] = (None, None)
    units: tuple[int | None, int | None] = (None, None)
    bypass: tuple[Bypass, Bypass] = (frozenset(), frozenset())

    def __post_init__(self) -> None:
        for field in ("orders", "parallel", "tiles", "parallel2", "units", "bypass"):
            value = getattr(self, field)
            if not isinstance(value, tuple | list) or len(value) != 2:
                raise MappingError(
                    f"mapping.{field}: got {value!r}, expected two entries, outer level first"
                )
            self._set(field, tuple(value))
        self._complete_orders()
        self._set("cluster_size", positive("mapping.cluster_size", self.cluster_size))
        if self.num_pes is not None:
            self._set("num_pes", positive("mapping.num_pes", self.num_pes))
        self._set("units", tuple(self._checked_units(level) for level in (0, 1)))
        self._check_bypass()

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def _complete_orders(self) -> None:
        orders, tiles = [], []
        for level, order in enumerate(self.orders):
            tile = checked_tiles(f"mapping.tiles[{level}]", self.tiles[level])
            orders.append(whole_order(f"mapping.orders[{level}]", order))
            unsaid = orders[-1].removesuffix(order)
            tiles.append({**tile, **{d: tile.get(d, 1) for d in unsaid}})
        self._set("orders", tuple(orders))
        self._set("tiles", tuple(tiles))

    def _checked_units(self, level: int) -> int | None:
        first, second, units = self.parallel[level], self.parallel2[level], self.units[level]
        check_dim(f"mapping.parallel[{level}]", first)
        if (second is None) != (units is None):
            raise MappingError(
                f"mapping.units[{level}]: got {units!r} with parallel2[{level}]={second!r}; "
                "expected both, or neither"
            )
        if second is None:
            return None
        check_dim(f"mapping.parallel2[{level}]", second)
        if second == first:
            raise MappingError(
                f"mapping.parallel2[{level}]: got {second!r}, which is parallel[{level}] already; "
                "expected another dimension, or null"
            )
        taken = positive(f"mapping.units[{level}]", units)
        if level == 1 and taken > self.cluster_size:
            raise MappingError(
                f"mapping.units[1]: got {taken}, but a cluster has {self.cluster_size} PEs; "
                f"expected at most {self.cluster_size}"
            )
        return taken

    def _check_bypass(self) -> None:
        for level, tensors in enumerate(self.bypass):
            if isinstance(tensors, str) or not set(tensors) <= set(TENSORS):
                raise MappingError(
                    f"mapping.bypass[{level}]: got {tensors!r}, expected some of "
                    f"{', '.join(TENSORS)}"
                )
            if len(set(tensors)) == len(TENSORS):
                raise MappingError(
                    f"mapping.bypass[{level}]: no tensor is left in {BUFFERS[level]}; expected at "
                    "least one that is kept there"
                )
        bypass = tuple(map(frozenset, self.bypass))
        if nowhere := [tensor for tensor in TENSORS if all(tensor in part for part in bypass)]:
            raise MappingError(
                f"mapping.bypass: {nowhere[0]} is kept nowhere; keep it in {' or '.join(BUFFERS)}"
            )
        self._set("bypass", bypass)

    @classmethod
    def from_dict(cls, data: MappingABC[str, Any]) -> Mapping:
        """Build a mapping from :meth:`to_dict`'s form (as YAML or JSON hold it)."""
        if not isinstance(data, MappingABC):
            raise MappingError(f"mapping: got {type(data).__name__}, expected named fields")
        known = [field.name for field in fields(cls)]
        unknown = sorted(str(name) for name in data if name not in known)
        missing = sorted({"orders", "parallel", "tiles", "cluster_size"} - set(data))
        if unknown or missing:
            raise MappingError(
                f"mapping: unknown fields {unknown}, missing fields {missing}; "
                f"expected {', '.join(sorted(known))}"
            )
        try:
            return cls(**data)
        except TypeError as error:
            raise MappingError(f"mapping: {error}") from error

    @classmethod
    def from_dataflow(cls, dataflow: Dataflow, layer: Layer) -> Mapping:
        """Read a dataflow of one or two levels back; Y and X become output rows and columns.

        Raises:
            InfeasibleError: The directives are no partition of the layer's MACs over two levels.
        """
        return cls(**raised(dataflow, layer))

    @property
    def has_directives(self) -> bool:
        """Whether MAESTRO's directives have words for it: a full space has mappings beyond them."""
        return not any(self.parallel2) and not any(self.bypass)

    def dataflow(self, layer: Layer | None = None) -> Dataflow:
        """Lower to MAESTRO's directives; ``str`` of the result is their text.

        Args:
            layer: Gives stride, kind and extents: tiles are clipped to the extents, and depthwise
                layers get no K directive. Without it, the mapping is lowered as it stands for a
                CONV of stride 1.

        Raises:
            MappingError: The mapping spreads K of a depthwise layer, a tile of Y or X is missing
                and there is no layer to take it from, or the directives have no words for it.
        """
        for field, value in (("parallel2", self.parallel2), ("bypass", self.bypass)):
            if any(value):
                raise MappingError(
                    f"mapping.{field}: got {value!r}, but MAESTRO's directives have no word for it"
                )
        return lowered(self, layer)

    def loops(self, layer: Layer, num_pes: int | None = None) -> list[Loop]:
        """The loop nest as rows, outermost first; see :func:`cost_models.chain.loops.loops_of`.

        Clusters are a level between L2 and L1 that holds nothing.

        Args:
            layer: The layer.
            num_pes: PEs of the accelerator; the mapping's own where it has a number. Without
                either, there are as many clusters as have work.
        """
        from cost_models.chain.clusters import entries_of
        from cost_models.chain.loops import loops_of

        return loops_of(layer.extents, entries_of(self, layer, self.num_pes or num_pes))

    def _repr_html_(self) -> str:
        said = self.to_dict()
        pes = "all" if self.num_pes is None else str(self.num_pes)
        rows = []
        for level, name in enumerate(("clusters (from L2)", "PEs of a cluster (L1)")):
            spread = [self.parallel[level], self.parallel2[level]]
            tiles = " ".join(f"{dim}={tile}" for dim, tile in said["tiles"][level].items())
            skipped = ", ".join(sorted(self.bypass[level])) or "none"
            parallel = " and ".join(dim for dim in spread if dim)
            rows.append((name, said["orders"][level], parallel, tiles, skipped))
        header = ("level", "loop order", "parallel", "tiles", "not kept")
        return html_table(header, rows, f"{self.cluster_size} PEs a cluster, PEs used: {pes}")

    def to_dict(self) -> dict[str, Any]:
        """The mapping as plain lists, dicts and integers; what repeats the nest is left out."""
        plain = [self._repeats(level) for level in (0, 1)]
        data: dict[str, Any] = {
            "orders": [order[len(dims) :] for order, dims in zip(self.orders, plain, strict=True)],
            "parallel": list(self.parallel),
            "tiles": [
                {dim: tile for dim, tile in tiles.items() if dim not in dims}
                for tiles, dims in zip(self.tiles, plain, strict=True)
            ],
            "cluster_size": self.cluster_size,
        }
        if self.num_pes is not None:
            data["num_pes"] = self.num_pes
        if self.parallel2 != (None, None):
            data |= {"parallel2": list(self.parallel2), "units": list(self.units)}
        if any(self.bypass):
            data["bypass"] = [[t for t in TENSORS if t in part] for part in self.bypass]
        return data

    def _repeats(self, level: int) -> str:
        """Leading dimensions of a level's order that it would have anyway."""
        tiles, order = self.tiles[level], self.orders[level]
        dims: str
        for dims in (REPEATED, *REPEATED):
            if order.startswith(dims) and all(tiles.get(dim) == 1 for dim in dims):
                return dims
        return ""

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"Mapping({said})"


def check_dim(path: str, dim: Any) -> None:
    """Check the name of a dimension; `path` begins the message."""
    if dim not in tuple(DIMS):
        raise MappingError(f"{path}: got {dim!r}, expected one of {', '.join(DIMS)}")


def checked_tiles(path: str, tiles: Any) -> dict[str, int]:
    """Tiles by dimension; `path` begins the message of something else."""
    if not isinstance(tiles, MappingABC):
        raise MappingError(f"{path}: got {tiles!r}, expected tiles by dimension")
    for dim in tiles:
        check_dim(path, dim)
    return {dim: positive(f"{path}.{dim}", tile) for dim, tile in tiles.items()}


def whole_order(path: str, order: Any) -> str:
    """A loop order with N and G outermost where it leaves them out; `path` begins the message."""
    whole = order
    if isinstance(order, str):
        whole = "".join(dim for dim in REPEATED if dim not in order) + order
    if not isinstance(whole, str) or sorted(whole) != sorted(DIMS):
        raise MappingError(
            f"{path}: got {order!r}, expected a permutation of {DIMS} "
            f"({' and '.join(REPEATED)} may be left out)"
        )
    return whole


def positive(path: str, value: Any) -> int:
    """A whole number of at least 1; `path` begins the message of another one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value <= 0:
        raise MappingError(f"{path}: got {value!r}, expected a whole number of at least 1")
    return int(value)


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

        Raises:
            MappingError: One is of a list of levels, or only some have `num_pes`.
        """
        if not all(isinstance(mapping, Mapping) for mapping in mappings):
            raise MappingError(
                "mappings: got an entry for each level, expected orders, parallel, tiles and "
                "cluster_size, as the chip has no list of levels"
            )
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
