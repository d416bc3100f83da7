"""Trained agents as a file: safetensors, which holds arrays and text and can run no code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import atomic_write, brief, parse_record
from layers import DIMS
from mapper.pretrained.judge_view import JUDGE_FEATURES
from mapper.pretrained.network import Weights, hidden_width, shapes
from mapper.pretrained.turns import TURNS
from mapper.pretrained.view import CHOICE_FEATURES, CONTEXT_FEATURES, STATE_FEATURES

VERSION = 3
"""Raised whenever features, turns or networks change their meaning."""
AUTO, NONE = "auto", "none"


class PretrainedError(ValueError):
    """A file that holds no trained agents, or agents of another version."""


@dataclass(frozen=True)
class Agents:
    """Trained agents.

    Args:
        weights: Their networks.
        card: How they were trained: cost model, seed, schedule, figures, limits.
        sees: ``(TURNS, STATE_FEATURES)`` which of the choices made so far each decision sees.
    """

    weights: Weights
    card: dict[str, Any] = field(default_factory=dict)
    sees: NDArray[np.float32] = field(
        default_factory=lambda: np.ones((TURNS, STATE_FEATURES), np.float32)
    )


def save(path: str | Path, agents: Agents) -> None:
    """Write agents; the file is whole or untouched."""
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(array) for name, array in agents.weights.items()}
    arrays["sees"] = np.ascontiguousarray(agents.sees.astype(np.float32))
    metadata = {"format": _format(), "card": json.dumps(agents.card, sort_keys=True)}
    with atomic_write(path) as draft:
        save_file(arrays, draft, metadata)


def load(path: str | Path) -> Agents:
    """Read agents.

    Raises:
        PretrainedError: The file is missing, damaged, or of another version.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise PretrainedError(
            f"--pretrained {path}: not found; expected a file that `mapper pretrain` wrote, "
            f"or {NONE}"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise PretrainedError(
            f"--pretrained {path}: no file of trained agents ({str(error).splitlines()[0]}); "
            "train them with `mapper pretrain`"
        ) from None
    if metadata.get("format") != _format():
        raise PretrainedError(
            f"--pretrained {path}: its agents are of another version "
            f"({metadata.get('format', 'none')}, expected {_format()}); train them anew with "
            "`mapper pretrain`"
        )
    card = _card(path, metadata.get("card", "{}"))
    sees = arrays.pop("sees", None)
    _check(path, arrays, sees)
    assert sees is not None
    return Agents(arrays, card, sees)


def _card(path: Path, text: str) -> dict[str, Any]:
    where = f"--pretrained {path}: card"
    card = parse_record(text, where, PretrainedError)
    if not isinstance(card, dict):
        raise PretrainedError(
            f"{where}: got {brief(card)}, expected named values; the file is damaged, train them "
            "anew with `mapper pretrain`"
        )
    return card


def _check(path: Path, arrays: Weights, sees: Any) -> None:
    expected = shapes(hidden_width(arrays)) if "outer_parallel.context1.bias" in arrays else {}
    found = {name: array.shape for name, array in arrays.items()}
    whole = all(np.isfinite(array).all() for array in arrays.values())
    if found != expected or sees is None or sees.shape != (TURNS, STATE_FEATURES) or not whole:
        raise PretrainedError(
            f"--pretrained {path}: its arrays are not those of the agents; the file is damaged, "
            "train them anew with `mapper pretrain`"
        )


def _format() -> str:
    """What makes two files of agents compatible."""
    return f"{VERSION}:{DIMS}:{CONTEXT_FEATURES}:{CHOICE_FEATURES}:{JUDGE_FEATURES}"


@lru_cache(maxsize=8)
def shipped(cost_model: str) -> Agents | None:
    """The agents that come with the package: those of a cost model, else those of ``exact``.

    None where the package has none.
    """
    folder = files("mapper.pretrained").joinpath("weights")
    for name in (cost_model, "exact"):
        path = Path(str(folder.joinpath(f"{name}.safetensors")))
        if path.is_file():
            return load(path)
    return None


def agents_of(given: str, cost_model: str) -> Agents | None:
    """The agents that an option names.

    Args:
        given: ``auto`` (those shipped), ``none``, or a file.
        cost_model: Name of the cost model of the search.

    Raises:
        PretrainedError: See :func:`load`.
    """
    if given == NONE:
        return None
    return shipped(cost_model) if given == AUTO else load(given)
