"""Where the time goes: phases, bytes, arithmetic, hardware counters, figures."""

from __future__ import annotations

from mpe_marl.profiling.profile import Profile, profile

__all__ = ["Profile", "profile"]
