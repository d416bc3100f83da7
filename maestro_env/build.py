"""Worlds from plain arguments: what every environment and adaptor is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import layers
from cost_models import Accelerator, Chain, CostModel
from layers import Layer, distinct
from maestro_env.action_space import ActionSpace
from maestro_env.batched_problem import BatchedProblem
from maestro_env.checks import ArgumentError, EnvError, check_choice, check_length
from maestro_env.map_space import checked_options
from maestro_env.problem import Problem
from maestro_env.rewards import Reward

DEFAULT_LAYER = "mobilenetv2.2"
DEFAULT_NETWORK = "mobilenetv2"
EPISODE_LENGTH = 16
OBSERVATIONS = ("paper", "layer", "figures")


class Arguments(TypedDict, total=False):
    """What the environments of one layer and of a network share; `MaestroEnv` explains each."""

    objective: str
    accelerator: str | Accelerator | Chain
    cost_model: str | CostModel
    limits: Mapping[str, float] | None
    reward: Reward
    infeasible_reward: float
    reference: float | None
    space: ActionSpace | Mapping[str, Any] | str | None
    tiles: str
    filters: str
    parallel: str
    orders: str
    co_search: Sequence[str]
    only: Mapping[str, Sequence[int | str]] | None
    repeat: str
    dataflow: str | None


OF_SPACE = ("tiles", "filters", "parallel", "orders", "co_search", "only", "repeat", "dataflow")
"""Arguments that are options of the map space; `space` takes them together."""

OF_PROBLEM = ("accelerator", "objective", "cost_model", "limits")
OF_WORLDS = ("reward", "infeasible_reward", "reference")


def layer_worlds(
    num_worlds: int,
    layer: str | Layer = DEFAULT_LAYER,
    *,
    observation: str = "paper",
    problem: Problem | None = None,
    **arguments: Unpack[Arguments],
) -> BatchedProblem:
    """Worlds that map one layer; the arguments are those of ``MaestroEnv``.

    Args:
        num_worlds: How many.
        layer: A layer, or its name as :func:`layers.parse` takes it.
        observation: ``"paper"``, ``"layer"`` to add the layer's features, or ``"figures"`` for
            those of the papers in their units, as printed.
        problem: A problem to map instead; the arguments that define one are then not read.
        arguments: See ``MaestroEnv``.

    Raises:
        ValueError: An argument is wrong; its type and text say which one and what is expected.
    """
    check_choice("observation", observation, OBSERVATIONS)
    definition, worlds = _sorted(arguments, ("layer", "observation", "problem"))
    if problem is None:
        problem = Problem(_one_layer(layer), **definition)
    return BatchedProblem(
        problem,
        num_worlds,
        features=observation == "layer",
        raw=observation == "figures",
        **worlds,
    )


def network_worlds(
    num_worlds: int,
    layers: str | Sequence[str | Layer] = DEFAULT_NETWORK,
    **arguments: Unpack[Arguments],
) -> BatchedProblem:
    """Worlds that map the layers of a network one after another.

    Args:
        num_worlds: How many.
        layers: A network of the zoo, or a sequence of layers.
        arguments: See ``MaestroEnv``.

    Raises:
        ValueError: An argument is wrong; its type and text say which one and what is expected.
    """
    definition, worlds = _sorted(arguments, ("layers",))
    sequence = _sequence(layers)
    problems = {layer.given_shape: Problem(layer, **definition) for layer, _ in distinct(sequence)}
    return BatchedProblem(
        [problems[layer.given_shape] for layer in sequence],
        num_worlds,
        features=True,
        layer_names=[layer.name for layer in sequence],
        **worlds,
    )


def _sorted(
    arguments: Mapping[str, Any], others: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What defines a problem, and what its worlds take besides."""
    for name in arguments:
        try:
            check_choice("argument", name, (*others, *Arguments.__annotations__))
        except EnvError as error:
            raise ArgumentError(f"unexpected keyword argument {name!r}; {error}") from None
    space: Any = arguments.get("space")
    named = {name: arguments[name] for name in OF_SPACE if name in arguments}
    if named or not isinstance(space, ActionSpace | str):
        # the problem checks the names of options, which depend on the chip
        given = {} if space is None else space
        space = {**(given if isinstance(given, Mapping) else checked_options(given)), **named}
    definition = {name: arguments[name] for name in OF_PROBLEM if name in arguments}
    worlds = {name: arguments[name] for name in OF_WORLDS if name in arguments}
    return {**definition, "space": space}, worlds


def any_worlds(num_worlds: int, **arguments: Any) -> BatchedProblem:
    """:func:`network_worlds` if there is an argument ``layers``, else :func:`layer_worlds`."""
    if "layers" in arguments:
        return network_worlds(num_worlds, **arguments)
    return layer_worlds(num_worlds, **arguments)


def steps_of(length: Any, worlds: BatchedProblem) -> int:
    """Steps of an episode: those that are given, or a pass over the layers of a network.

    Raises:
        EnvError: It is neither None nor a whole number above 0.
    """
    if length is None:
        return len(worlds.problems) if len(worlds.problems) > 1 else EPISODE_LENGTH
    return check_length(length)


def _one_layer(layer: Any) -> Layer:
    if isinstance(layer, Layer):
        return layer
    if not isinstance(layer, str):
        raise EnvError(
            f"layer: got {layer!r}, expected a layer or its name; for several layers use "
            "MaestroEnvNetwork-v0"
        )
    if layers.is_network(layer):
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
