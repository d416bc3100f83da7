"""ONNX models: every operator with MACs as a layer; weights need not be there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layers.importing.errors import ContradictionError, ImportingError
from layers.importing.onnx_operators import (
    MICROSOFT,
    READERS,
    WITHOUT_A_LAYER,
    Node,
    Shape,
    onnx_package,
)
from layers.importing.report import Imported, first_line
from layers.importing.tracing import Tracer
from layers.layer import MAX_EXTENT, LayerError
from marl_common import suggest

MOST_OPERATORS = 1_000_000
"""Operators of a graph with its functions inlined."""
KNOWN_DOMAINS = (MICROSOFT, "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.training")
"""Domains whose operators without a reader have no MACs."""
OF_SHAPES = ("Shape", "Size", "ConstantOfShape", "Range", "EyeLike", "NonZero")
"""Operators whose result is known before the model runs, or never."""
OPERANDS = {"QLinearConv": (0, 3), "QLinearMatMul": (0, 3), "Conv": (0, 1), "Gemm": (0, 1)} | {
    f"{MICROSOFT}.{name}": (0, 1) for name in ("FusedConv", "FusedGemm", "FusedMatMul")
}
"""Places of a layer's input and filter among an operator's operands, where others follow."""


def from_onnx(path: str | Path, shapes: Mapping[str, int] | None = None) -> Imported:
    """Read an ONNX model.

    Args:
        path: The file; weights stored outside of it are not read.
        shapes: Values of symbolic axes, such as ``{"batch": 1}``.

    Raises:
        ImportingError: The file is missing or damaged, needs operators that this version of onnx
            does not know, has axes without a value, tensors that are written twice or read before
            they are written, or nothing to map.
    """
    path = Path(path)
    model = _loaded(path)
    _fix_axes(path, model, dict(shapes or {}))
    graph, known = _inferred(path, model)
    _check_order(path, graph)
    found = Imported()
    tracer = Tracer(found.nodes)
    weights = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if value.name not in weights:
            tracer.source(value.name, known.get(value.name, ()))
    for number, node in enumerate(graph.node):
        name = node.name or f"{node.op_type}_{number}"
        try:
            _read_node(found, node, name, known, tracer)
        except ContradictionError as error:
            raise ImportingError(f"{path}: node {name!r} ({node.op_type}): {error}") from None
    return found.checked(str(path))


def _loaded(path: Path) -> Any:
    onnx = onnx_package()
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
    symbolic: set[str] = set()
    for value in model.graph.input:
        if value.name in weights or not value.type.HasField("tensor_type"):
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.WhichOneof("value") == "dim_value" and dim.dim_value > 0:
                continue
            name = dim.dim_param or f"{value.name}.{axis}"
            symbolic.add(name)
            if name in shapes:
                if not 1 <= shapes[name] <= MAX_EXTENT:
                    raise ImportingError(
                        f"--shape {name}: got {shapes[name]}, expected 1 to {MAX_EXTENT}"
                    )
                dim.dim_value = shapes[name]
            else:
                missing[name] = value.name
    unknown = sorted(set(shapes) - symbolic)
    if unknown:
        raise ImportingError(
            f"{path}: --shape {unknown[0]}: there is no such axis; expected one of "
            f"{', '.join(sorted(symbolic)) or 'none: all axes have values'}."
            f"{suggest(unknown[0], symbolic)}"
        )
    if missing:
        give = " ".join(f"--shape {name}=1" for name in missing)
        raise ImportingError(
            f"{path}: input {next(iter(missing.values()))!r} has axes without a value: "
            f"{', '.join(missing)}; give them, such as {give}"
        )


def _inferred(path: Path, model: Any) -> tuple[Any, dict[str, Shape]]:
    """The graph without functions of its own, and the shapes of its tensors.

    Shapes are computed from the inputs' and the weights'; what the file states of a tensor counts
    where that gives none: it may be stale, or symbolic.
    """
    onnx = onnx_package()
    _check_calls(path, model)
    try:
        model = onnx.inliner.inline_local_functions(model)
    except Exception as error:
        why = first_line(error)
        raise ImportingError(f"{path}: its functions cannot be inlined ({why})") from None
    graph = model.graph
    stated = {value.name: value for value in (*graph.value_info, *graph.output)}
    given = {name: shape for name, value in stated.items() if (shape := _stated(value))}
    del graph.value_info[:]
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    try:
        found = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
        known = _known_shapes(found)
        left = [name for name in given if name not in known]
        if left:  # behind an operator that onnx does not know
            graph.value_info.extend(
                onnx.helper.make_tensor_value_info(
                    name, stated[name].type.tensor_type.elem_type or 1, given[name]
                )
                for name in left
            )
            found = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
            known = _known_shapes(found)
    except Exception as error:
        why = first_line(error)
        raise ImportingError(f"{path}: its shapes contradict each other ({why})") from None
    return found, known


def _check_calls(path: Path, model: Any) -> None:
    """Refuse functions that call each other into too many operators, or in a circle."""
    bodies = {(f.domain, f.name): f.node for f in model.functions}
    sizes: dict[tuple[str, str], int] = {}

    def size(nodes: Any, around: tuple[tuple[str, str], ...] = ()) -> int:
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            if key in around:
                raise ImportingError(f"{path}: function {key[1]!r} calls itself")
            if key in bodies and key not in sizes:
                sizes[key] = size(bodies[key], (*around, key))
            total += sizes.get(key, 1)
            if total > MOST_OPERATORS:
                raise ImportingError(
                    f"{path}: its functions stand for more than {MOST_OPERATORS} operators"
                )
        return total

    size(model.graph.node)


def _check_order(path: Path, graph: Any) -> None:
    """Refuse tensors that are written twice, or read before they are written."""
    first = {name: n for n, node in reversed([*enumerate(graph.node)]) for name in node.output}
    written = {value.name for value in (*graph.input, *graph.initializer)}
    for number, node in enumerate(graph.node):
        what = f"{path}: node {node.name or f'{node.op_type}_{number}'!r}"
        for name in node.input:
            if name and name not in written and first.get(name, -1) >= number:
                raise ImportingError(
                    f"{what} reads {name!r}, which it writes itself or a later one; expected no "
                    "cycle, and nodes in the order in which they run"
                )
        for name in filter(None, node.output):
            if name in written:
                raise ImportingError(
                    f"{what} writes {name!r}, which is written already; expected one writer"
                )
            written.add(name)


def _stated(value: Any) -> Shape | None:
    """The shape that a file states of a tensor, if it is whole."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        return None
    if any(d.WhichOneof("value") != "dim_value" for d in kind.shape.dim):
        return None
    return tuple(d.dim_value for d in kind.shape.dim)


