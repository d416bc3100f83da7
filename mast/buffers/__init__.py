"""Buffers: which of the stored episodes make a batch."""

from __future__ import annotations

from mast.buffers.buffer import BUFFERS, EpisodeBuffer

__all__ = ["BUFFERS", "EpisodeBuffer"]
