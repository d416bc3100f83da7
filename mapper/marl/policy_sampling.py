"""Compiled drawing of the agents' choices: only the heads of acting parameters are computed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from common import BoolArray, Float32Array, FloatArray, IntArray, compiled


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


@compiled
def draw(
    weights: Weights,
    observation: Float32Array,
    current: IntArray,
    acting: BoolArray,
    marks: FloatArray,
    own: float,
    fixed: FloatArray,
    free: bool,
) -> IntArray:
    """Draw the acting parameters' choices from their policies mixed with fixed shares.

    Args:
        weights: Of the policies.
        observation: ``(B, I)``.
        current: ``(B, P)`` choices, kept where no agent acts and never drawn where one does.
        acting: ``(B, P)``.
        marks: ``(B, P)`` uniform numbers in [0, 1).
        own: Share of the policies.
        fixed: ``(P, C, C)`` other shares, a row a current choice, which has none.
        free: Draw from the policies alone, the current choices too.

    Returns:
        ``(B, P)`` choices.
    """
    count, width = acting.shape
    chosen = current.copy()
    units = weights.trunk.shape[2]
    hidden, context = np.empty(units), np.zeros(units)
    autoregressive = weights.earlier.shape[0] > 0
    running = np.zeros(weights.head.shape[2])
    for world in range(count):
        before = -1
        for column in range(width):
            if not acting[world, column]:
                continue
            choices = weights.nvec[column]
            stay = -1 if free else current[world, column]
            if free or own > 0.0:
                if autoregressive:
                    _context(weights, column, chosen[world], context)
                if autoregressive or weights.owner[column] != before:
                    before = weights.owner[column]
                    _hidden(weights, before, observation[world], context, hidden)
                _probabilities(weights, column, hidden, stay, running[:choices])
            if not free:
                for choice in range(choices):
                    running[choice] = own * running[choice] + fixed[column, stay, choice]
            chosen[world, column] = _pick(running[:choices], marks[world, column])
    return chosen


@compiled
def _context(weights: Weights, column: int, chosen: IntArray, out: FloatArray) -> None:
    """What the choices made before this parameter's, in its agent, add to the hidden layer."""
    out[:] = 0.0
    for other in range(column):
        if weights.owner[other] == weights.owner[column]:
            for unit in range(len(out)):
                out[unit] += weights.earlier[other, chosen[other], unit]


@compiled
def _hidden(
    weights: Weights,
    agent: int,
    observation: Float32Array,
    context: FloatArray,
    out: FloatArray,
) -> None:
    for unit in range(len(out)):
        total = float(weights.trunk_bias[agent, 0, unit]) + context[unit]
        for figure in range(len(observation)):
            total += observation[figure] * weights.trunk[agent, figure, unit]
        out[unit] = np.tanh(total)


@compiled
def _probabilities(
    weights: Weights, column: int, hidden: FloatArray, stay: int, out: FloatArray
) -> None:
    """Softmax of a parameter's head, without the choice `stay`; -1 leaves none out."""
    for choice in range(len(out)):
        out[choice] = weights.head_bias[column, 0, choice]
    for unit in range(len(hidden)):
        for choice in range(len(out)):
            out[choice] += hidden[unit] * weights.head[column, unit, choice]
    if stay >= 0:
        out[stay] = -np.inf
    largest = out.max()
    total = 0.0
    for choice in range(len(out)):
        out[choice] = np.exp(out[choice] - largest)
        total += out[choice]
    for choice in range(len(out)):
        out[choice] /= total


@compiled
def _pick(shares: FloatArray, mark: float) -> int:
    """The choice at which the running sum of the shares passes `mark` of their total."""
    left = mark * shares.sum()
    last = 0
    for choice in range(len(shares)):
        if shares[choice] > 0.0:
            last = choice
            left -= shares[choice]
            if left < 0.0:
                break
    return last
