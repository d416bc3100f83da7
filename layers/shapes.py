"""The distinct shapes of a network: what a whole-network search must map, each once."""

from __future__ import annotations

from collections.abc import Iterable

from layers.layer import Layer
from layers.zoo import network


def distinct(layers: str | Iterable[Layer]) -> tuple[tuple[Layer, int], ...]:
    """Layers that differ in more than their name, and how often each occurs.

    Args:
        layers: Name of a network of the zoo, or layers.

    Returns:
        ``(layer, count)`` pairs in the order of first occurrence; the layer carries the name of
        its first occurrence.

    Raises:
        LayerError: The network is unknown.
    """
    found: dict[tuple[Layer, int, int], list[Layer]] = {}
    for layer in network(layers) if isinstance(layers, str) else layers:
        found.setdefault(layer.given_shape, []).append(layer)
    return tuple((alike[0], len(alike)) for alike in found.values())
