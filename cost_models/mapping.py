"""The mapping of one layer: order, parallel dimension and tiles of two levels, and many of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.dataflow import Dataflow
from cost_models.infeasible import MappingError
from layers import DIMS, Layer

Int8Array = NDArray[np.int8]
Int32Array = NDArray[np.int32]

LEVELS = ("outer", "inner")


@dataclass(frozen=True)
class Mapping:
    """A two-level mapping; the outer level feeds clusters, the inner one the PEs of a cluster.

    Args:
        orders: Loop order of each level, outermost loop first, a permutation of ``KCYXRS``.
        parallel: The dimension spread over clusters, and the one spread over a cluster's PEs.
        tiles: Tile of one cluster, and tile of one PE, as ``{"K": 4, ...}``. Y and X count output
            rows and columns. A dimension that is left out keeps its whole extent.
        cluster_size: PEs of one cluster.
        num_pes: PEs to use where the search chooses them; None takes the accelerator's.

    Raises:
        MappingError: A loop order is no permutation, a dimension is unknown, or a tile or the
            cluster size is not a positive integer.
    """

    orders: tuple[str, str]
    parallel: tuple[str, str]
    tiles: tuple[dict[str, int], dict[str, int]]
    cluster_size: int
    num_pes: int | None = None

    def __post_init__(self) -> None:
        for field in ("orders", "parallel", "tiles"):
            value = getattr(self, field)
            if isinstance(value, str) or len(value) != 2:
                raise MappingError(
                    f"mapping.{field}: got {value!r}, expected two entries, outer level first"
                )
            object.__setattr__(self, field, tuple(value))
        for level in (0, 1):
            self._check_level(level)
        object.__setattr__(self, "tiles", tuple(dict(t) for t in self.tiles))
        object.__setattr__(
            self, "cluster_size", _positive("mapping.cluster_size", self.cluster_size)
        )
        if self.num_pes is not None:
            object.__setattr__(self, "num_pes", _positive("mapping.num_pes", self.num_pes))

    def _check_level(self, level: int) -> None:
        order = self.orders[level]
        if not isinstance(order, str) or sorted(order) != sorted(DIMS):
            raise MappingError(
                f"mapping.orders[{level}]: got {order!r}, expected a permutation of {DIMS}"
            )
        if self.parallel[level] not in tuple(DIMS):
            raise MappingError(
                f"mapping.parallel[{level}]: got {self.parallel[level]!r}, expected one of "
                f"{', '.join(DIMS)}"
            )
        for dim, tile in self.tiles[level].items():
            if dim not in tuple(DIMS):
                raise MappingError(
                    f"mapping.tiles[{level}]: unknown dimension {dim!r}, expected one of "
                    f"{', '.join(DIMS)}"
                )
            self.tiles[level][dim] = _positive(f"mapping.tiles[{level}].{dim}", tile)

    @classmethod
    def from_dict(cls, data: MappingABC[str, Any]) -> Mapping:
        """Build a mapping from :meth:`to_dict`'s form (as YAML or JSON hold it)."""
        if not isinstance(data, MappingABC):
            raise MappingError(f"mapping: got {type(data).__name__}, expected named fields")
        known = {"orders", "parallel", "tiles", "cluster_size", "num_pes"}
        unknown = sorted(set(data) - known)
        missing = sorted(known - {"num_pes"} - set(data))
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
        from cost_models.lowering import raise_dataflow

        return raise_dataflow(dataflow, layer)

    def dataflow(self, layer: Layer | None = None) -> Dataflow:
        """Lower to MAESTRO's directives; ``str`` of the result is their text.

        Args:
            layer: Gives stride, kind and extents: tiles are clipped to the extents, and depthwise
                layers get no K directive. Without it, the mapping is lowered as it stands for a
                CONV of stride 1.

        Raises:
            MappingError: The mapping spreads K of a depthwise layer, or a tile of Y or X is missing
                and there is no layer to take it from.
        """
        from cost_models.lowering import lower_mapping

        return lower_mapping(self, layer)

    def to_dict(self) -> dict[str, Any]:
        """The mapping as plain lists, dicts and integers."""
        data: dict[str, Any] = {
            "orders": list(self.orders),
            "parallel": list(self.parallel),
            "tiles": [dict(t) for t in self.tiles],
            "cluster_size": self.cluster_size,
        }
        if self.num_pes is not None:
            data["num_pes"] = self.num_pes
        return data