def _known_shapes(graph: Any) -> dict[str, Shape]:
    known: dict[str, Shape] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        shape = _stated(value)
        if shape is not None:
            known.setdefault(value.name, shape)
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
            known.setdefault(node.output[0], tuple(node.attribute[0].t.dims))
    return known


def _read_node(
    found: Imported, node: Any, name: str, known: dict[str, Shape], tracer: Tracer
) -> None:
    """One operator: layers, a skip, or a reason."""
    own = node.domain in ("", "ai.onnx")
    operator = node.op_type if own else f"{node.domain}.{node.op_type}"
    if operator in WITHOUT_A_LAYER:
        found.fail(name, f"{operator}: {WITHOUT_A_LAYER[operator]}")
        return
    reader = READERS.get(operator)
    if reader is None and (own or node.domain in KNOWN_DOMAINS):
        found.skip(operator)
        if operator not in OF_SHAPES:
            tracer.move(operator, name, node.input, [(t, known.get(t, ())) for t in node.output])
        return
    if reader is None:
        found.fail(name, f"{operator}: an operator that is not known; it may have MACs")
        return
    try:
        layers = reader(Node(node, name, known))
        operands = [node.input[place] for place in OPERANDS.get(operator, range(len(node.input)))]
        tracer.layers(layers, operands, node.output[0], known.get(node.output[0], ()))
    except ContradictionError:
        raise
    except LayerError as error:
        found.fail(name, f"{operator}: {error}")
