"""Operators of ONNX that have MACs: what their attributes and operands say, as layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from layers.importing.building import (
    Convolution,
    attention,
    convolution,
    einstein_sum,
    matrix_product,
    transposed,
)
from layers.importing.errors import ContradictionError, ImportingError
from layers.importing.report import RECURRENT, first_line
from layers.layer import Layer, LayerError
from marl_common import brief, one_of

Shape = tuple[int, ...]
MICROSOFT = "com.microsoft"
"""The domain of operators that ONNX Runtime's optimiser writes."""

WITHOUT_A_LAYER = {
    "RNN": RECURRENT,
    "LSTM": RECURRENT,
    "GRU": RECURRENT,
    "DeformConv": "its taps move with the data",
    "If": "a branch that depends on the data",
    "Loop": "a loop whose length depends on the data",
    "Scan": "a loop over an axis; unroll it",
    "LinearAttention": RECURRENT,
    "CausalConvWithState": "its taps reach into a state; export it as a convolution of rows",
} | {
    f"{MICROSOFT}.{name}": "ONNX Runtime's own form; import the model as it was exported"
    for name in (
        *(
            "QAttention",
            "GroupQueryAttention",
            "PackedAttention",
            "DecoderAttention",
            "SparseAttention",
        ),
        *("PackedMultiHeadAttention", "DecoderMaskedMultiHeadAttention", "LongformerAttention"),
        *(
            "MatMulNBits",
            "MatMulBnb4",
            "MatMulInteger16",
            "MatMulIntegerToFloat",
            "DynamicQuantizeMatMul",
        ),
        *("QGemm", "NhwcConv", "QLinearConv", "MoE", "QMoE", "TransposeMatMul"),
    )
}
"""Operators with MACs that are no loop nest, and why."""


def onnx_package() -> Any:
    """The package onnx, loaded where it is needed.

    Raises:
        ImportingError: It is not installed.
    """
    try:
        import onnx
        import onnx.inliner
    except ImportError:
        raise ImportingError(
            "reading ONNX needs the package onnx: pip install 'marl-mapper[import]'"
        ) from None
    return onnx


class Node:
    """An operator: the shapes of its operands, and its attributes by type.

    Args:
        node: The operator.
        name: Its name, for messages.
        known: Shapes of tensors.
    """

    def __init__(self, node: Any, name: str, known: dict[str, Shape]) -> None:
        onnx = onnx_package()
        self.name = name
        self._node, self._known = node, known
        try:
            self._given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        except ValueError as error:
            raise ContradictionError(f"attributes: {first_line(error)}") from None

    def shape(self, place: int, ranks: tuple[int, ...] = ()) -> Shape:
        """The shape of an operand.

        Raises:
            ContradictionError: There is no such operand, or its rank is none of `ranks`.
            LayerError: The shape is not known.
        """
        if place >= len(self._node.input):
            raise ContradictionError(
                f"inputs: got {len(self._node.input)}, expected at least {place + 1}"
            )
        return self._shaped(self._node.input[place], f"input {place}", ranks)

    def output(self, ranks: tuple[int, ...] = ()) -> Shape:
        """The shape of the first result."""
        if not self._node.output:
            raise ContradictionError("outputs: got none, expected one")
        return self._shaped(self._node.output[0], "output", ranks)

    def _shaped(self, tensor: str, what: str, ranks: tuple[int, ...]) -> Shape:
        if tensor not in self._known:
            raise LayerError(f"the shape of {tensor!r} is not known before the model runs")
        shape = self._known[tensor]
        if ranks and len(shape) not in ranks:
            expected = " or ".join(map(str, ranks))
            raise ContradictionError(f"{what}: got shape {shape}, expected {expected} axes")
        return shape

    def given(self, place: int) -> bool:
        """Whether an optional operand is there."""
        return place < len(self._node.input) and bool(self._node.input[place])

    @property
    def operands(self) -> int:
        """How many operands there are."""
        return len(self._node.input)

    def whole(self, name: str, default: int | None = None, least: int = 1) -> int:
        """An attribute that is a whole number; without a default it has to be there."""
        value = self._given.get(name, default)
        if not isinstance(value, int) or value < least:
            raise ContradictionError(
                f"{name}: got {brief(value)}, expected a whole number of at least {least}"
            )
        return value

    def ints(self, name: str, count: int, default: Sequence[int], least: int) -> tuple[int, ...]:
        """An attribute of so many whole numbers."""
        value = self._given.get(name, default)
        fits = isinstance(value, list | tuple) and len(value) == count
        if not fits or any(not isinstance(n, int) or n < least for n in value):
            raise ContradictionError(
                f"{name}: got {brief(value)}, expected {count} whole numbers of at least {least}"
            )
        return tuple(value)

    def has(self, name: str) -> bool:
        """Whether an attribute is given."""
        return name in self._given

    def text(self, name: str, default: str | None = None) -> str:
        """An attribute that is a text."""
        value = self._given.get(name, default)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str):
            raise ContradictionError(f"{name}: got {brief(value)}, expected a text")
        return value


