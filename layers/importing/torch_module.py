"""PyTorch modules, by `torch.export`: every operator with MACs as a layer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from layers.importing.building import (
    Convolution,
    attention,
    convolution,
    einstein_sum,
    matrix_product,
    transposed,
)
from layers.importing.errors import ImportingError
from layers.importing.report import RECURRENT, Imported, first_line
from layers.importing.tracing import Tracer
from layers.layer import Layer, LayerError

WITHOUT_A_LAYER = {
    **dict.fromkeys(
        (
            *("lstm", "gru", "rnn_tanh", "rnn_relu"),
            *("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"),
        ),
        RECURRENT,
    ),
    **dict.fromkeys(
        ("cond", "while_loop", "scan", "associative_scan", "map_impl"),
        "a branch or a loop, which is not read; expected operators in a row",
    ),
    **dict.fromkeys(
        (
            *("addmv", "addbmm", "inner", "tensordot", "linalg_multi_dot", "chain_matmul"),
            *("matrix_power", "linalg_matrix_power", "bilinear", "_trilinear", "_sparse_mm"),
            *("linalg_vecdot", "_addmm_activation", "_scaled_mm", "_grouped_mm", "cdist"),
            *("_scaled_grouped_mm", "_weight_int4pack_mm", "_weight_int8pack_mm", "conv_tbc"),
        ),
        "a product of a form that is not read; write it with matmul",
    ),
}
"""Operators that have MACs and become no layer, with the reason."""
WRAPPED = ("wrap_with_set_grad_enabled", "wrap_with_autocast")
"""Operators that run a part of the graph, under `torch.no_grad()` or `torch.autocast()`."""
MAPPED = ("_vmap_increment_nesting",)
"""Marks operators under `torch.vmap`, which have one element's shapes until that is resolved."""
KNOWN_NAMESPACES = ("aten", "prim", "prims", "profiler", "quantized_decomposed")
"""Namespaces whose operators without a reader have no MACs; Python's own functions have none."""


def from_torch(module: Any, example_inputs: Sequence[Any]) -> Imported:
    """Read a module.

    Args:
        module: A ``torch.nn.Module``.
        example_inputs: Positional inputs; their shapes are the layers' shapes.

    Raises:
        ImportingError: It is no module, torch cannot export it, or it has nothing to map.
    """
    try:
        import torch
    except ImportError:
        raise ImportingError(
            "reading modules needs the package torch; install it with: pip install "
            "'marl-mapper[rl]'"
        ) from None
    _check_given(module, example_inputs)
    name = type(module).__name__
    modes = [(part, part.training) for part in module.modules()]
    try:
        program = torch.export.export(module.eval(), tuple(example_inputs), strict=False)
        parts = [part for part in program.graph_module.modules() if hasattr(part, "graph")]
        if any(_operator(node) in MAPPED for part in parts for node in part.graph.nodes):
            program = program.run_decompositions({})
    except Exception as error:  # whatever the module raises when it is traced
        raise ImportingError(
            f"{name}: torch.export cannot trace it ({type(error).__name__}: {first_line(error)}); "
            "expected a module that runs on these inputs, without branches on their values"
        ) from error
    finally:
        for part, training in modes:
            part.training = training
    found = Imported()
    tracer = Tracer(found.nodes)
    given = set(program.graph_signature.user_inputs)
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in given:
            tracer.source(node.name, _size(node))
    _read_nodes(found, program.graph_module, tracer)
    return found.checked(name)


def _read_nodes(found: Imported, module: Any, tracer: Tracer) -> None:
    for node in module.graph.nodes:
        if node.op == "call_function" and _operator(node) in WRAPPED:
            _read_wrapped(found, module, node, tracer)
        elif node.op == "call_function":
            _read_node(found, node, tracer)


def _read_wrapped(found: Imported, module: Any, node: Any, tracer: Tracer) -> None:
    """Read the part of the graph that a node runs, its operands and results by their own names."""
    place = next(n for n, one in enumerate(node.args) if getattr(one, "op", "") == "get_attr")
    part = getattr(module, node.args[place].target)
    inside = [one for one in part.graph.nodes if one.op == "placeholder"]
    for own, given in zip(inside, node.args[place + 1 :], strict=True):
        tracer.follow(own.name, given.name)
    _read_nodes(found, part, tracer)
    results = part.graph.output_node().args[0]
    for reader in node.users:  # each takes one of the results
        tracer.follow(reader.name, results[reader.args[1]].name)


def _check_given(module: Any, inputs: Any) -> None:
    """Check that a module is given, and as many inputs as it takes."""
    import torch

    if not isinstance(module, torch.nn.Module):
        raise ImportingError(f"module: got {_kind(module)}, expected a torch.nn.Module")
    if not isinstance(inputs, list | tuple):
        raise ImportingError(
            f"example_inputs: got {_kind(inputs)}, expected a tuple of the module's inputs"
        )
    signature = inspect.signature(module.forward)
    try:
        signature.bind(*inputs)
    except TypeError:
        raise ImportingError(
            f"example_inputs: got {len(inputs)}, expected those of "
            f"{type(module).__name__}.forward{signature}"
        ) from None


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _size(node: Any) -> tuple[int, ...]:
    """The shape of what a node gives; empty where that is no tensor."""
    shape = getattr(node.meta.get("val"), "shape", ())
    return tuple(int(n) for n in shape)


