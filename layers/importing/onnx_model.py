"""ONNX models: every operator with MACs as a layer; weights need not be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from layers.importing.building import (
    Convolution,
    convolution,
    einstein_sum,
    matrix_product,
    transposed,
)
from layers.importing.report import Imported, ImportingError
from layers.layer import Layer, LayerError

Shape = tuple[int, ...]

WITHOUT_A_LAYER = {
    "RNN": "a recurrent layer's steps depend on each other; unroll it",
    "LSTM": "a recurrent layer's steps depend on each other; unroll it",
    "GRU": "a recurrent layer's steps depend on each other; unroll it",
    "DeformConv": "its taps move with the data",
    "If": "a branch that depends on the data",
    "Loop": "a loop whose length depends on the data",
    "Scan": "a loop over an axis; unroll it",
}
"""Operators with MACs that are no loop nest, and why."""


def from_onnx(path: str | Path, shapes: Mapping[str, int] | None = None) -> Imported:
    """Read an ONNX model.

    Args:
        path: The file; weights stored outside of it are not read.
        shapes: Values of symbolic axes, such as ``{"batch": 1}``.

    Raises:
        ImportingError: The file is missing or damaged, needs operators that this version of onnx
            does not know, has axes without a value, or nothing to map.
    """
    path = Path(path)
    model = _loaded(path)
    _fix_axes(path, model, dict(shapes or {}))
    graph = _inferred(path, model)
    known = _known_shapes(graph)
    found = Imported()
    for number, node in enumerate(graph.node):
        _read_node(found, node, node.name or f"{node.op_type}_{number}", known)
    return found.checked(str(path))


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportingError(
            "reading ONNX needs the package onnx: pip install 'marl-mapper[import]'"
        ) from None
    return onnx


def _loaded(path: Path) -> Any:
    onnx = _onnx()
    if not path.is_file():
        raise ImportingError(f"{path}: not found; expected an ONNX model")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's own errors, which are no common class
        raise ImportingError(
            f"{path}: no ONNX model, or a truncated one ({type(error).__name__}); expected what "
            "onnx.save writes: export it anew"
        ) from None
    if not model.graph.node:
        raise ImportingError(f"{path}: an ONNX model without operators; expected a graph")
    newest = onnx.defs.onnx_opset_version()
    for used in model.opset_import:
        if used.domain in ("", "ai.onnx") and used.version > newest:
            raise ImportingError(
                f"{path}: needs operators of opset {used.version}, onnx {onnx.__version__} knows "
                f"up to {newest}; upgrade onnx or export with an older opset"
            )
    return model


def _fix_axes(path: Path, model: Any, shapes: dict[str, int]) -> None:
    """Give symbolic axes of the inputs their values."""
    weights = {tensor.name for tensor in model.graph.initializer}
    missing: dict[str, str] = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.WhichOneof("value") == "dim_value" and dim.dim_value > 0:
                continue
            name = dim.dim_param or f"{value.name}.{axis}"
            if name in shapes:
                dim.dim_value = shapes[name]
            else:
                missing[name] = value.name
    if missing:
        give = " ".join(f"--shape {name}=1" for name in missing)
        raise ImportingError(
            f"{path}: input {next(iter(missing.values()))!r} has axes without a value: "
            f"{', '.join(missing)}; give them, such as {give}"
        )


def _inferred(path: Path, model: Any) -> Any:
    onnx = _onnx()
    for value in list(model.graph.value_info):
        # an exporter's symbolic shapes would stand in the way of the values given above
        if any(d.WhichOneof("value") == "dim_param" for d in value.type.tensor_type.shape.dim):
            model.graph.value_info.remove(value)
    for value in model.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            if dim.WhichOneof("value") == "dim_param":
                dim.ClearField("dim_param")
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception as error:
        raise ImportingError(
            f"{path}: its shapes contradict each other ({str(error).splitlines()[0]})"
        ) from None


def _known_shapes(graph: Any) -> dict[str, Shape]:
    known: dict[str, Shape] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        dims = value.type.tensor_type.shape.dim
        if all(d.WhichOneof("value") == "dim_value" for d in dims):
            known.setdefault(value.name, tuple(d.dim_value for d in dims))
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
            known.setdefault(node.output[0], tuple(node.attribute[0].t.dims))
    return known


def _read_node(found: Imported, node: Any, name: str, known: dict[str, Shape]) -> None:
    """One operator: layers, a skip, or a reason."""
    operator = node.op_type
    if operator in WITHOUT_A_LAYER:
        found.fail(name, f"{operator}: {WITHOUT_A_LAYER[operator]}")
        return
    reader = READERS.get(operator)
    if reader is None:
        found.skipped[operator] += 1
        return
    try:
        for layer in reader(node, name, known):
            found.add(layer)
    except LayerError as error:
        found.fail(name, f"{operator}: {error}")


def _shape(node: Any, place: int, known: dict[str, Shape]) -> Shape:
    tensor = node.input[place]
    if tensor not in known:
        raise LayerError(f"the shape of {tensor!r} is not known before the model runs")
    return known[tensor]


def _attributes(node: Any) -> dict[str, Any]:
    onnx = _onnx()
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def _convolution(node: Any, name: str, known: dict[str, Shape], data: int, weight: int) -> Any:
    """What both kinds of convolution share."""
    given = _attributes(node)
    batch, channels, *size = _shape(node, data, known)
    first, second, *taps = _shape(node, weight, known)
    axes = len(size)
    padding = list(given.get("pads", [0] * 2 * axes))
    conv = Convolution(
        name,
        batch,
        channels,
        first,
        tuple(size),
        tuple(taps),
        tuple(given.get("strides", [1] * axes)),
        tuple(given.get("dilations", [1] * axes)),
        tuple(zip(padding[:axes], padding[axes:], strict=True)),
        int(given.get("group", 1)),
    )
    return conv, given, second


def _read_conv(
    node: Any, name: str, known: dict[str, Shape], data: int = 0, weight: int = 1
) -> list[Layer]:
    conv, given, _ = _convolution(node, name, known, data, weight)
    rule = given.get("auto_pad", b"NOTSET").decode()
    if rule in ("SAME_UPPER", "SAME_LOWER"):
        conv = _same(conv, upper=rule == "SAME_UPPER")
    return [convolution(conv)]


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
    from dataclasses import replace

    return replace(conv, padding=tuple(found))


def _read_quantised_conv(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    return _read_conv(node, name, known, 0, 3)


def _read_transposed(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    from dataclasses import replace

    conv, _, per_group = _convolution(node, name, known, 0, 1)
    conv = replace(conv, filters=per_group * conv.groups)
    if node.output[0] not in known:
        raise LayerError(f"the shape of {node.output[0]!r} is not known before the model runs")
    return list(transposed(conv, known[node.output[0]][2:]))


def _read_gemm(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    given = _attributes(node)
    left, right = _shape(node, 0, known), _shape(node, 1, known)
    left = left[::-1] if given.get("transA") else left
    right = right[::-1] if given.get("transB") else right
    return [matrix_product(name, left, right)]


def _read_product(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    return [matrix_product(name, _shape(node, 0, known), _shape(node, 1, known))]


def _read_quantised_product(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    return [matrix_product(name, _shape(node, 0, known), _shape(node, 3, known))]


def _read_einsum(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    equation = _attributes(node)["equation"].decode()
    shapes = [_shape(node, place, known) for place in range(len(node.input))]
    return [einstein_sum(name, equation, shapes)]


def _read_attention(node: Any, name: str, known: dict[str, Shape]) -> list[Layer]:
    """Opset 23's Attention: scores, and scores times values, per head."""
    given = _attributes(node)
    query, key, value = (_shape(node, place, known) for place in range(3))
    if len(query) == 3:
        heads = int(given["q_num_heads"])
        batch, rows, width = query[0], query[1], query[2] // heads
        columns, out = key[1], value[2] // int(given.get("kv_num_heads", heads))
    else:
        batch, heads, rows, width = query
        columns, out = key[2], value[3]
    return attention(name, batch * heads, rows, columns, width, out)


def attention(name: str, heads: int, rows: int, columns: int, width: int, out: int) -> list[Layer]:
    """The two products of an attention block, one per head and batch entry."""
    return [
        Layer.gemm(f"{name}.scores", M=rows, N=columns, K=width, batch=heads),
        Layer.gemm(f"{name}.values", M=rows, N=out, K=columns, batch=heads),
    ]


READERS: dict[str, Callable[[Any, str, dict[str, Shape]], list[Layer]]] = {
    "Conv": _read_conv,
    "ConvInteger": _read_conv,
    "QLinearConv": _read_quantised_conv,
    "ConvTranspose": _read_transposed,
    "Gemm": _read_gemm,
    "MatMul": _read_product,
    "MatMulInteger": _read_product,
    "QLinearMatMul": _read_quantised_product,
    "Einsum": _read_einsum,
    "Attention": _read_attention,
}
"""The reader of each operator that has MACs; all others have none."""
