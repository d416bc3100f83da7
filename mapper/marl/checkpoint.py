"""Checkpoints of the batched learner: plain tensors, numbers and text, never pickled objects."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from common import atomic_write
from mapper.marl.elites import Elites
from mapper.marl.policies import OBSERVATION
from mapper.marl.ppo import Transitions

if TYPE_CHECKING:
    from mapper.marl.batched import BatchedLearner

VERSION = 5
NUMBERS = ("restarts", "before", "kept", "begun")


class CheckpointError(ValueError):
    """A file that is no checkpoint, or one of another search."""


def save(learner: BatchedLearner, path: str | Path) -> None:
    """Write the whole state of a search; the file is whole or untouched."""
    with atomic_write(path) as draft:
        torch.save(_state(learner), draft)


def load(path: str | Path) -> dict[str, Any]:
    """Read a checkpoint; only tensors and plain values are accepted.

    Raises:
        CheckpointError: The file cannot be read, or holds something else.
    """
    try:
        state = torch.load(Path(path), map_location="cpu", weights_only=True)
    except Exception as error:
        raise CheckpointError(f"{path}: is no checkpoint: {error}") from error
    if not isinstance(state, dict) or state.get("version") != VERSION:
        raise CheckpointError(f"{path}: is no checkpoint of version {VERSION}; train again")
    return state


def restore(learner: BatchedLearner, path: str | Path) -> None:
    """Continue where `save` left off; what follows is what would have followed.

    Raises:
        CheckpointError: The file belongs to another problem, config or seed.
    """
    state = load(path)
    for part, mine in _identity(learner).items():
        if state["identity"].get(part) != mine:
            raise CheckpointError(
                f"{path}: belongs to another {part}; remove it, or give the same {part} again"
            )
    learner.policies.load_state_dict(state["policies"])
    learner.ppo.optimizer.load_state_dict(state["optimizer"])
    learner.elites = Elites(*(tensor.numpy() for tensor in state["elites"]))
    learner.archive = Elites(*(tensor.numpy() for tensor in state["archive"]))
    learner.pending = [Transitions(*(t.numpy() for t in part)) for part in state["pending"]]
    learner.dedup.known = set(state["known"].numpy().view(np.uint64).tolist())
    learner.surrogate.restore(state["surrogate"])
    learner.feedback.reference = state["reference"].numpy()
    learner.feedback.level = state["level"]
    learner.rng.bit_generator.state = json.loads(state["rng"])
    for name, value in state["numbers"].items():
        setattr(learner, name, value)
    for name, value in state["plateau"].items():
        setattr(learner.plateau, name, value)
    problem, counters = learner.problem, state["problem"]
    problem.samples = counters["samples"]
    problem.feasible_samples = counters["feasible_samples"]
    problem.best_value = counters["best_value"]
    best = counters["best_action"]
    problem.best_action = None if best is None else best.numpy()
    problem.improvements = [(int(n), float(v)) for n, v in counters["improvements"]]


def warm(learner: BatchedLearner, path: str | Path) -> None:
    """Take over the policies of a search on another layer, and start from the bests of its epochs.

    Parameters are matched by name; choices by their place between the first and the last. The
    translated elites are candidates of the first population: each costs a sample.

    Raises:
        CheckpointError: The file is no checkpoint, or its networks have another width.
    """
    state = load(path)
    names = [learner.problem.space.names[column] for column in learner.columns]
    theirs = {name: row for row, name in enumerate(state["names"])}
    old, new = state["policies"], learner.policies.state_dict()
    if old["head"].shape[1] != new["head"].shape[1]:
        raise CheckpointError(f"{path}: has networks of another width; set hidden to its value")
    elites = state["bests"].numpy()
    start = np.zeros((len(elites), len(names)), np.int64)
    owners = state["owner"]
    with torch.no_grad():
        for row, name in enumerate(names):
            count = int(learner.space.nvec[row])
            source = theirs.get(name)
            if source is None:
                start[:, row] = learner.rng.integers(0, count, len(elites))
                continue
            before = int(state["nvec"][source])
            scale = (before - 1) / max(1, count - 1)
            places = torch.tensor([round(choice * scale) for choice in range(count)])
            for key in ("head", "head_bias"):
                new[key][row, :, :count] = old[key][source][:, places]
            if "earlier" in new and "earlier" in old:
                new["earlier"][row, :count] = old["earlier"][source][places]
            agent, owner = int(learner.space.agent[row]), int(owners[source])
            new["trunk"][agent, :OBSERVATION] = old["trunk"][owner, :OBSERVATION]
            for key in ("trunk_bias", "value", "value_bias"):
                new[key][agent] = old[key][owner]
            start[:, row] = np.rint(elites[:, source] * (count - 1) / max(1, before - 1))
        learner.policies.load_state_dict(new)
    learner.start = start


def _state(learner: BatchedLearner) -> dict[str, Any]:
    problem = learner.problem
    best = problem.best_action
    known = np.array(sorted(learner.dedup.known), dtype=np.uint64).view(np.int64)
    return {
        "version": VERSION,
        "identity": _identity(learner),
        "names": [problem.space.names[column] for column in learner.columns],
        "nvec": torch.from_numpy(learner.space.nvec),
        "owner": torch.from_numpy(learner.space.agent),
        "policies": learner.policies.state_dict(),
        "optimizer": learner.ppo.optimizer.state_dict(),
        "elites": [torch.from_numpy(field.copy()) for field in learner.elites],
        "archive": [torch.from_numpy(field.copy()) for field in learner.archive],
        "bests": torch.from_numpy(learner.bests().actions),
        "pending": [[torch.from_numpy(f.copy()) for f in part] for part in learner.pending],
        "known": torch.from_numpy(known),
        "surrogate": learner.surrogate.state(),
        "reference": torch.from_numpy(learner.feedback.reference),
        "level": learner.feedback.level,
        "rng": json.dumps(learner.rng.bit_generator.state),
        "numbers": {name: getattr(learner, name) for name in NUMBERS},
        "plateau": {name: getattr(learner.plateau, name) for name in ("size", "best", "since")},
        "problem": {
            "samples": problem.samples,
            "feasible_samples": problem.feasible_samples,
            "best_value": float(problem.best_value),
            "best_action": None if best is None else torch.from_numpy(best.copy()),
            "improvements": [[int(n), float(v)] for n, v in problem.improvements],
        },
    }


def _identity(learner: BatchedLearner) -> dict[str, str]:
    """What must agree for a search to continue, as text."""
    config = replace(
        learner.config, checkpoint="", checkpoint_every=1, warm_start="", shared_policy=""
    )
    return {
        "problem": json.dumps(learner.problem.describe(), sort_keys=True),
        "config": repr(config),
        "seed": learner.seed_text,
    }
