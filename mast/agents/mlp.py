"""Agents of two ReLU layers and a linear one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from mast.agents.kind import AGENTS, AgentKind, Play


@AGENTS.add("mlp")
@dataclass(frozen=True)
class Mlp(AgentKind):
    """See :class:`mast.nets.MlpNet`."""

    reads: ClassVar[Mapping[str, tuple[str, int]]] = MappingProxyType(
        {"first": ("", 1), "second": ("first", 1), "values": ("second", 1)}
    )
    net: ClassVar[str] = "mast.nets:MlpNet"

    def play(self, layer: Play, x: Any, hidden: Any) -> tuple[Any, Any]:
        """See :class:`AgentKind`; it remembers nothing."""
        return layer("values", layer("second", layer("first", x, True), True), False), None
