"""Agent networks: what an agent sees, to the value of each of its actions."""

from __future__ import annotations

from mast.agents.kind import AGENTS, AgentKind, Play

__all__ = ["AGENTS", "AgentKind", "Play"]