def _read_node(found: Imported, node: Any, tracer: Tracer) -> None:
    operator, name = _operator(node), _name(node)
    if operator in WITHOUT_A_LAYER:
        found.fail(name, f"{operator}: {WITHOUT_A_LAYER[operator]}")
        return
    if getattr(node.target, "namespace", "aten") not in KNOWN_NAMESPACES:
        found.fail(name, f"{operator}: an operator that is not known; it may have MACs")
        return
    reader = READERS.get(operator)
    if reader is None:
        operands = [one.name for one in node.all_input_nodes]
        if operator != "getitem":
            found.skip(operator)
        if operands and isinstance(node.meta.get("val"), list | tuple):
            tracer.follow(node.name, operands[0])  # what it gives is taken apart by getitem
            return
        if operator == "getitem":
            operator = _operator(node.args[0])
        tracer.move(operator, name, operands, [(node.name, _size(node))])
        return
    if node.meta["val"].dtype.is_complex:
        found.fail(name, f"{operator}: of complex numbers; expected real ones")
        return
    try:
        layers = reader(node, name)
        operands = [one.name for one in node.all_input_nodes]
        if operator in ("addmm", "baddbmm"):
            operands = [one.name for one in node.args[1:3]]
        tracer.layers(layers, operands, node.name, _size(node))
    except LayerError as error:
        found.fail(name, f"{operator}: {error}")


def _operator(node: Any) -> str:
    """Such as ``conv2d`` for ``aten.conv2d.default``."""
    text = getattr(node.target, "_opname", None) or getattr(node.target, "__name__", "")
    return str(text).partition(".")[0]


def _name(node: Any) -> str:
    """The module that the operator belongs to, or the operator's own name."""
    stack = node.meta.get("nn_module_stack") or {}
    paths = [str(path) for path, _ in stack.values()]
    return next((path for path in reversed(paths) if path), "") or str(node.name)


def _argument(node: Any, place: int, name: str, default: Any) -> Any:
    if len(node.args) > place:
        return node.args[place]
    return node.kwargs.get(name, default)


def _spread(value: Any, axes: int) -> tuple[int, ...]:
    """One entry per axis."""
    values = [value] if isinstance(value, int) else list(value)
    return tuple(int(v) for v in (values * axes if len(values) == 1 else values))


def _read_conv(node: Any, name: str) -> list[Layer]:
    groups, dilation = _argument(node, 6, "groups", 1), _argument(node, 5, "dilation", 1)
    return [convolution(_convolution(node, name, groups, dilation))]


def _same(taps: int, dilation: int) -> tuple[int, int]:
    whole = dilation * (taps - 1)
    return whole // 2, whole - whole // 2


def _read_transposed(node: Any, name: str) -> list[Layer]:
    groups, dilation = _argument(node, 6, "groups", 1), _argument(node, 7, "dilation", 1)
    return _transposed(_convolution(node, name, groups, dilation, transpose=True), node)


def _read_either(node: Any, name: str) -> list[Layer]:
    """``aten.convolution``, whose arguments stand in another order."""
    dilation, is_transposed, _, groups = node.args[5:9]
    given = _convolution(node, name, groups, dilation, transpose=is_transposed)
    return _transposed(given, node) if is_transposed else [convolution(given)]


def _convolution(
    node: Any, name: str, groups: int, dilation: Any, transpose: bool = False
) -> Convolution:
    """What all convolutions share."""
    data, weight = _size(node.args[0]), _size(node.args[1])
    batch, channels, *size = data if len(data) == len(weight) else (1, *data)
    axes = len(size)
    dilation = _spread(dilation, axes)
    rule = _argument(node, 4, "padding", 0)
    if isinstance(rule, str):
        padding = tuple(
            _same(taps, d) if rule == "same" else (0, 0)
            for taps, d in zip(weight[2:], dilation, strict=True)
        )
    else:
        padding = tuple((p, p) for p in _spread(rule, axes))
    filters = weight[1] * groups if transpose else weight[0]
    stride = _spread(_argument(node, 3, "stride", 1), axes)
    return Convolution(
        name, batch, channels, filters, tuple(size), weight[2:], stride, dilation, padding, groups
    )


def _transposed(given: Convolution, node: Any) -> list[Layer]:
    return list(transposed(given, _size(node)[-len(given.size) :]))


def _read_linear(node: Any, name: str) -> list[Layer]:
    (*rows, k), (*n, _) = _size(node.args[0]), _size(node.args[1])
    return [Layer.gemm(name, M=math.prod(rows), N=math.prod(n), K=k)]


def _read_product(node: Any, name: str) -> list[Layer]:
    return [matrix_product(name, _size(node.args[0]), _size(node.args[1]))]


def _read_added_product(node: Any, name: str) -> list[Layer]:
    return [matrix_product(name, _size(node.args[1]), _size(node.args[2]))]


def _read_einsum(node: Any, name: str) -> list[Layer]:
    return [einstein_sum(name, node.args[0], [_size(a) for a in node.args[1]])]


def _read_attention(node: Any, name: str) -> list[Layer]:
    (*heads, rows, width), (*shared, columns, _), (*_, out) = (_size(a) for a in node.args[:3])
    return attention(name, 1, math.prod(heads), rows, columns, width, out, math.prod(shared))


READERS: dict[str, Callable[[Any, str], list[Layer]]] = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _read_conv),
    "convolution": _read_either,
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _read_transposed),
    "linear": _read_linear,
    **dict.fromkeys(
        ("mm", "bmm", "matmul", "mv", "dot", "vdot", "linalg_matmul", "_int_mm"), _read_product
    ),
    **dict.fromkeys(("addmm", "baddbmm"), _read_added_product),
    "einsum": _read_einsum,
    "scaled_dot_product_attention": _read_attention,
}
"""The reader of each operator that has MACs; all others have none."""
