"""Worlds from plain arguments: what every environment and adaptor is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import layers
from cost_models import Accelerator, CostModel
from layers import Layer
from maestro_env.feedback import EnvError, Reward, check_choice
from maestro_env.problem import Problem
from maestro_env.worlds import Worlds

DEFAULT_LAYER = "mobilenetv2.2"
DEFAULT_NETWORK = "mobilenetv2"
EPISODE_LENGTH = 16
OBSERVATIONS = ("paper", "layer")

SpaceOptions = Mapping[str, Any]


def layer_worlds(
    num_worlds: int,
    layer: str | Layer = DEFAULT_LAYER,
    objective: str = "edp",
    accelerator: str | Accelerator = "edge",
    cost_model: str | CostModel = "exact",
    space: SpaceOptions | None = None,
    limits: Mapping[str, float] | None = None,
    reward: Reward = "relative",
    infeasible_reward: float = 0.0,
    observation: str = "paper",
    problem: Problem | None = None,
) -> Worlds:
    """Worlds that map one layer; the arguments are those of ``MaestroEnv``.

    Args:
        num_worlds: How many.
        layer: A layer, or its name as :func:`layers.parse` takes it.
        objective: See :class:`maestro_env.Objective`.
        accelerator: An accelerator, or a preset's name or YAML file.
        cost_model: A cost model, or its name.
        space: Options of :class:`maestro_env.MapSpace`.
        limits: Such as ``{"max_latency_cycles": 1e6}``.
        reward: ``"relative"``, ``"inverse"`` or ``"log"``; see ``MaestroEnv``.
        infeasible_reward: Reward of an infeasible mapping.
        observation: ``"paper"``, or ``"layer"`` to add the layer's features.
        problem: A problem to map instead; the arguments that define one are then not read.

    Raises:
        ValueError: An argument is wrong; its type and text say which one and what is expected.
    """
    if problem is None:
        problem = Problem(_one_layer(layer), accelerator, objective, cost_model, space, limits)
    check_choice("observation", observation, OBSERVATIONS)
    return Worlds(
        problem,
        num_worlds,
        reward=reward,
        infeasible_reward=infeasible_reward,
        features=observation == "layer",
    )


def network_worlds(
    num_worlds: int,
    layers: str | Sequence[str | Layer] = DEFAULT_NETWORK,
    objective: str = "edp",
    accelerator: str | Accelerator = "edge",
    cost_model: str | CostModel = "exact",
    space: SpaceOptions | None = None,
    limits: Mapping[str, float] | None = None,
    reward: Reward = "relative",
    infeasible_reward: float = 0.0,
) -> Worlds:
    """Worlds that map the layers of a network one after another.

    Args:
        num_worlds: How many.
        layers: A network of the zoo, or a sequence of layers.
        objective: This and the rest as in :func:`layer_worlds`.
        accelerator: See there.
        cost_model: See there.
        space: See there.
        limits: See there.
        reward: See there.
        infeasible_reward: See there.

    Raises:
        ValueError: An argument is wrong; its type and text say which one and what is expected.
    """
    shapes: dict[Layer, Problem] = {}
    problems = []
    sequence = _sequence(layers)
    for layer in sequence:
        shape = replace(layer, name="")
        if shape not in shapes:
            shapes[shape] = Problem(layer, accelerator, objective, cost_model, space, limits)
        problems.append(shapes[shape])
    return Worlds(
        problems,
        num_worlds,
        reward=reward,
        infeasible_reward=infeasible_reward,
        features=True,
        layer_names=[layer.name for layer in sequence],
    )


def any_worlds(num_worlds: int, **arguments: Any) -> Worlds:
    """:func:`network_worlds` if there is an argument ``layers``, else :func:`layer_worlds`."""
    if "layers" in arguments:
        return network_worlds(num_worlds, **arguments)
    return layer_worlds(num_worlds, **arguments)


def _one_layer(layer: Any) -> Layer:
    if isinstance(layer, Layer):
        return layer
    if not isinstance(layer, str):
        raise EnvError(
            f"layer: got {layer!r}, expected a layer or its name; for several layers use "
            "MaestroEnvNetwork-v0"
        )
    if layer in layers.networks():
        raise EnvError(
            f"layer: {layer!r} is a whole network; name one of its layers, such as '{layer}.0', "
            "or use MaestroEnvNetwork-v0"
        )
    return layers.parse(layer)


def _sequence(names: Any) -> list[Layer]:
    if isinstance(names, str):
        return list(layers.network(names))
    if isinstance(names, Layer) or not isinstance(names, Sequence):
        raise EnvError(f"layers: got {names!r}, expected a network's name or a list of layers")
    return [_one_layer(name) for name in names]
