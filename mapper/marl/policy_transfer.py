"""One set of policies that many searches train in turn, each on its own layer.

A parameter's head is kept over a fixed grid of places between the first and the last choice, as
layers differ in how many choices it has. A search reads the places of its choices, learns, and adds
what it changed to every place; parameters and agents that a layer lacks stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from common import atomic_write
from mapper.clustering import Assignment
from mapper.marl.checkpoint import VERSION, CheckpointError, load
from mapper.marl.policies import OBSERVATION

if TYPE_CHECKING:
    from mapper.marl.batched import BatchedLearner

GRID = 64
"""Places of a head; no parameter of the zoo's layers has more choices."""
HEADS = {"head": 1, "head_bias": 1, "earlier": 0}
"""Weights of a parameter, and the axis of its choices."""
NETWORKS = ("trunk", "trunk_bias", "value", "value_bias")
"""Weights of an agent."""


def assignment_of(path: str | Path) -> Assignment | None:
    """The agents of the policies in a file, or None if there is none yet.

    Raises:
        CheckpointError: The file holds no shared policies.
    """
    if not Path(path).exists():
        return None
    return Assignment(tuple(tuple(agent) for agent in _read(path)["agents"]))


def adopt(learner: BatchedLearner, path: str | Path) -> None:
    """Take the policies of a file over; parameters it lacks keep the weights they have.

    Raises:
        CheckpointError: The file holds no shared policies, or those of other networks.
    """
    if not Path(path).exists():
        return
    weights = learner.policies.state_dict()
    _sample(learner, _fitting(learner, path), weights)
    learner.policies.load_state_dict(weights)


def hand_on(learner: BatchedLearner, path: str | Path) -> None:
    """Write the policies back, with what this search learned; the file is whole or untouched.

    Raises:
        CheckpointError: As :func:`adopt`.
    """
    path = Path(path)
    empty: dict[str, Any] = {"agents": [], "networks": [], "heads": {}}
    state = _fitting(learner, path) if path.exists() else empty
    trained = learner.policies.state_dict()
    before = {name: tensor.clone() for name, tensor in trained.items()}
    _sample(learner, state, before)
    names = _names(learner)
    for agent in range(learner.space.agents):
        members = [names[row] for row in np.flatnonzero(learner.space.agent == agent)]
        number = _agent_of(state, members)
        networks = {key: _shared(key, trained[key][agent]).clone() for key in NETWORKS}
        if number is None:
            state["agents"].append(members)
            state["networks"].append(networks)
        else:
            state["networks"][number] = networks
    for row, name in enumerate(names):
        places = _places(GRID, int(learner.space.nvec[row]))
        heads = state["heads"].setdefault(name, {})
        for key in HEADS.keys() & trained.keys():
            change = trained[key][row] - (before[key][row] if key in heads else 0.0)
            spread = change.index_select(HEADS[key], places)
            heads[key] = heads[key] + spread if key in heads else spread
    with atomic_write(path) as draft:
        torch.save({"version": VERSION, **state}, draft)


def _sample(learner: BatchedLearner, state: dict[str, Any], weights: dict[str, Tensor]) -> None:
    """Write the weights that a layer sees of shared policies into `weights`, where they exist."""
    for row, name in enumerate(_names(learner)):
        if name not in state["heads"]:
            continue
        count = int(learner.space.nvec[row])
        for key, kept in state["heads"][name].items():
            if key in weights:
                part = kept.index_select(HEADS[key], _places(count, GRID))
                weights[key][row].narrow(HEADS[key], 0, count).copy_(part)
        networks = state["networks"][_agent_of(state, [name])]
        for key in NETWORKS:
            _shared(key, weights[key][learner.space.agent[row]]).copy_(networks[key])


def _places(count: int, of: int) -> Tensor:
    """``(count,)``: the nearest of `of` places to each of `count`, both from first to last."""
    return torch.from_numpy(np.rint(np.linspace(0, of - 1, count)).astype(np.int64))


def _shared(key: str, weights: Tensor) -> Tensor:
    """The part of an agent's weights that every layer has: not the inputs for its own choices."""
    return weights[:OBSERVATION] if key == "trunk" else weights


def _agent_of(state: dict[str, Any], members: list[str]) -> int | None:
    for number, agent in enumerate(state["agents"]):
        if set(members) & set(agent):
            return number
    return None


def _names(learner: BatchedLearner) -> list[str]:
    return [learner.problem.space.names[column] for column in learner.columns]


def _fitting(learner: BatchedLearner, path: str | Path) -> dict[str, Any]:
    state = _read(path)
    mine = learner.policies.trunk.shape[-1]
    theirs = state["networks"][0]["trunk"].shape[-1]
    if theirs != mine:
        raise CheckpointError(
            f"{path}: has networks {theirs} wide, expected {mine}; set hidden to {theirs}"
        )
    return state


def _read(path: str | Path) -> dict[str, Any]:
    state = load(path)
    if not all(key in state for key in ("agents", "networks", "heads")):
        raise CheckpointError(f"{path}: holds no shared policies; name another file")
    return state
