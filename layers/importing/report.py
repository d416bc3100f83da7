"""What an import found: layers in order, operators without MACs, and what could not be mapped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from layers.graph_builder import GraphBuilder, plain_name
from layers.importing.errors import ImportingError
from layers.layer import Layer
from layers.network_graph import NetworkGraph

if TYPE_CHECKING:
    from layers.importing.decoder import LanguageModel

RECURRENT = "a recurrent layer's steps depend on each other; unroll it"


def first_line(error: Exception) -> str:
    """The first line of another library's message."""
    return plain_name((str(error) or type(error).__name__).splitlines()[0])


@dataclass
class Imported:
    """The layers of a model.

    Args:
        nodes: Every node in the order of the model's graph.
        skipped: How often each operator without MACs occurs.
        unmapped: ``(node, reason)`` for every operator with MACs that is no layer here.
        language: The language model and its forward pass, where it is one read by its config.
    """

    nodes: GraphBuilder = field(default_factory=GraphBuilder)
    skipped: Counter[str] = field(default_factory=Counter)
    unmapped: list[tuple[str, str]] = field(default_factory=list)
    language: LanguageModel | None = None

    @property
    def layers(self) -> list[Layer]:
        """Every layer in the order of the model's graph; names are unique."""
        return [node.layer for node in self.nodes.nodes if node.layer is not None]

    def graph(self) -> NetworkGraph:
        """The network.

        Raises:
            ImportingError: Something with MACs could not be mapped, so that tensors are missing.
        """
        if self.unmapped:
            node, reason = self.unmapped[0]
            raise ImportingError(
                f"node {node!r} is not mapped ({reason}); expected a network all of whose nodes "
                "are, to know its tensors"
            )
        return self.nodes.graph()

    def fail(self, node: str, reason: str) -> None:
        """Note an operator that has MACs and cannot be mapped."""
        self.unmapped.append((plain_name(node), reason))

    def skip(self, operator: str) -> None:
        """Count an operator without MACs."""
        self.skipped[plain_name(operator)] += 1

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all layers."""
        return sum(layer.macs for layer in self.layers)

    def checked(self, source: str) -> Imported:
        """This, if there is anything to map.

        Raises:
            ImportingError: No operator of the model has MACs that can be mapped.
        """
        if self.layers:
            return self
        if self.unmapped:
            node, reason = self.unmapped[0]
            raise ImportingError(
                f"{source}: none of its {len(self.unmapped)} operators with MACs can be mapped; "
                f"the first is {node}: {reason}"
            )
        raise ImportingError(
            f"{source}: no operator with multiply-accumulates ({_counted(self.skipped)}); expected "
            "a model with convolutions or matrix products"
        )


def _counted(operators: Counter[str]) -> str:
    shown = [f"{count} {name}" for name, count in operators.most_common(4)]
    return "it has " + ", ".join(shown) if shown else "it has no operators"
