"""One layer of a neural network: its extents, and the counts that follow from them."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from layers.dims import COUPLED_DIMS, LayerKind, Places
from marl_common import one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_EXTENT = 2**31 - 1
"""Largest extent: mappings hold tiles as 32-bit integers."""

Pair = int | tuple[int, int]
"""One number for rows and columns, or one for each."""
Padding = tuple[int, int, int, int]
"""Rows at the top and the bottom, columns at the left and the right."""

_SIZES = ("K", "C", "Y", "X", "R", "S", "N", "groups")
_AXES = (("Y", "R", "rows"), ("X", "S", "columns"))


class LayerError(ValueError):
    """A layer that cannot exist, or a layer name that is not known."""


@dataclass(frozen=True)
class Layer:
    """A layer with the extents MAESTRO's language gives it.

    Args:
        name: Any text; used in messages and file names.
        kind: See :class:`LayerKind`.
        K: Filters (output channels) of one group; 1 for DSCONV.
        C: Input channels of one group; all channels for DSCONV.
        Y: Input rows, padding included. Rows that no filter position touches are trimmed, so that
            ``Y == (out_y - 1) * stride_y + dilation_y * (R - 1) + 1``.
        X: Input columns, likewise.
        R: Filter rows.
        S: Filter columns.
        stride: Step of the filter: one number, or ``(rows, columns)``.
        N: Batch size. For GEMM, the number of independent products (the heads of an attention
            block), each with its own operands.
        groups: Groups of an NGCONV.
        dilation: Distance between neighbouring taps of the filter: one number, or
            ``(rows, columns)``.
        padding: How many of the Y rows and X columns are padding: ``(top, bottom, left, right)``;
            zeros where that is not known. Rows and columns that are trimmed are taken off it.

    Raises:
        LayerError: An extent is not a positive integer, the filter is larger than the input, the
            padding is larger than the input, or the kind and the extents contradict each other.
    """

    name: str
    kind: LayerKind
    K: int
    C: int
    Y: int
    X: int
    R: int
    S: int
    stride: Pair = 1
    N: int = 1
    groups: int = 1
    dilation: Pair = 1
    padding: Padding = (0, 0, 0, 0)

    _given: ClassVar[tuple[int, int, Padding]]
    _extents: ClassVar[tuple[int, int, int, int, int, int, int, int]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self._checked_kind())
        for field in _SIZES:
            object.__setattr__(self, field, _counted(self.name, field, getattr(self, field)))
        for field in ("stride", "dilation"):
            object.__setattr__(self, field, self._pair(field))
        object.__setattr__(self, "padding", self._checked_padding())
        self._check_reach()
        self._check_kind_rules()
        object.__setattr__(self, "_given", (self.Y, self.X, self.padding))
        self._trim()

    def _checked_kind(self) -> LayerKind:
        try:
            return LayerKind(self.kind)
        except ValueError:
            raise LayerError(
                f"layer {self.name!r}: unknown kind {self.kind!r}; expected "
                f"{one_of(LayerKind, str(self.kind).upper())}"
            ) from None

    def _several(self, field: str, count: int, least: int, axes: str) -> tuple[int, ...]:
        values = getattr(self, field)
        if isinstance(values, str) or len(values) != count:
            raise LayerError(
                f"layer {self.name!r}: {field}={values!r} has not {count} entries; expected {axes}"
            )
        parts = enumerate(values)
        return tuple(_counted(self.name, f"{field}[{i}]", value, least) for i, value in parts)

    def _pair(self, field: str) -> Pair:
        value: Any = getattr(self, field)
        if not isinstance(value, tuple | list):
            return _counted(self.name, field, value)
        rows, columns = self._several(field, 2, 1, "one number, or (rows, columns)")
        if field == "dilation":  # a filter of one tap has nothing to spread
            rows, columns = (rows if self.R > 1 else 1), (columns if self.S > 1 else 1)
        return rows if rows == columns else (rows, columns)

    def _checked_padding(self) -> Padding:
        if not isinstance(self.padding, tuple | list):
            raise LayerError(
                f"layer {self.name!r}: padding={self.padding!r}; expected (top, bottom, left, "
                "right)"
            )
        top, bottom, left, right = self._several("padding", 4, 0, "(top, bottom, left, right)")
        for (size, _, what), padded in zip(_AXES, (top + bottom, left + right), strict=True):
            if padded > getattr(self, size):
                raise LayerError(
                    f"layer {self.name!r}: padding={self.padding!r} has more {what} than "
                    f"the input; {size}={getattr(self, size)} includes the padding, expected at "
                    f"least {padded}"
                )
        return (top, bottom, left, right)

    def _check_reach(self) -> None:
        reaches = (self.reach_y, self.reach_x)
        for (size, taps, _), reach in zip(_AXES, reaches, strict=True):
            if reach > getattr(self, size):
                spread = f" (dilated to {reach})" if reach > getattr(self, taps) else ""
                raise LayerError(
                    f"layer {self.name!r}: filter extent {taps}={getattr(self, taps)}{spread} is "
                    f"larger than the input extent {size}={getattr(self, size)}; "
                    f"expected at most {size} ({size} includes padding)"
                )

    def _check_kind_rules(self) -> None:
        if self.kind is LayerKind.DSCONV and self.K != 1:
            raise LayerError(
                f"layer {self.name!r}: DSCONV needs K=1, got K={self.K}; "
                "put the number of channels in C"
            )
        plain = (self.X, self.R, self.S, self.stride, self.padding) == (1, 1, 1, 1, (0, 0, 0, 0))
        if self.kind is LayerKind.GEMM and not plain:
            raise LayerError(
                f"layer {self.name!r}: GEMM needs X=R=S=stride=1 and no padding, got X={self.X}, "
                f"R={self.R}, S={self.S}, stride={self.stride}, padding={self.padding}; "
                "M x K times K x N is K=N, C=K, Y=M"
            )
        if self.groups != 1 and self.kind is not LayerKind.NGCONV:
            raise LayerError(
                f"layer {self.name!r}: groups={self.groups} needs kind NGCONV, got {self.kind}"
            )

    def _trim(self) -> None:
        """Take off the rows and columns behind the last filter position, padding first."""
        top, bottom, left, right = self.padding
        rows = (self.out_y - 1) * self.stride_y + self.reach_y
        columns = (self.out_x - 1) * self.stride_x + self.reach_x
        bottom, right = max(0, bottom - self.Y + rows), max(0, right - self.X + columns)
        padding = (min(top, rows), bottom, min(left, columns), right)
        object.__setattr__(self, "padding", padding)
        object.__setattr__(self, "Y", rows)
        object.__setattr__(self, "X", columns)
        extents = (self.K, self.C, self.out_y, self.out_x, self.R, self.S, self.N, self.groups)
        object.__setattr__(self, "_extents", extents)

    @classmethod
    def gemm(cls, name: str, M: int, N: int, K: int, batch: int = 1) -> Layer:
        """The product of an ``M x K`` and a ``K x N`` matrix, repeated `batch` times.

        Raises:
            LayerError: A number is no positive integer.
        """
        for field, value in (("M", M), ("N", N), ("K", K), ("batch", batch)):
            _counted(name, field, value)
        return cls(name, LayerKind.GEMM, K=N, C=K, Y=M, X=1, R=1, S=1, N=batch)

    def renamed(self, name: str) -> Layer:
        """The same layer under another name."""
        y, x, padding = self._given
        return replace(self, name=name, Y=y, X=x, padding=padding)

    @property
    def shape(self) -> Layer:
        """The layer without its name: equal for layers that compute the same."""
        return replace(self, name="")

    @property
    def given_shape(self) -> tuple[Layer, int, int]:
        """The shape, and rows and columns as given: equal for layers of equal cost."""
        return (self.shape, self.given_y, self.given_x)

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
    def given_padding(self) -> Padding:
        """The padding as it was given, before trimming."""
        return self._given[2]

    @property
    def depthwise(self) -> bool:
        """Whether each channel has its own filter and output."""
        return self.kind is LayerKind.DSCONV

    @property
    def stride_y(self) -> int:
        """Step of the filter from row to row."""
        return self.stride if isinstance(self.stride, int) else self.stride[0]

    @property
    def stride_x(self) -> int:
        """Step of the filter from column to column."""
        return self.stride if isinstance(self.stride, int) else self.stride[1]

    @property
    def dilation_y(self) -> int:
        """Rows from one tap of the filter to the next."""
        return self.dilation if isinstance(self.dilation, int) else self.dilation[0]

    @property
    def dilation_x(self) -> int:
        """Columns from one tap of the filter to the next."""
        return self.dilation if isinstance(self.dilation, int) else self.dilation[1]

    @property
    def reach_y(self) -> int:
        """Input rows from the first to the last tap of the filter."""
        return self.dilation_y * (self.R - 1) + 1

    @property
    def reach_x(self) -> int:
        """Input columns from the first to the last tap of the filter."""
        return self.dilation_x * (self.S - 1) + 1

    @property
    def out_y(self) -> int:
        """Output rows."""
        return (self.Y - self.reach_y) // self.stride_y + 1

    @property
    def out_x(self) -> int:
        """Output columns."""
        return (self.X - self.reach_x) // self.stride_x + 1

    @property
    def extents(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Extents in the order of `DIMS`; Y and X in output coordinates, K and C of one group."""
        return self._extents

    @property
    def coupling(self) -> NDArray[np.int8]:
        """``(3, 8)``: 1 where input, filter or output (rows) depends on a dimension of `DIMS`."""
        from layers.coupling import COUPLING  # NumPy, which a list of layers does not need

        return COUPLING[self.kind]

    @property
    def coupled_dims(self) -> tuple[Places, Places, Places]:
        """The dimensions that input, filter and output depend on, as places in `DIMS`."""
        return COUPLED_DIMS[self.kind]

    @property
    def repeats(self) -> int:
        """How often one loop nest over K C Y X R S covers the layer: batch size times groups."""
        return self.N * self.groups

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the whole layer."""
        return math.prod(self.extents)

    @property
    def input_size(self) -> int:
        """Input elements that the layer reads at least once (holes of a wide stride excluded)."""
        rows = footprint(self.out_y, self.R, self.stride_y, self.dilation_y)
        columns = footprint(self.out_x, self.S, self.stride_x, self.dilation_x)
        return self.repeats * self.C * rows * columns

    @property
    def filter_size(self) -> int:
        """Filter elements (for GEMM: of the second matrices of all N products)."""
        return self._coupled(1)

    @property
    def output_size(self) -> int:
        """Output elements."""
        return self._coupled(2)

    def _coupled(self, tensor: int) -> int:
        return math.prod(self.extents[d] for d in self.coupled_dims[tensor])


def _counted(name: str, field: str, value: Any, least: int = 1) -> int:
    """A number of a layer's field, checked: a whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or number < least:
        what = "positive integer" if least else "whole number of at least 0"
        raise LayerError(
            f"layer {name!r}: {field}={value!r} is not a {what}; "
            f"give {field} as a whole number of at least {least}"
        )
    if number > MAX_EXTENT:
        raise LayerError(
            f"layer {name!r}: {field}={value} is too large; expected at most {MAX_EXTENT}"
        )
    return number


def footprint(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """How many positions ``stride * i + dilation * j`` there are, i below outputs, j below taps.

    With both divided by their greatest common divisor, (i, j) and (i + dilation, j - stride) are
    the same position, and no others: each position counts once if only the pairs count that have
    no earlier equal.
    """
    common = math.gcd(stride, dilation)
    step, spread = stride // common, dilation // common
    return outputs * taps - max(outputs - spread, 0) * max(taps - step, 0)
