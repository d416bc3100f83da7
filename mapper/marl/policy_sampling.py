"""Drawing of the agents' choices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapper.marl.draw_records import Cell, Column, DrawSizes
from marl_common import Float32Array, FloatArray, IntArray, contiguous


class Weights(NamedTuple):
    """The policies' weights as arrays that share memory with the networks.

    Args:
        trunk: ``(A, I, H)``, for I inputs.
        trunk_bias: ``(A, 1, H)``.
        head: ``(P, H, C)``.
        head_bias: ``(P, 1, C)``.
        earlier: ``(P, C, H)``, what a choice adds for the later heads of its agent; empty if heads
            see no choices.
        owner: ``(P,)`` agent of each parameter.
        nvec: ``(P,)`` choices.
    """

    trunk: Float32Array
    trunk_bias: Float32Array
    head: Float32Array
    head_bias: Float32Array
    earlier: Float32Array
    owner: IntArray
    nvec: IntArray


def draw(
    weights: Weights,
    observation: Float32Array,
    current: IntArray,
    marks: FloatArray,
    shares: tuple[float, FloatArray],
    free: bool,
) -> IntArray:
    """Draw the acting parameters' choices from their policies mixed with fixed shares.

    Args:
        weights: Of the policies.
        observation: ``(B, I)``.
        current: ``(B, P)`` choices, kept where no agent acts and never drawn where one does.
        marks: ``(B, P)`` uniform numbers in [0, 1), below 0 where no agent acts.
        shares: Share of the policies; and ``(P, C, C)`` other shares, a row a current choice, which
            has none.
        free: Draw from the policies alone, the current choices too.

    Returns:
        ``(B, P)`` choices.
    """
    from mapper.marl.kernel import draw_cells

    (count, columns), (_, units, width) = current.shape, weights.head.shape
    asked, found = np.zeros(1, DrawSizes), np.empty(len(weights.nvec), Column)
    sizes = count, columns, observation.shape[1], units, width
    asked[0] = (*sizes, len(weights.earlier) > 0, free, shares[0])
    found["owner"], found["choices"] = weights.owner, weights.nvec
    cells = np.empty(current.shape, Cell)
    cells["mark"], cells["choice"] = marks, current
    trunk = np.concatenate([weights.trunk, weights.trunk_bias], axis=1)
    head, head_bias, earlier, observation, fixed = contiguous(
        (weights.head, weights.head_bias, weights.earlier, observation, shares[1])
    )
    work = np.empty(units + width)
    draw_cells(asked, trunk, head, head_bias, earlier, found, observation, fixed, cells, work)
    return cells["choice"].copy()
