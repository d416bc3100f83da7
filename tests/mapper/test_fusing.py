"""Fused layers: tilings beside their execution, optima beside brute force."""

import numpy as np

from tests.mapper.fused_execution import differences, random_tiling


def test_tilings_compute_and_hold_what_their_execution_does() -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        group, tiling = random_tiling(rng)
        assert not differences(group, tiling), (group, tiling)
