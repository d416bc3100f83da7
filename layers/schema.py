"""The fields of layers as files give them, as pydantic models.

pydantic takes a tenth of a second to import: import this module where fields are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from layers.dims import LayerKind
from layers.layer import MAX_EXTENT, LayerError
from layers.network_graph import PASSES
from marl_common import expected, read_fields

Extent = Annotated[
    int,
    Field(ge=1, le=MAX_EXTENT, strict=True),
    expected(f"a whole number from 1 to {MAX_EXTENT}"),
]
Rows = Annotated[int, Field(ge=0, le=MAX_EXTENT, strict=True)]
Pair = Annotated[
    Extent | tuple[Extent, Extent],
    expected(f"a whole number from 1 to {MAX_EXTENT}, or two of them, [rows, columns]"),
]
Padding = Annotated[
    tuple[Rows, Rows, Rows, Rows],
    expected("four whole numbers of at least 0, [top, bottom, left, right]"),
]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Nest(_Fields):
    C: Extent = Field(description="input channels of one group")
    Y: Extent = Field(description="input rows, padding included")
    X: Extent = Field(description="input columns, padding included")
    R: Extent = Field(description="filter rows")
    S: Extent = Field(description="filter columns")
    stride: Pair = Field(1, description="step of the filter")
    N: Extent = Field(1, description="batch size")
    groups: Extent = Field(1, description="groups; only an ngconv has several")
    dilation: Pair = Field(1, description="distance between neighbouring taps of the filter")
    padding: Padding = Field(
        (0, 0, 0, 0), description="rows and columns of Y and X that are padding"
    )


class ConvFields(_Nest):
    """A convolution: conv or ngconv."""

    K: Extent = Field(description="filters (output channels) of one group")


class TransposedFields(ConvFields):
    """A transposed convolution: a convolution over its upsampled input."""

    upsampling: Pair = Field(
        1, description="one row (column) of Y and X in so many is input, the others are zeros"
    )


class DepthwiseFields(_Nest):
    """A depthwise convolution: a filter for each of C channels."""

    K: Literal[1] = Field(1, description="always 1; the channels are C")


class GemmFields(_Fields):
    """The product of an M x K and a K x N matrix."""

    M: Extent = Field(description="rows of the first matrix and of the product")
    N: Extent = Field(description="columns of the second matrix and of the product")
    K: Extent = Field(description="columns of the first matrix, rows of the second")
    batch: Extent = Field(1, description="independent products")


MODELS: dict[LayerKind, type[_Fields]] = {
    LayerKind.CONV: ConvFields,
    LayerKind.NGCONV: ConvFields,
    LayerKind.TRCONV: TransposedFields,
    LayerKind.DSCONV: DepthwiseFields,
    LayerKind.GEMM: GemmFields,
}
"""The fields of each kind of layer, beside its name and kind."""


def check_fields(kind: LayerKind, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a layer, those left out with the values they then have.

    Args:
        kind: Kind of the layer.
        values: Its fields but for name and kind.
        where: What messages begin with.

    Raises:
        LayerError: A field is unknown, missing or wrong.
    """
    given = read_fields(MODELS[kind], values, where, LayerError, f"fields of a {kind.lower()}")
    return given.model_dump()


Shape = Annotated[tuple[Extent, ...], Field(min_length=1)]


class NodeFields(_Fields):
    """What an entry of a file reads and writes, in a network that is a graph."""

    inputs: tuple[str, ...] = Field(description="what it reads: nodes above, sources, '' a weight")
    shape: Shape | None = Field(None, description="extents of what it writes")
    bits: Extent | None = Field(None, description="bits of an element of it; by default the chip's")


class GraphEnds(_Fields):
    """What comes from outside of a network that is a graph, and what is wanted in DRAM."""

    sources: dict[str, Shape] = Field({}, description="extents of what comes from outside")
    results: tuple[str, ...] = Field((), description="nodes whose output is wanted in DRAM")


class _Entry(_Fields):
    name: str = Field("", description="its name; by default layer0, layer1, ...")
    inputs: tuple[str, ...] | None = Field(None, description="what it reads, in a graph")
    shape: Shape | None = Field(None, description="extents of what it writes")
    bits: Extent | None = Field(None, description="bits of an element of it; by default the chip's")


class ConvEntry(_Entry, ConvFields):
    """An entry of a file: a convolution."""

    kind: Literal["conv", "ngconv"]


class TransposedEntry(_Entry, TransposedFields):
    """An entry of a file: a transposed convolution."""

    kind: Literal["trconv"]


class DepthwiseEntry(_Entry, DepthwiseFields):
    """An entry of a file: a depthwise convolution."""

    kind: Literal["dsconv"]


class GemmEntry(_Entry, GemmFields):
    """An entry of a file: a matrix product."""

    kind: Literal["gemm"]


class PassEntry(_Entry):
    """An entry of a file: a node without MACs."""

    kind: Literal["elementwise", "pooling", "concat", "layout", "norm"]


def _kind(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    if kind in PASSES:
        return "pass"
    return kind if kind in ("dsconv", "gemm", "trconv") else "conv"


class LayerFile(GraphEnds):
    """A file of layers."""

    layers: list[
        Annotated[
            Annotated[ConvEntry, Tag("conv")]
            | Annotated[TransposedEntry, Tag("trconv")]
            | Annotated[DepthwiseEntry, Tag("dsconv")]
            | Annotated[GemmEntry, Tag("gemm")]
            | Annotated[PassEntry, Tag("pass")],
            Discriminator(_kind),
        ]
    ] = Field(min_length=1, description="the layers, in order")


def schema() -> dict[str, Any]:
    """JSON Schema of a file of layers."""
    return LayerFile.model_json_schema() | {
        "$schema": "https://json-schema.org/draft/2020-12/schema"
    }
