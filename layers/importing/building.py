"""Layers from the shapes that importers find: convolutions, products, and Einstein sums."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from layers.dims import LayerKind
from layers.graph_builder import GraphBuilder
from layers.importing.errors import ContradictionError
from layers.layer import Layer, LayerError
from layers.network_graph import OUTSIDE
from layers.transposed import axis_phases, dense_layers

Ints = Sequence[int]


@dataclass(frozen=True)
class Convolution:
    """A convolution as frameworks describe it.

    Args:
        name: For messages.
        batch: Images.
        channels: Input channels of all groups.
        filters: Output channels of all groups.
        size: Input rows and columns, without padding; one entry for a 1-D convolution.
        taps: Filter rows and columns.
        stride: Per axis.
        dilation: Per axis.
        padding: Before and after, per axis: ``((top, bottom), (left, right))``.
        groups: Groups.
    """

    name: str
    batch: int
    channels: int
    filters: int
    size: tuple[int, ...]
    taps: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    groups: int = 1


def convolution(given: Convolution) -> Layer:
    """The layer of a convolution; a 1-D one gets rows of one.

    Raises:
        LayerError: It has more than two axes, or cannot exist.
    """
    conv = _two_axes(given)
    if conv.channels % conv.groups or conv.filters % conv.groups:
        raise LayerError(
            f"{conv.channels} channels and {conv.filters} filters do not split into "
            f"{conv.groups} groups"
        )
    (top, bottom), (left, right) = conv.padding
    kind, K, C, groups = _kind(conv)
    return Layer(
        conv.name,
        kind,
        K=K,
        C=C,
        Y=conv.size[0] + top + bottom,
        X=conv.size[1] + left + right,
        R=conv.taps[0],
        S=conv.taps[1],
        stride=(conv.stride[0], conv.stride[1]),
        N=conv.batch,
        groups=groups,
        dilation=(conv.dilation[0], conv.dilation[1]),
        padding=(top, bottom, left, right),
    )


def _two_axes(conv: Convolution) -> Convolution:
    axes = len(conv.size)
    if axes == 2:
        return conv
    if axes != 1:
        raise LayerError(
            f"a convolution over {axes} axes; expected one or two (a 3-D convolution is a 2-D one "
            "per slice and tap of the third axis)"
        )
    rows: Any = {name: (1, *vars(conv)[name]) for name in ("size", "taps", "stride", "dilation")}
    return replace(conv, padding=((0, 0), *conv.padding), **rows)


def _kind(conv: Convolution) -> tuple[LayerKind, int, int, int]:
    """Kind, filters and channels of one group, and groups."""
    if conv.groups == 1:
        return LayerKind.CONV, conv.filters, conv.channels, 1
    if conv.groups == conv.channels == conv.filters:
        return LayerKind.DSCONV, 1, conv.channels, 1
    K, C = conv.filters // conv.groups, conv.channels // conv.groups
    return LayerKind.NGCONV, K, C, conv.groups


def transposed(given: Convolution, output: Ints) -> Iterator[Layer]:
    """The layers of a transposed convolution: one dense convolution per phase of its stride.

    Together they do the true MACs only, see :mod:`layers.transposed`.

    Args:
        given: Stride, taps and padding of the transposed convolution; `size` is its input's.
        output: Output rows and columns.

    Raises:
        LayerError: It has more than two axes, is dilated, or cannot exist.
    """
    if any(d != 1 for d in given.dilation):
        raise LayerError("a dilated transposed convolution; expected a dilation of 1")
    output = (1, *output) if len(given.size) == 1 else tuple(output)
    conv = _two_axes(given)
    kind, K, C, groups = _kind(conv)
    rows, columns = (
        axis_phases(output[axis], conv.taps[axis], conv.stride[axis], conv.padding[axis][0])
        for axis in (0, 1)
    )
    sizes = {"K": K, "C": C, "N": conv.batch, "groups": groups}
    return dense_layers(conv.name, kind, rows, columns, sizes)


def matrix_product(name: str, left: Ints, right: Ints) -> Layer:
    """``left @ right`` with NumPy's rules: leading axes are batches, and broadcast.

    A right-hand matrix that all batches share is one product with all rows (a linear layer).

    Raises:
        LayerError: The shapes do not fit.
    """
    left = (1, *left) if len(left) == 1 else tuple(left)
    right = (*right, 1) if len(right) == 1 else tuple(right)
    (*outer, m, k), (*inner, k2, n) = left, right
    if k != k2:
        raise LayerError(f"a product of {tuple(left)} and {tuple(right)}; the inner axes differ")
    if math.prod(inner) == 1:
        return Layer.gemm(name, M=math.prod(outer) * m, N=n, K=k)
    if math.prod(outer) == 1:
        return Layer.gemm(name, M=m, N=math.prod(inner) * n, K=k)
    axes = max(len(outer), len(inner))
    pairs = list(zip(_padded(outer, axes), _padded(inner, axes), strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise ContradictionError(
            f"a product of {tuple(left)} and {tuple(right)}; the leading axes do not broadcast"
        )
    batch = math.prod(max(a, b) for a, b in pairs)
    return Layer.gemm(name, M=m, N=n, K=k, batch=batch)


def _padded(axes: Ints, count: int) -> list[int]:
    return [1] * (count - len(axes)) + list(axes)


def attention(
    name: str,
    batch: int,
    heads: int,
    rows: int,
    columns: int,
    width: int,
    out: int,
    key_heads: int | None = None,
) -> list[Layer]:
    """The two products of an attention block, one per key head and batch entry.

    Queries of all heads that share a key head are rows of one product, so that its keys and values
    are counted once.

    Raises:
        ContradictionError: The key heads do not split the heads.
    """
    shared = heads if key_heads is None else key_heads
    if heads % shared:
        raise ContradictionError(f"key heads: got {shared}, expected a divisor of {heads} heads")
    queries = rows * (heads // shared)
    return [
        Layer.gemm(f"{name}.scores", M=queries, N=columns, K=width, batch=batch * shared),
        Layer.gemm(f"{name}.values", M=queries, N=out, K=columns, batch=batch * shared),
    ]


def add_attention(
    graph: GraphBuilder, products: Sequence[Layer], query: str, key: str, value: str
) -> str:
    """Add the two products of an attention block, and the softmax between them.

    Queries of another size are a part of `query`; keys and values of another size (with cached
    ones, or in windows) come from outside.
    """
    scores, values = products
    name = scores.name.removesuffix("scores")
    if query != OUTSIDE and graph.elements(query) != scores.input_size:
        query = graph.part(f"{name}queries", query, (scores.input_size,))
    if key == value != OUTSIDE:  # one tensor of both
        key = graph.part(f"{name}keys", key, (scores.filter_size,))
        value = graph.part(f"{name}of_values", value, (values.filter_size,))
    key, value = (
        tensor if tensor and graph.elements(tensor) == layer.filter_size else OUTSIDE
        for tensor, layer in ((key, scores), (value, values))
    )
    chances = graph.norm(f"{name}softmax", graph.mac(scores, query, key))
    return graph.mac(values, chances, value)


def einstein_sum(name: str, equation: str, shapes: Sequence[Ints]) -> Layer:
    """A sum of two operands such as ``bhqd,bhkd->bhqk`` as a batched product.

    Raises:
        LayerError: There are not two operands, an index repeats in one of them, or an ellipsis
            stands for axes that only one has.
    """
    inputs, arrow, result = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != 2 or len(shapes) != 2:
        raise LayerError(f"an Einstein sum of {len(shapes)} operands; expected two")
    _check_terms(equation, terms, shapes)
    if not arrow:  # what the dots stand for is kept, and comes first
        both = inputs.replace("...", "").replace(",", "")
        dots = "..." if "..." in inputs else ""
        result = dots + "".join(sorted(i for i in both if both.count(i) == 1))
    terms, result = _without_ellipsis(terms, result, shapes)
    if any(len(set(term)) != len(term) for term in terms):
        raise LayerError(
            f"the Einstein sum {equation!r} takes a diagonal; expected distinct indices"
        )
    extent: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for index, size in zip(term, shape, strict=True):
            before = extent.get(index, 1)
            if 1 not in (before, size) and before != size:
                raise ContradictionError(
                    f"equation: {equation!r} has {index!r} of {before} and of {size}, expected one"
                )
            extent[index] = max(size, before)
    if not set(result) <= set(extent) or len(set(result)) != len(result):
        raise ContradictionError(
            f"equation: {equation!r} gives {result!r}, expected indices of its operands, each once"
        )
    first, second = (set(term) for term in terms)

    def extent_of(indices: set[str]) -> int:
        return math.prod(extent[i] for i in indices)

    out = set(result)
    return Layer.gemm(
        name,
        M=extent_of(first & out - second),
        N=extent_of(second & out - first),
        K=extent_of((first | second) - out),
        batch=extent_of(first & second & out),
    )


def _check_terms(equation: str, terms: Sequence[str], shapes: Sequence[Ints]) -> None:
    """Whether each term has a letter for each axis of its operand, but for those of its dots."""
    for term, shape in zip(terms, shapes, strict=True):
        letters = term.replace("...", "", 1)
        spare = len(shape) - len(letters)
        if letters.strip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") or (
            spare < 0 or (spare > 0 and "..." not in term)
        ):
            raise ContradictionError(
                f"equation: {equation!r} has the term {term!r} for shape {tuple(shape)}, expected "
                "a letter for each axis"
            )


def _without_ellipsis(
    terms: list[str], result: str, shapes: Sequence[Ints]
) -> tuple[list[str], str]:
    """The sum with letters of its own for what the dots stand for."""
    if not any("..." in term for term in terms):
        return terms, result
    counts = [
        len(shape) - len(term.replace("...", "")) if "..." in term else 0
        for term, shape in zip(terms, shapes, strict=True)
    ]
    spare = [chr(0x3B1 + i) for i in range(max(counts))]  # Greek letters: no sum uses them
    filled = [
        term.replace("...", "".join(spare[len(spare) - count :]))
        for term, count in zip(terms, counts, strict=True)
    ]
    return filled, result.replace("...", "".join(spare))
