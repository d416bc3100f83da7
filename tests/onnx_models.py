"""Small models of ONNX, for tests of its reader."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

Shape = Sequence[int | str] | None


def onnx_model(
    nodes: Sequence[Any], inputs: Mapping[str, Shape], weights: Any = (), opset: int = 23
) -> Any:
    """A graph of nodes, of inputs and weights of float32; the last node's output is its result."""
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()]
    zeros = [
        helper.make_tensor(n, TensorProto.FLOAT, s, bytes(4 * prod(s)), raw=True)
        for n, s in weights
    ]
    out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", values, [out], zeros)
    versions = {"": opset, "com.microsoft": 1, "mine": 1}
    opsets = [helper.make_opsetid(*version) for version in versions.items()]
    return helper.make_model(graph, opset_imports=opsets)
