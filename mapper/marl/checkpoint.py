"""Forms of the files that marl's learners write, and whether a file belongs to a search."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

import cost_models
from mapper.marl.config import MarlConfig
from mapper.marl.observation_and_reward import FACTS, FIGURES
from marl_runs import CheckpointError as CheckpointError
from marl_runs import CheckpointFormat, writer_of

FILES = ("checkpoint", "checkpoint_every", "warm_start", "shared_policy")
"""Options that say where files are; a search goes on under other ones."""


def identity_of(describe: Mapping[str, Any], config: Mapping[str, Any], seed: str) -> Any:
    """What must agree for a search to go on.

    Args:
        describe: The problem, see :meth:`maestro_env.Problem.describe`.
        config: Every option of the searcher.
        seed: What stands for its seed.
    """
    options = {name: value for name, value in config.items() if name not in FILES}
    return {"problem": json.loads(json.dumps(describe)), "config": options, "seed": seed}


def check_identity(path: str | Path, theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    """Refuse the checkpoint of another search; options that it did not know have their defaults.

    Raises:
        CheckpointError: Problem, config or seed differ; says where, and which version wrote it.
    """
    defaults = {f.name: f.default for f in fields(MarlConfig) if f.default is not MISSING}
    known = {**theirs, "config": {**_only(defaults, mine["config"]), **theirs["config"]}}
    for part in mine:
        other = list(_differences(known[part], mine[part]))
        if other:
            raise CheckpointError(
                f"{path}: belongs to another {part}: {', '.join(other)}. It was written by "
                f"{writer_of(path)}; remove it, or give the same {part} again"
            )


def _only(values: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def _differences(theirs: Any, mine: Any, where: str = "") -> Iterator[str]:
    """What of `theirs` is not the same in `mine`, which may say more."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for name, value in theirs.items():
            yield from _differences(value, mine.get(name), f"{where}.{name}" if where else name)
    elif theirs != (list(mine) if isinstance(mine, tuple) else mine):
        yield f"{where}{' ' if where else ''}{theirs} there, {mine} here"


def _search_of_5(state: dict[str, Any]) -> dict[str, Any]:
    """Version 5: tensors only, the config as the text of its ``repr``."""
    if "policies" not in state:
        raise CheckpointError("holds no search")
    identity = state["identity"]
    problem = json.loads(identity["problem"])
    problem["cost_model_options"] = cost_models.recorded_options(problem)
    call = ast.parse(identity["config"], mode="eval").body
    assert isinstance(call, ast.Call)
    config = {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords}
    parts = ("actions", "values", "figures")
    steps = ("observation", "current", "chosen", "acting", "free", "reward")
    surrogate = state["surrogate"]
    same = ("policies", "optimizer", "rng", "numbers", "plateau")
    counters = dict(state["problem"])
    if counters["best_action"] is not None:
        counters["best_action"] = counters["best_action"].numpy()
    return {
        **{name: state[name] for name in same},
        "identity": identity_of(problem, config, identity["seed"]),
        "space": {
            "names": state["names"],
            "nvec": state["nvec"].numpy(),
            "owner": state["owner"].numpy(),
        },
        "bests": state["bests"].numpy(),
        "elites": {k: t.numpy() for k, t in zip(parts, state["elites"], strict=True)},
        "archive": {k: t.numpy() for k, t in zip(parts, state["archive"], strict=True)},
        "pending": [
            {k: t.numpy() for k, t in zip(steps, part, strict=True)} for part in state["pending"]
        ],
        "known": state["known"].numpy().view(np.uint64),
        "surrogate": {
            **surrogate,
            "points": surrogate["points"].numpy(),
            "values": surrogate["values"].numpy(),
        },
        "observer": {"reference": state["reference"].numpy(), "level": state["level"]},
        "problem": counters,
    }


def _same(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "version"}


def _widened(weights: Any, axis: int) -> Any:
    """Zeros for what agents see of layer and chip, behind what they see of a mapping."""
    wide = np.insert(np.asarray(weights), [len(FIGURES)] * FACTS, 0, axis=axis)
    return wide if isinstance(weights, np.ndarray) else type(weights)(wide)


def _moments(moments: list[Any]) -> list[Any]:
    """Of the optimizer; the trunk is the first of the weights."""
    return [_widened(moments[0], 1), *moments[1:]]


def _search_of_6(state: dict[str, Any]) -> dict[str, Any]:
    """Version 6: agents saw neither layer nor chip, and the shares of what they draw from differ.

    Such a search goes on with the share of local and uniform choices that it had; what its agents
    learned stays, and the new inputs have no weight yet.
    """
    options = dict(state["identity"]["config"])
    local, uniform = options.pop("local", 0.5), options.pop("uniform", 0.3)
    options["share"] = round(1.0 - local - uniform, 9)
    options["local"] = round(local / max(local + uniform, 1e-9), 9)
    policies = {**state["policies"], "trunk": _widened(state["policies"]["trunk"], 1)}
    return {
        **state,
        "identity": {**state["identity"], "config": options},
        "space": {**state["space"], "common": len(FIGURES)},
        "policies": policies,
        "optimizer": {
            **state["optimizer"],
            **{name: _moments(state["optimizer"][name]) for name in ("means", "squares")},
        },
        "pending": [
            {**part, "observation": _widened(part["observation"], 1)} for part in state["pending"]
        ],
        "repeats": {"nests": np.empty(0, np.uint64), "values": np.empty(0)},
        "observer": {**state["observer"], "spread": float("nan")},
    }


SEARCH = CheckpointFormat("a search of marl", 7, {5: _search_of_5, 6: _search_of_6})
POLICIES = CheckpointFormat("shared policies of marl", 6, {5: _same})
WEIGHTS = CheckpointFormat("policies of RLlib", 6, {5: _same})