@dataclass(frozen=True)
class MappingBatch:
    """`B` mappings as arrays; ``batch[i]`` is a :class:`Mapping`.

    Args:
        orders: ``(B, 2, 6)`` int8: indices into ``KCYXRS``, outermost loop first.
        parallel: ``(B, 2)`` int8: indices into ``KCYXRS``.
        tiles: ``(B, 2, 6)`` int32 in the order ``KCYXRS``; Y and X in output coordinates.
        cluster_size: ``(B,)`` int32.
        num_pes: ``(B,)`` int32, or None to take the accelerator's.
    """

    orders: Int8Array
    parallel: Int8Array
    tiles: Int32Array
    cluster_size: Int32Array
    num_pes: Int32Array | None = None

    def __post_init__(self) -> None:
        size = len(self.cluster_size)
        shapes = {"orders": (size, 2, 6), "parallel": (size, 2), "tiles": (size, 2, 6)}
        types = {"orders": np.int8, "parallel": np.int8, "tiles": np.int32}
        for field, shape in shapes.items():
            array = np.ascontiguousarray(getattr(self, field), dtype=types[field])
            if array.shape != shape:
                raise MappingError(
                    f"MappingBatch.{field}: got shape {array.shape}, expected {shape}"
                )
            object.__setattr__(self, field, array)
        for field in ("cluster_size", "num_pes"):
            value = getattr(self, field)
            if value is not None:
                array = np.ascontiguousarray(value, dtype=np.int32)
                if array.shape != (size,):
                    raise MappingError(
                        f"MappingBatch.{field}: got shape {array.shape}, expected {(size,)}"
                    )
                object.__setattr__(self, field, array)

    @classmethod
    def from_mappings(cls, mappings: Sequence[Mapping], extents: Sequence[int]) -> MappingBatch:
        """Stack mappings; a tile that a mapping leaves out becomes the dimension's extent.

        Args:
            mappings: At least one mapping; all or none with `num_pes`.
            extents: Extents of the layer in the order ``KCYXRS`` (:attr:`Layer.extents`).
        """
        chosen = [m.num_pes for m in mappings]
        if any(n is None for n in chosen) and any(n is not None for n in chosen):
            raise MappingError("mappings: num_pes is set in some and missing in others")
        return cls(
            orders=np.array([[[DIMS.index(d) for d in o] for o in m.orders] for m in mappings]),
            parallel=np.array([[DIMS.index(d) for d in m.parallel] for m in mappings]),
            tiles=np.array(
                [
                    [[t.get(d, n) for d, n in zip(DIMS, extents, strict=True)] for t in m.tiles]
                    for m in mappings
                ]
            ),
            cluster_size=np.array([m.cluster_size for m in mappings]),
            num_pes=None if chosen[0] is None else np.array(chosen),
        )

    def __len__(self) -> int:
        return len(self.cluster_size)

    def __getitem__(self, index: int) -> Mapping:
        if not -len(self) <= index < len(self):
            raise IndexError(f"mapping {index} of a batch of {len(self)}")
        orders, parallel, tiles = self.orders[index], self.parallel[index], self.tiles[index]
        return Mapping(
            orders=("".join(DIMS[d] for d in orders[0]), "".join(DIMS[d] for d in orders[1])),
            parallel=(DIMS[parallel[0]], DIMS[parallel[1]]),
            tiles=(
                dict(zip(DIMS, tiles[0].tolist(), strict=True)),
                dict(zip(DIMS, tiles[1].tolist(), strict=True)),
            ),
            cluster_size=int(self.cluster_size[index]),
            num_pes=None if self.num_pes is None else int(self.num_pes[index]),
        )

    def __iter__(self) -> Iterator[Mapping]:
        return (self[i] for i in range(len(self)))

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> MappingBatch:
        """The mappings of the given rows, as a new batch."""
        pes = None if self.num_pes is None else self.num_pes[rows]
        return MappingBatch(
            self.orders[rows], self.parallel[rows], self.tiles[rows], self.cluster_size[rows], pes
        )


def _positive(path: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value <= 0:
        raise MappingError(f"{path}: got {value!r}, expected a whole number of at least 1")
    return int(value)