AUTO_PAD = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def _convolution(node: Node, weight: int, transpose: bool = False) -> Convolution:
    """What both kinds of convolution share."""
    batch, channels, *size = node.shape(0, (3, 4, 5))
    first, second, *taps = node.shape(weight, (len(size) + 2,))
    axes = len(size)
    groups = node.whole("group", 1)
    wanted = first if transpose else second * groups
    if channels != wanted:
        raise ContradictionError(
            f"weight: got shape {(first, second, *taps)} with group={groups} for {channels} "
            f"channels, expected a weight of {wanted} channels to meet an input of as many"
        )
    if node.ints("kernel_shape", axes, taps, 1) != tuple(taps):
        raise ContradictionError(
            f"kernel_shape: got {node.ints('kernel_shape', axes, taps, 1)}, expected the weight's "
            f"{tuple(taps)}"
        )
    if not batch:
        raise ContradictionError("input: got a batch of 0, expected at least 1")
    padding = node.ints("pads", 2 * axes, [0] * 2 * axes, 0)
    conv = Convolution(
        node.name,
        batch,
        channels,
        second * groups if transpose else first,
        tuple(size),
        tuple(taps),
        node.ints("strides", axes, [1] * axes, 1),
        node.ints("dilations", axes, [1] * axes, 1),
        tuple(zip(padding[:axes], padding[axes:], strict=True)),
        groups,
    )
    rule = node.text("auto_pad", "NOTSET")
    if rule not in AUTO_PAD:
        raise ContradictionError(f"auto_pad: got {brief(rule)}, expected {one_of(AUTO_PAD, rule)}")
    if rule == "VALID":
        conv = replace(conv, padding=((0, 0),) * axes)
    if rule.startswith("SAME") and not transpose:
        conv = _same(conv, upper=rule == "SAME_UPPER")
    return conv


def _read_conv(node: Node, weight: int = 1) -> list[Layer]:
    return [convolution(_convolution(node, weight))]


