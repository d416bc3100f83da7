"""The model zoo: networks by name, every layer in order, counted from 0.

A network is a function in a file of its own that draws its graph, listed in `NETWORKS`, or the
configuration of a language model, listed in `CONFIGS`; layers are called ``<network>.<name>``, and
`get` finds them by that or by ``<network>.<index>``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from layers.layer import Layer, LayerError
from layers.network_graph import NetworkGraph
from layers.zoo import language_models
from layers.zoo.alexnet import alexnet
from layers.zoo.mlp import mlp
from layers.zoo.mobilenet import mobilenetv2
from layers.zoo.resnet import resnet18, resnet50
from layers.zoo.transformer import bert_base, gpt2
from layers.zoo.vgg import vgg16
from marl_common import one_of, suggest

if TYPE_CHECKING:
    from layers.importing import LanguageModel

NETWORKS: dict[str, Callable[[], NetworkGraph]] = {
    "alexnet": alexnet,
    "bert_base": bert_base,
    "gpt2": gpt2,
    "mlp": mlp,
    "mobilenetv2": mobilenetv2,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "vgg16": vgg16,
}


def networks(language: bool = True) -> tuple[str, ...]:
    """Names of the networks, sorted.

    Args:
        language: Whether language models, which stand for one forward pass each, are among them.
    """
    return tuple(sorted((*NETWORKS, *(language_models.CONFIGS if language else ()))))


def is_network(name: str) -> bool:
    """Whether a name is a network's, with the settings of a forward pass or without."""
    plain, _, settings = name.partition(":")
    return plain in networks() and "." not in settings


@cache
def _built(name: str) -> NetworkGraph:
    return NETWORKS[name]()


def network(name: str) -> tuple[Layer, ...]:
    """All layers of a network, in order; see :func:`network_graph`."""
    return network_graph(name).layers


def network_graph(name: str) -> NetworkGraph:
    """A network.

    Args:
        name: Such as ``resnet50``, or ``llama-3-8b:tokens=1,cache=2048,batch=8``: a language model
            in a forward pass.

    Raises:
        LayerError: The name is unknown, or its settings are wrong.
    """
    plain, colon, settings = name.partition(":")
    if not is_network(name):
        raise LayerError(f"network {name!r} is not known; expected {one_of(networks(), plain)}")
    if plain in language_models.CONFIGS:
        return language_models.graph(plain, settings if colon else None)
    if colon:
        raise LayerError(
            f"network {name!r}: {plain} has no tokens and no cache; expected one of "
            f"{', '.join(language_models.CONFIGS)} or a language model's config.json with them"
        )
    return _built(name)


def language_of(name: str) -> LanguageModel | None:
    """The language model of that name, in its forward pass; None for other networks.

    Raises:
        LayerError: The name is unknown, or its settings are wrong.
    """
    network(name)
    plain, colon, settings = name.partition(":")
    if plain not in language_models.CONFIGS:
        return None
    return language_models.read(plain, settings if colon else None).language


def get(name: str) -> Layer:
    """One layer of the zoo: ``mobilenetv2.2`` (0-based index) or ``vgg16.conv3_1`` (its name).

    Raises:
        LayerError: The network or the layer is unknown.
    """
    network_name, dot, entry = name.partition(".")
    if not dot:
        if is_network(network_name):
            last = len(network(network_name)) - 1
            raise LayerError(
                f"layer {name!r} is a whole network; name one of its layers, "
                f"{name}.0 to {name}.{last} (`mapper layers {name}` lists them)"
            )
        examples = [layer.name for known in networks() for layer in network(known)]
        raise LayerError(
            f"layer {name!r} is not known; expected NETWORK.INDEX such as mobilenetv2.2, "
            f"FILE.yaml:NAME or a layer in line such as gemm:M=128,N=768,K=768."
            f"{suggest(name, [*networks(), *examples])}"
        )
    layers = network(network_name)
    by_name = {layer.name: layer for layer in layers}
    if name in by_name:
        return by_name[name]
    if entry.isdecimal() and int(entry) < len(layers):
        return layers[int(entry)]
    hint = "" if entry.isdecimal() else suggest(name, by_name)
    raise LayerError(
        f"layer {name!r} is not known; {network_name} has the layers {network_name}.0 to "
        f"{network_name}.{len(layers) - 1}.{hint}"
    )
