"""The model zoo: networks by name, every layer in order, counted from 0.

A network is a function in a file of its own, listed in `NETWORKS`; layers are called
``<network>.<name>``, and `get` finds them by that or by ``<network>.<index>``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from common import suggest
from layers.layer import Layer, LayerError
from layers.zoo.alexnet import alexnet
from layers.zoo.mlp import mlp
from layers.zoo.mobilenet import mobilenetv2
from layers.zoo.resnet import resnet18, resnet50
from layers.zoo.transformer import bert_base, gpt2
from layers.zoo.vgg import vgg16

NETWORKS: dict[str, Callable[[], tuple[Layer, ...]]] = {
    "alexnet": alexnet,
    "bert_base": bert_base,
    "gpt2": gpt2,
    "mlp": mlp,
    "mobilenetv2": mobilenetv2,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "vgg16": vgg16,
}


def networks() -> tuple[str, ...]:
    """Names of the networks, sorted."""
    return tuple(sorted(NETWORKS))


@cache
def _built(name: str) -> tuple[Layer, ...]:
    return NETWORKS[name]()


def network(name: str) -> tuple[Layer, ...]:
    """All layers of a network, in order.

    Raises:
        LayerError: The name is unknown.
    """
    if name not in NETWORKS:
        raise LayerError(
            f"network {name!r} is not known; expected one of {', '.join(networks())}."
            f"{suggest(name, networks())}"
        )
    return _built(name)


def get(name: str) -> Layer:
    """One layer of the zoo: ``mobilenetv2.2`` (0-based index) or ``vgg16.conv3_1`` (its name).

    Raises:
        LayerError: The network or the layer is unknown.
    """
    network_name, dot, entry = name.partition(".")
    if not dot:
        if network_name in NETWORKS:
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
