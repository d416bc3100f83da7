"""Replay: how transitions are laid out, apart from the law that draws them."""

from __future__ import annotations

from mpe_marl.replay.buffer import LAYOUTS, Replay
from mpe_marl.replay.law import Law
from mpe_marl.replay.laws import LAWS, make_law
from mpe_marl.replay.schema import Batch, Schema, Transition

__all__ = ["LAWS", "LAYOUTS", "Batch", "Law", "Replay", "Schema", "Transition", "make_law"]
