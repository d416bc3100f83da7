"""Replay: how transitions are laid out, apart from the law that draws them."""

from __future__ import annotations

from mpe_marl.replay.buffer import LAYOUTS, Replay
from mpe_marl.replay.law import SamplingLaw
from mpe_marl.replay.laws import LAWS, NEIGHBORS, check_law, make_law
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition

__all__ = [
    "LAWS",
    "LAYOUTS",
    "NEIGHBORS",
    "Replay",
    "ReplayBatch",
    "SamplingLaw",
    "Schema",
    "Transition",
    "check_law",
    "make_law",
]