def _same(conv: Convolution, upper: bool) -> Convolution:
    """Padding so that there are as many outputs as ceil(inputs / stride)."""
    found = []
    for size, taps, stride, dilation in zip(
        conv.size, conv.taps, conv.stride, conv.dilation, strict=True
    ):
        outputs = -(-size // stride)
        whole = max(0, (outputs - 1) * stride + dilation * (taps - 1) + 1 - size)
        small, large = whole // 2, whole - whole // 2
        found.append((small, large) if upper else (large, small))
    return replace(conv, padding=tuple(found))


def _read_transposed(node: Node) -> list[Layer]:
    conv = _convolution(node, 1, transpose=True)
    if node.has("output_shape") or node.text("auto_pad", "NOTSET").startswith("SAME"):
        raise LayerError("its padding follows from output_shape or auto_pad; export it with pads")
    return list(transposed(conv, node.output((len(conv.size) + 2,))[2:]))


def _read_gemm(node: Node) -> list[Layer]:
    left, right = node.shape(0, (2,)), node.shape(1, (2,))
    left = left[::-1] if node.whole("transA", 0, 0) else left
    right = right[::-1] if node.whole("transB", 0, 0) else right
    return [matrix_product(node.name, left, right)]


def _read_product(node: Node, second: int = 1) -> list[Layer]:
    return [matrix_product(node.name, _matrix(node, 0), _matrix(node, second))]


def _matrix(node: Node, place: int) -> Shape:
    shape = node.shape(place)
    if not shape:
        raise ContradictionError(f"input {place}: got a single number, expected at least one axis")
    return shape


def _read_fused_product(node: Node) -> list[Layer]:
    """ONNX Runtime's FusedMatMul: a product of transposed operands."""
    shapes = [_matrix(node, 0), _matrix(node, 1)]
    for place, operand in enumerate("AB"):
        if len(shapes[place]) < 2:
            continue
        if node.whole(f"transBatch{operand}", 0, 0):  # rows come before the batches
            rows, *outer, columns = shapes[place]
            shapes[place] = (*outer, rows, columns)
        if node.whole(f"trans{operand}", 0, 0):
            *outer, rows, columns = shapes[place]
            shapes[place] = (*outer, columns, rows)
    return [matrix_product(node.name, *shapes)]


def _read_einsum(node: Node) -> list[Layer]:
    shapes = [node.shape(place) for place in range(node.operands)]
    return [einstein_sum(node.name, node.text("equation"), shapes)]


def _read_attention(node: Node) -> list[Layer]:
    """Opset 23's Attention: scores, and scores times values, a key head at a time."""
    if node.given(4) or node.given(5):
        raise LayerError("it takes past keys; export the model without a cache")
    query, key, value = (node.shape(place, (3, 4)) for place in range(3))
    if not len(query) == len(key) == len(value):
        raise ContradictionError(
            f"inputs: got shapes {query}, {key} and {value}, expected as many axes in all three"
        )
    if len(query) == 3:
        heads = node.whole("q_num_heads")
        shared = node.whole("kv_num_heads")
        query, key, value = (
            (n, count, rows, _split(node, width, count))
            for (n, rows, width), count in zip(
                (query, key, value), (heads, shared, shared), strict=True
            )
        )
    batch, heads, rows, width = query
    shared, columns, out = key[1], key[2], value[3]
    if key[3] != width or value[:3] != key[:3] or key[0] != batch:
        raise ContradictionError(
            f"inputs: got queries {query}, keys {key} and values {value} (batch, heads, rows, "
            "width); expected keys as wide as queries, and as many values as keys"
        )
    return attention(node.name, batch, heads, rows, columns, width, out, shared)


def _split(node: Node, width: int, heads: int) -> int:
    if width % heads:
        raise ContradictionError(f"heads: got {heads}, expected a divisor of the width {width}")
    return width // heads


def _read_microsoft_attention(node: Node) -> list[Layer]:
    """ONNX Runtime's Attention: one projection to queries, keys and values, then attention."""
    if node.given(4):
        raise LayerError("it takes past keys; export the model without a cache")
    batch, rows, width = node.shape(0, (3,))
    inner, outputs = node.shape(1, (2,))
    if inner != width:
        raise ContradictionError(
            f"weights: got shape {(inner, outputs)}, expected {width} rows as inputs are wide"
        )
    heads = node.whole("num_heads")
    third = outputs // 3
    sizes = node.ints("qkv_hidden_sizes", 3, [third] * 3, 1)
    if sum(sizes) != outputs:
        raise ContradictionError(
            f"qkv_hidden_sizes: got {sizes}, expected three sizes that add up to {outputs}"
        )
    query, out = _split(node, sizes[0], heads), _split(node, sizes[2], heads)
    projection = Layer.gemm(f"{node.name}.qkv", M=batch * rows, N=outputs, K=width)
    return [projection, *attention(node.name, batch, heads, rows, rows, query, out)]


def _read_multi_head(node: Node) -> list[Layer]:
    """ONNX Runtime's MultiHeadAttention: queries, keys and values are projected already."""
    query, key, value = (node.shape(place, (3,)) for place in range(3))
    heads = node.whole("num_heads")
    if key[2] != query[2] or value[:2] != key[:2] or key[0] != query[0]:
        raise ContradictionError(
            f"inputs: got queries {query}, keys {key} and values {value} (batch, rows, width); "
            "expected keys as wide as queries, and as many values as keys"
        )
    return attention(
        node.name, query[0], heads, query[1], key[1],
        _split(node, query[2], heads), _split(node, value[2], heads),
    )  # fmt: skip


READERS: dict[str, Callable[[Node], list[Layer]]] = {
    "Conv": _read_conv,
    "ConvInteger": _read_conv,
    "QLinearConv": partial(_read_conv, weight=3),
    "ConvTranspose": _read_transposed,
    "Gemm": _read_gemm,
    "MatMul": _read_product,
    "MatMulInteger": _read_product,
    "QLinearMatMul": partial(_read_product, second=3),
    "Einsum": _read_einsum,
    "Attention": _read_attention,
    f"{MICROSOFT}.Attention": _read_microsoft_attention,
    f"{MICROSOFT}.MultiHeadAttention": _read_multi_head,
    f"{MICROSOFT}.FusedConv": _read_conv,
    f"{MICROSOFT}.FusedGemm": _read_gemm,
    f"{MICROSOFT}.FusedMatMul": _read_fused_product,
}
"""The reader of each operator that has MACs; all others have none, or stand above."""
