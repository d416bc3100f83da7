"""Trained agents as a file: safetensors, which holds arrays and text and can run no code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layers import DIMS
from mapper.pretrained.network import Weights, shapes
from mapper.pretrained.seen_records import CHOICE_FEATURES, CONTEXT_FEATURES
from marl_common import brief, parse_record, read_fields, write_arrays
from marl_runs import plain

VERSION = 4
"""Raised whenever features, decisions or networks change their meaning."""
AUTO, NONE = "auto", "none"


class PretrainedError(ValueError):
    """A file that holds no trained agents, or agents of another version."""


@dataclass(frozen=True)
class Agents:
    """Trained agents.

    Args:
        weights: Their networks.
        card: How they were trained: cost model, seed, schedule, figures, limits.
    """

    weights: Weights
    card: dict[str, Any] = field(default_factory=dict)


def save(path: str | Path, agents: Agents) -> None:
    """Write agents; the file is whole or untouched."""
    card = json.dumps(plain(agents.card), sort_keys=True, allow_nan=False)
    checksum = _checksum(agents.weights, card)
    write_arrays(path, agents.weights, {"format": _format(), "card": card, "sha256": checksum})


def load(path: str | Path) -> Agents:
    """Read agents.

    Raises:
        PretrainedError: The file is missing, damaged, or of another version.
    """
    from safetensors import SafetensorError, safe_open

    path, where = Path(path), f"--pretrained {path}"
    if not path.is_file():
        raise PretrainedError(
            f"{where}: not found; expected a file that `mapper pretrain` wrote, or {NONE}"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise PretrainedError(
            f"{where}: no file of trained agents ({str(error).splitlines()[0]}); train them with "
            "`mapper pretrain`"
        ) from None
    if (version := metadata.get("format", "none")) != _format():
        raise PretrainedError(
            f"{where}: its agents are of another version ({version}, expected {_format()}); train "
            "them anew with `mapper pretrain`"
        )
    return Agents(arrays, _checked_card(path, arrays, metadata))


def _checked_card(path: Path, arrays: Weights, metadata: dict[str, str]) -> dict[str, Any]:
    """The card of a file, once all members are those of agents."""
    from mapper.pretrained.card import CardFields

    where = f"--pretrained {path}"
    with path.open("rb") as file:  # of a member that is named twice safetensors reads the last
        size = int.from_bytes(file.read(8), "little")
        parse_record(file.read(size), f"{where}: header", PretrainedError)
    for name in sorted(set(metadata) - {"format", "card", "sha256"})[:1]:
        raise PretrainedError(
            f"{where}: unknown member {brief(name)}; expected format, card and sha256"
        )
    text, named = metadata.get("card", "{}"), metadata.get("sha256")
    card: dict[str, Any] = parse_record(text, f"{where}: card", PretrainedError)
    read_fields(CardFields, card, f"{where}: card", PretrainedError)
    size = sum(array.size for array in arrays.values())
    told = card.get("parameters", size)
    broken = {
        "its arrays and its card are not those that its sha256 names": (
            named not in (None, _checksum(arrays, text))
        ),
        "its arrays are not those of the agents": not _are_networks(arrays),
        "it has no sha256": named is None,
        f"card: parameters: got {told}, expected {size}": told != size,
    }
    for why in [why for why, found in broken.items() if found][:1]:
        raise PretrainedError(
            f"{where}: {why}; the file is damaged, train them anew with `mapper pretrain`"
        )
    return card


def _checksum(arrays: Mapping[str, NDArray[Any]], card: str) -> str:
    """Hexadecimal SHA-256 of all arrays, by name, and the card."""
    found = hashlib.sha256(card.encode())
    for name in sorted(arrays):
        found.update(f"{name}:{arrays[name].dtype.str}:{arrays[name].shape}:".encode())
        found.update(arrays[name].tobytes())
    return found.hexdigest()


def _are_networks(arrays: Weights) -> bool:
    """Whether arrays are those of the agents' networks, of any width, and finite."""
    width = arrays.get("parallel.context1.bias", np.empty(0)).shape[:1]
    found = {name: array.shape for name, array in arrays.items()}
    whole = all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values())
    return whole and 0 not in width and found == shapes(*width)


def _format() -> str:
    """What makes two files of agents compatible."""
    return f"{VERSION}:{DIMS}:{CONTEXT_FEATURES}:{CHOICE_FEATURES}"


@lru_cache(maxsize=1)
def _shipped() -> Agents:
    """The agents that come with the package, trained on ``exact``."""
    return load(Path(__file__).parent / "weights/exact.safetensors")


def agents_of(given: str) -> Agents | None:
    """The agents that an option names.

    Args:
        given: ``auto`` (those shipped), ``none``, or a file.

    Raises:
        PretrainedError: See :func:`load`.
    """
    if given == NONE:
        return None
    return _shipped() if given == AUTO else load(given)
