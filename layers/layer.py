"""One layer of a neural network: its extents, and the counts that follow from them."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from common import suggest

DIMS = "KCYXRS"
"""The mapping dimensions in the order every array in this project uses."""

MAX_EXTENT = 2**31 - 1
"""Largest extent: mappings hold tiles as 32-bit integers."""


class LayerError(ValueError):
    """A layer that cannot exist, or a layer name that is not known."""


class LayerKind(StrEnum):
    """What a layer computes.

    Names are read in upper or lower case. TRCONV counts as CONV over its (already upsampled)
    input, as MAESTRO counts it.
    """

    CONV = "CONV"
    DSCONV = "DSCONV"
    GEMM = "GEMM"
    NGCONV = "NGCONV"
    TRCONV = "TRCONV"

    @classmethod
    def _missing_(cls, value: object) -> LayerKind | None:
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None


@dataclass(frozen=True)
class Layer:
    """A layer with the extents MAESTRO's language gives it.

    Args:
        name: Any text; used in messages and file names.
        kind: See :class:`LayerKind`.
        K: Filters (output channels) of one group; 1 for DSCONV.
        C: Input channels of one group; all channels for DSCONV.
        Y: Input rows, padding included. Rows that no filter position touches are trimmed, so that
            ``Y == (out_y - 1) * stride + R``.
        X: Input columns, likewise.
        R: Filter rows.
        S: Filter columns.
        stride: Step of the filter in rows and columns.
        N: Batch size; repeats the whole loop nest. For GEMM, the number of independent products
            (the heads of an attention block), each with its own operands.
        groups: Groups of an NGCONV; repeats the whole loop nest.

    Raises:
        LayerError: An extent is not a positive integer, the filter is larger than the input, or
            the kind and the extents contradict each other.
    """

    name: str
    kind: LayerKind
    K: int
    C: int
    Y: int
    X: int
    R: int
    S: int
    stride: int = 1
    N: int = 1
    groups: int = 1

    _given: ClassVar[tuple[int, int]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self._checked_kind())
        for field in ("K", "C", "Y", "X", "R", "S", "stride", "N", "groups"):
            object.__setattr__(self, field, self._positive(field))
        for size, taps in (("Y", "R"), ("X", "S")):
            if getattr(self, taps) > getattr(self, size):
                raise LayerError(
                    f"layer {self.name!r}: filter extent {taps}={getattr(self, taps)} is larger "
                    f"than the input extent {size}={getattr(self, size)}; "
                    f"expected {taps} <= {size} ({size} includes padding)"
                )
        self._check_kind_rules()
        object.__setattr__(self, "_given", (self.Y, self.X))
        object.__setattr__(self, "Y", (self.out_y - 1) * self.stride + self.R)
        object.__setattr__(self, "X", (self.out_x - 1) * self.stride + self.S)

    def _checked_kind(self) -> LayerKind:
        try:
            return LayerKind(self.kind)
        except ValueError:
            kinds = ", ".join(LayerKind)
            raise LayerError(
                f"layer {self.name!r}: unknown kind {self.kind!r}; expected one of {kinds}."
                f"{suggest(str(self.kind).upper(), LayerKind)}"
            ) from None

    def _positive(self, field: str) -> int:
        value = getattr(self, field)
        try:
            number = operator.index(value)
        except TypeError:
            number = 0
        if isinstance(value, bool) or number <= 0:
            raise LayerError(
                f"layer {self.name!r}: {field}={value!r} is not a positive integer; "
                f"give {field} as a whole number of at least 1"
            )
        if number > MAX_EXTENT:
            raise LayerError(
                f"layer {self.name!r}: {field}={value} is too large; expected at most {MAX_EXTENT}"
            )
        return number

    def _check_kind_rules(self) -> None:
        if self.kind is LayerKind.DSCONV and self.K != 1:
            raise LayerError(
                f"layer {self.name!r}: DSCONV needs K=1, got K={self.K}; "
                "put the number of channels in C"
            )
        if self.kind is LayerKind.GEMM and (self.X, self.R, self.S, self.stride) != (1, 1, 1, 1):
            raise LayerError(
                f"layer {self.name!r}: GEMM needs X=R=S=stride=1, got X={self.X}, R={self.R}, "
                f"S={self.S}, stride={self.stride}; M x K times K x N is K=N, C=K, Y=M"
            )
        if self.groups != 1 and self.kind is not LayerKind.NGCONV:
            raise LayerError(
                f"layer {self.name!r}: groups={self.groups} needs kind NGCONV, got {self.kind}"
            )

    @classmethod
    def gemm(cls, name: str, M: int, N: int, K: int, batch: int = 1) -> Layer:
        """The product of an ``M x K`` and a ``K x N`` matrix, repeated `batch` times."""
        return cls(name, LayerKind.GEMM, K=N, C=K, Y=M, X=1, R=1, S=1, N=batch)

    def renamed(self, name: str) -> Layer:
        """The same layer under another name."""
        return replace(self, name=name, Y=self.given_y, X=self.given_x)

    @property
    def shape(self) -> Layer:
        """The layer without its name: equal for layers that cost the same."""
        return replace(self, name="")

    @property
    def given_y(self) -> int:
        """Input rows as they were given, before trimming; MAESTRO's figures count these.

        Not part of a layer's identity: equal layers compute the same outputs.
        """
        return self._given[0]

    @property
    def given_x(self) -> int:
        """Input columns as they were given, before trimming."""
        return self._given[1]

    @property
    def depthwise(self) -> bool:
        """Whether each channel has its own filter and output."""
        return self.kind is LayerKind.DSCONV

    @property
    def out_y(self) -> int:
        """Output rows."""
        return (self.Y - self.R) // self.stride + 1

    @property
    def out_x(self) -> int:
        """Output columns."""
        return (self.X - self.S) // self.stride + 1

    @property
    def extents(self) -> tuple[int, int, int, int, int, int]:
        """Extents of one loop nest in the order K C Y X R S; Y and X in output coordinates."""
        return (self.K, self.C, self.out_y, self.out_x, self.R, self.S)

    @property
    def repeats(self) -> int:
        """How often the loop nest runs: batch size times groups."""
        return self.N * self.groups

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the whole layer."""
        k, c, y, x, r, s = self.extents
        return k * c * y * x * r * s * self.repeats

    @property
    def input_size(self) -> int:
        """Input elements that the layer reads at least once (holes of a wide stride excluded)."""
        rows = self._touched(self.out_y, self.R)
        cols = self._touched(self.out_x, self.S)
        return self.repeats * self.C * rows * cols

    @property
    def filter_size(self) -> int:
        """Filter elements (for GEMM: of the second matrices of all N products)."""
        copies = self.repeats if self.kind is LayerKind.GEMM else self.groups
        return copies * self.K * self.C * self.R * self.S

    @property
    def output_size(self) -> int:
        """Output elements."""
        channels = self.C if self.depthwise else self.K
        return self.repeats * channels * self.out_y * self.out_x

    def _touched(self, outputs: int, taps: int) -> int:
        return outputs * min(self.stride, taps) + max(taps - self.stride, 0)
