"""Layers and networks as the project's YAML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layers.fields import to_fields
from layers.layer import Layer
from layers.network_graph import GraphNode, NetworkGraph, output_shape
from marl_common import write_text


def write_yaml(path: str | Path, network: Sequence[Layer] | NetworkGraph) -> None:
    """Write layers, or a network, for :func:`layers.read_file`; the file is whole or untouched.

    Raises:
        OSError: The file cannot be written.
    """
    import yaml

    def line(fields: dict[str, Any] | list[str]) -> str:
        return yaml.safe_dump(fields, sort_keys=False, default_flow_style=True, width=9999)

    text = ""
    if isinstance(network, NetworkGraph):
        fields = graph_fields(network)
        entries = fields.pop("layers")
        text = "".join(f"{name}: {line(given)}" for name, given in fields.items() if given)
    else:
        entries = [to_fields(layer) for layer in network]
    text += "layers:\n" + "".join(f"  - {line(fields)}" for fields in entries)
    write_text(path, text)


def graph_fields(graph: NetworkGraph) -> dict[str, Any]:
    """A network as the fields of its file: ``sources``, ``results`` and ``layers``."""
    return {
        "sources": {name: list(shape) for name, shape in graph.sources.items()},
        "results": list(graph.results),
        "layers": [_node_fields(node) for node in graph.nodes],
    }


def _node_fields(node: GraphNode) -> dict[str, Any]:
    layer = node.layer
    fields: dict[str, Any] = {"name": node.name, "kind": str(node.kind)}
    if layer is not None:
        fields = to_fields(layer)
    fields["inputs"] = list(node.inputs)
    if layer is None or node.shape != output_shape(layer):
        fields["shape"] = list(node.shape)
    return fields if node.bits is None else fields | {"bits": node.bits}
