"""Which network the layers of a page belong to, and how often each shape occurs in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import layers
from common import atomic_write, read_json
from mapper.report.errors import ReportError
from runs import json_text

NETWORK = "network.json"
"""What ``mapper search --network --out`` writes of the network beside its results."""
Counted = tuple[str, dict[str, int]]
"""A network's name, and the number of layers by the name of the first of their shape."""


def network_of(names: Sequence[str]) -> Counted:
    """The zoo network whose shapes the layers are.

    Args:
        names: Names of layers.

    Returns:
        Its name and counts; ``("", {})`` where they are not shapes of one network, each named as
        the first layer that has it.
    """
    heads = {name.partition(".")[0] for name in names}
    network = heads.pop() if len(heads) == 1 else ""
    if network not in layers.networks():
        return "", {}
    counts = {layer.name: count for layer, count in layers.distinct(network)}
    return (network, counts) if set(names) <= set(counts) and len(names) > 1 else ("", {})


def write_network(path: Path, name: str, shapes: Iterable[tuple[str, int]]) -> None:
    """Write a network's name and how often each shape occurs.

    Raises:
        OSError: The file cannot be written.
    """
    counts = [{"layer": layer, "count": count} for layer, count in shapes]
    with atomic_write(path) as draft:
        draft.write_text(json_text({"network": name, "shapes": counts}) + "\n", encoding="utf-8")


def read_network(path: Path) -> Counted | None:
    """Read what :func:`write_network` wrote; None where there is no such file.

    Raises:
        ReportError: The file is damaged.
    """
    if not path.is_file():
        return None
    data = read_json(path, ReportError)
    try:
        return str(data["network"]), {str(s["layer"]): int(s["count"]) for s in data["shapes"]}
    except (KeyError, TypeError, ValueError) as error:
        raise ReportError(
            f"{path}: is no {NETWORK} of `mapper search --network --out` ({error!r})"
        ) from None
