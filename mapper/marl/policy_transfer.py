"""One set of policies that many searches train in turn, each on its own layer.

A parameter's head is kept over a fixed grid of places between the first and the last choice, as
layers differ in how many choices it has. A search reads the places of its choices, learns, and adds
what it changed to every place; parameters and agents that a layer lacks stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mapper.clustering.assignment import Assignment
from mapper.marl.checkpoint import POLICIES, SEARCH, CheckpointError
from mapper.marl.policies import Policies, Space

GRID = 64
"""Places of a head; no parameter of the zoo's layers has more choices."""
HEADS = {"head": 1, "head_bias": 1, "earlier": 0}
"""Weights of a parameter, and the axis of its choices."""
NETWORKS = ("trunk", "trunk_bias", "value", "value_bias")
"""Weights of an agent."""


class NamedPolicies(NamedTuple):
    """The policies of a search.

    Args:
        names: Names of its parameters.
        space: The choices and the agent of each.
        policies: The agents' networks.
    """

    names: tuple[str, ...]
    space: Space
    policies: Policies


def warm(mine: NamedPolicies, path: str | Path, rng: np.random.Generator) -> NDArray[np.int64]:
    """Take over the policies of a search on another layer, and the bests of its epochs.

    Parameters are matched by name; choices by their place between the first and the last.

    Args:
        mine: Policies to set.
        path: A checkpoint of a search.
        rng: Draws the choices of parameters that the other layer lacks.

    Returns:
        ``(E, P)`` the translated bests: candidates of the first population, each costs a sample.

    Raises:
        CheckpointError: The file is no checkpoint, or its networks have another width.
    """
    state = SEARCH.load(path)
    kept = state["space"]
    theirs = {name: row for row, name in enumerate(kept["names"])}
    old, new = state["policies"], mine.policies.state_dict()
    if old["head"].shape[1] != new["head"].shape[1]:
        raise CheckpointError(f"{path}: has networks of another width; set hidden to its value")
    elites, owners = state["bests"], kept["owner"]
    start = np.zeros((len(elites), len(mine.names)), np.int64)
    with torch.no_grad():
        for row, name in enumerate(mine.names):
            count = int(mine.space.nvec[row])
            source = theirs.get(name)
            if source is None:
                start[:, row] = rng.integers(0, count, len(elites))
                continue
            before = int(kept["nvec"][source])
            scale = (before - 1) / max(1, count - 1)
            places = torch.tensor([round(choice * scale) for choice in range(count)])
            for key in ("head", "head_bias"):
                new[key][row, :, :count] = old[key][source][:, places]
            if "earlier" in new and "earlier" in old:
                new["earlier"][row, :count] = old["earlier"][source][places]
            agent, owner = int(mine.space.agent[row]), int(owners[source])
            common = min(mine.policies.common, kept["common"])
            new["trunk"][agent, :common] = old["trunk"][owner, :common]
            for key in ("trunk_bias", "value", "value_bias"):
                new[key][agent] = old[key][owner]
            start[:, row] = np.rint(elites[:, source] * (count - 1) / max(1, before - 1))
        mine.policies.load_state_dict(new)
    return start


def assignment_of(path: str | Path) -> Assignment | None:
    """The agents of the policies in a file, or None if there is none yet.

    Raises:
        CheckpointError: The file holds no shared policies.
    """
    if not Path(path).exists():
        return None
    return Assignment(tuple(tuple(agent) for agent in _read(path)["agents"]))


def adopt(mine: NamedPolicies, path: str | Path) -> None:
    """Take the policies of a file over; parameters it lacks keep the weights they have.

    Raises:
        CheckpointError: The file holds no shared policies, or those of other networks.
    """
    if not Path(path).exists():
        return
    weights = mine.policies.state_dict()
    _sample(mine, _fitting(mine, path), weights)
    mine.policies.load_state_dict(weights)


def hand_on(mine: NamedPolicies, path: str | Path) -> None:
    """Write the policies back, with what this search learned; the file is whole or untouched.

    Raises:
        CheckpointError: As :func:`adopt`.
    """
    path = Path(path)
    empty: dict[str, Any] = {"agents": [], "networks": [], "heads": {}}
    state = _fitting(mine, path) if path.exists() else empty
    trained = mine.policies.state_dict()
    before = {name: tensor.clone() for name, tensor in trained.items()}
    _sample(mine, state, before)
    names = mine.names
    for agent in range(mine.space.agents):
        members = [names[row] for row in np.flatnonzero(mine.space.agent == agent)]
        number = _agent_of(state, members)
        networks = {key: _shared(mine, key, trained[key][agent]).clone() for key in NETWORKS}
        if number is None:
            state["agents"].append(members)
            state["networks"].append(networks)
        else:
            state["networks"][number] = networks
    for row, name in enumerate(names):
        places = _places(GRID, int(mine.space.nvec[row]))
        heads = state["heads"].setdefault(name, {})
        for key in HEADS.keys() & trained.keys():
            change = trained[key][row] - (before[key][row] if key in heads else 0.0)
            spread = change.index_select(HEADS[key], places)
            heads[key] = heads[key] + spread if key in heads else spread
    POLICIES.save(path, state)


def _sample(mine: NamedPolicies, state: dict[str, Any], weights: dict[str, Tensor]) -> None:
    """Write the weights that a layer sees of shared policies into `weights`, where they exist."""
    for row, name in enumerate(mine.names):
        if name not in state["heads"]:
            continue
        count = int(mine.space.nvec[row])
        for key, kept in state["heads"][name].items():
            if key in weights:
                part = kept.index_select(HEADS[key], _places(count, GRID))
                weights[key][row].narrow(HEADS[key], 0, count).copy_(part)
        networks = state["networks"][_agent_of(state, [name])]
        for key in NETWORKS:
            shared = _shared(mine, key, weights[key][mine.space.agent[row]])
            shared[: len(networks[key])].copy_(networks[key])  # earlier ones saw less


def _places(count: int, of: int) -> Tensor:
    """``(count,)``: the nearest of `of` places to each of `count`, both from first to last."""
    return torch.from_numpy(np.rint(np.linspace(0, of - 1, count)).astype(np.int64))


def _shared(mine: NamedPolicies, key: str, weights: Tensor) -> Tensor:
    """The part of an agent's weights that every layer has: not the inputs for its own choices."""
    return weights[: mine.policies.common] if key == "trunk" else weights


def _agent_of(state: dict[str, Any], members: list[str]) -> int | None:
    for number, agent in enumerate(state["agents"]):
        if set(members) & set(agent):
            return number
    return None


def _fitting(mine: NamedPolicies, path: str | Path) -> dict[str, Any]:
    state = _read(path)
    width = mine.policies.trunk.shape[-1]
    theirs = state["networks"][0]["trunk"].shape[-1]
    if theirs != width:
        raise CheckpointError(
            f"{path}: has networks {theirs} wide, expected {width}; set hidden to {theirs}"
        )
    return state


def _read(path: str | Path) -> dict[str, Any]:
    state = POLICIES.load(path)
    if not all(key in state for key in ("agents", "networks", "heads")):
        raise CheckpointError(f"{path}: holds no shared policies; name another file")
    return state
