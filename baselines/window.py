"""The few samples that a model is fitted to, however long the search."""

from __future__ import annotations

import numpy as np

from marl_common import FloatArray, IntArray

SAMPLES_A_CALL = 50
"""Samples known for each that a batch holds: a model of few samples is asked for few at once."""


def best_and_newest(values: FloatArray, most: int) -> IntArray:
    """Rows to keep of ``(n,)`` values, in order: the newest half and the best of the others."""
    old = max(0, len(values) - most // 2)
    best = np.argsort(values[:old], kind="stable")[: most - most // 2]
    return np.concatenate([np.sort(best), np.arange(old, len(values))])


def batch_size(taken: int, most: int) -> int:
    """Samples to ask for at once after `taken`: one in the beginning, later `most`."""
    return int(np.clip(taken // SAMPLES_A_CALL, 1, most))
