"""Replay: how transitions are laid out, apart from the law that draws them."""

from __future__ import annotations

from mpe_marl.replay.buffer import LAYOUTS, Replay
from mpe_marl.replay.law import SamplingLaw
from mpe_marl.replay.laws import LAWS, NEIGHBORS, Recent, check_law, make_law
from mpe_marl.replay.memory import allocate
from mpe_marl.replay.ring import Ring
from mpe_marl.replay.rollout import Rollout
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition

__all__ = [
    "LAWS",
    "LAYOUTS",
    "NEIGHBORS",
    "Recent",
    "Replay",
    "ReplayBatch",
    "Ring",
    "Rollout",
    "SamplingLaw",
    "Schema",
    "Transition",
    "allocate",
    "check_law",
    "make_law",
]
