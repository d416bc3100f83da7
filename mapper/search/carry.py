"""What the search of one layer takes over from those of earlier layers of its network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layers import Layer
from marl_runs import Context

POLICY, POLICIES = "policy.pt", "policies.pt"
"""In a run's folder: the state of its search, and the set of policies that is handed on."""
NEAREST, SHARED, NOTHING = "nearest", "shared", "nothing"
CARRIES = {
    NEAREST: "a shape begins with the policies and best mappings of the nearest one that is done",
    SHARED: "one set of policies is trained by all shapes in turn; best mappings as before",
    NOTHING: "every shape begins anew",
}
AT_THE_END = 1_000_000_000
"""Samples between two checkpoints: one is written at the end only."""


@dataclass(frozen=True)
class Earlier:
    """An earlier search of the same network: its key in the store, and its layer."""

    key: str
    layer: Layer


@dataclass(frozen=True)
class Carry:
    """What a search takes over, and from which others.

    Args:
        mode: One of `CARRIES`.
        earlier: Searches to choose from, in the order in which they are done.
    """

    mode: str
    earlier: tuple[Earlier, ...] = ()

    def spec(self) -> dict[str, Any]:
        """As JSON values."""
        return {"mode": self.mode, "from": [search.key for search in self.earlier]}

    def options(self, context: Context, layer: Layer) -> dict[str, Any]:
        """Options of a searcher that takes policies over, and leaves its own to later ones.

        Searches that failed left none. What an earlier attempt of this one left is removed.
        """
        folder = context.folder
        for name in (POLICY, POLICIES):
            (folder / name).unlink(missing_ok=True)
        options: dict[str, Any] = {
            "checkpoint": str(folder / POLICY),
            "checkpoint_every": AT_THE_END,
        }
        trained = list(self._files(context, POLICY))
        if trained:
            nearest = min(trained, key=lambda found: distance(found[0], layer))
            options["warm_start"] = str(nearest[1])
        if self.mode == SHARED:
            handed_on = [path for _, path in self._files(context, POLICIES)]
            if handed_on:
                shutil.copyfile(handed_on[-1], folder / POLICIES)
            options["shared_policy"] = str(folder / POLICIES)
        return options

    def _files(self, context: Context, name: str) -> Iterator[tuple[Layer, Path]]:
        """What earlier searches left, with their layers."""
        for search in self.earlier:
            folder = context.folder_of(search.key)
            if folder is not None and (folder / name).exists():
                yield search.layer, folder / name


def distance(a: Layer, b: Layer) -> float:
    """How unlike two layers are: log2 of their extents apart, and their kinds."""
    apart = np.log2(np.array(a.extents)) - np.log2(np.array(b.extents))
    return float(np.sqrt((apart**2).sum())) + (0.0 if a.kind == b.kind else 8.0)
