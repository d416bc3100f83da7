"""Agents that remember: a ReLU layer, a gated recurrent unit, a linear layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from mast.agents.kind import AGENTS, AgentKind, Play
from mast.parts import UpdateSize


@AGENTS.add("gru")
@dataclass(frozen=True)
class Gru(AgentKind):
    """See :class:`mast.nets.GruNet`."""

    reads: ClassVar[Mapping[str, tuple[str, int]]] = MappingProxyType(
        {"first": ("", 1), "gates": ("first", 1), "memory": ("gates", 3), "values": ("memory", 3)}
    )
    net: ClassVar[str] = "mast.nets:GruNet"

    def play(self, layer: Play, x: Any, hidden: Any) -> tuple[Any, Any]:
        """See :class:`AgentKind`."""
        made = layer("gates", layer("first", x, True), False)
        width = len(made) // 3
        state = np.zeros((width, x.shape[1]), x.dtype) if hidden is None else hidden
        known = layer("memory", state, False)
        gates = 1 / (1 + np.exp(-(made[: 2 * width] + known[: 2 * width])))
        candidate = np.tanh(made[2 * width :] + gates[:width] * known[2 * width :])
        state = candidate + gates[width:] * (state - candidate)
        return layer("values", state, False), state

    def flops(self, size: UpdateSize) -> int:
        """Two gates, a candidate and what becomes of them: 14 operations a unit."""
        return 14 * size.hidden * size.seen
