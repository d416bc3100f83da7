"""Which network the layers of a page belong to, and how often each shape occurs in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import layers
from mapper.report.errors import ReportError
from marl_common import read_json, write_text
from marl_runs import json_text

NETWORK = "network.json"
"""What ``mapper search --network --out`` writes of the network beside its results."""


class NetworkShapes(NamedTuple):
    """A network, and how often each of its shapes occurs.

    Args:
        name: Its name; empty where the layers are no network.
        counts: Number of layers by the name of the first of their shape.
        tokens: New tokens of a language model's forward pass; 0 for other networks.
        pass_cycles: What nodes without MACs take, where they are counted [cycles].
        pass_energy_nj: Likewise [nJ].
    """

    name: str
    counts: dict[str, int]
    tokens: int = 0
    pass_cycles: float = 0.0
    pass_energy_nj: float = 0.0


def network_of(names: Sequence[str]) -> NetworkShapes:
    """The zoo network whose shapes the layers are.

    Args:
        names: Names of layers.

    Returns:
        Its name and counts; none where they are not shapes of one network, each named as the
        first layer that has it.
    """
    nothing = NetworkShapes("", {})
    heads = {name.partition(".")[0] for name in names}
    network = heads.pop() if len(heads) == 1 else ""
    try:
        counts = {layer.name: count for layer, count in layers.distinct(network)}
        language = layers.language_of(network)
    except layers.LayerError:
        return nothing
    tokens = 0 if language is None else language.run.new_tokens
    known = set(names) <= set(counts) and len(names) > 1
    return NetworkShapes(network, counts, tokens) if known else nothing


def write_network(path: Path, network: NetworkShapes) -> None:
    """Write a network's name, how often each shape occurs, and what else is known of it.

    Raises:
        OSError: The file cannot be written.
    """
    counts = [{"layer": layer, "count": count} for layer, count in network.counts.items()]
    fields: dict[str, Any] = {"network": network.name, "shapes": counts}
    more = {name: getattr(network, name) for name in ("tokens", "pass_cycles", "pass_energy_nj")}
    fields |= {name: value for name, value in more.items() if value}
    write_text(path, json_text(fields) + "\n")


def read_network(path: Path) -> NetworkShapes | None:
    """Read what :func:`write_network` wrote; None where there is no such file.

    Raises:
        ReportError: The file is damaged.
    """
    if not path.is_file():
        return None
    data = read_json(path, ReportError)
    try:
        counts = {str(shape["layer"]): int(shape["count"]) for shape in data["shapes"]}
        passes = (float(data.get(name, 0.0)) for name in ("pass_cycles", "pass_energy_nj"))
        return NetworkShapes(str(data["network"]), counts, int(data.get("tokens", 0)), *passes)
    except (KeyError, TypeError, ValueError) as error:
        raise ReportError(
            f"{path}: is no {NETWORK} of `mapper search --network --out` ({error!r})"
        ) from None
