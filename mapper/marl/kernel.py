"""The compiled entry point: choices drawn; only the heads of acting parameters are computed."""

from __future__ import annotations

import math

from mapper.marl.draw_records import Cell, Column, DrawSizes
from marl_common import Float32Array, FloatArray, address, entry, part


@entry
def draw_cells(
    asked: DrawSizes,
    trunk: Float32Array,
    head: Float32Array,
    head_bias: Float32Array,
    earlier: Float32Array,
    columns: Column,
    observation: Float32Array,
    fixed: FloatArray,
    cells: Cell,
    work: FloatArray,
) -> None:
    """Draw the acting parameters' choices from their policies mixed with fixed shares.

    Args:
        asked: ``(1,)``.
        trunk: ``(A, I + 1, H)``, the last row the bias.
        head: ``(P, H, C)``.
        head_bias: ``(P, C)``.
        earlier: ``(P, C, H)``, what a choice adds for the later heads of its agent; or nothing.
        columns: ``(P,)``.
        observation: ``(B, I)``.
        fixed: ``(P, C, C)`` other shares, a row a current choice, which has none.
        cells: ``(B, P)``, changed in place.
        work: ``(H + C,)`` work space: hidden units, then shares of choices.
    """
    sizes = address(asked[0])
    shares = sizes.units
    for world in range(sizes.worlds):
        before, first = -1, world * sizes.columns
        for column in range(sizes.columns):
            cell, own = address(cells[first + column]), address(columns[column])
            if cell.mark < 0.0:
                continue
            if sizes.free or sizes.own > 0.0:
                if sizes.earlier or own.owner != before:
                    before = own.owner
                    enter(sizes, trunk, before, observation, world, work)
                    if sizes.earlier:
                        add_earlier(sizes, earlier, columns, column, cells, first, work)
                    for unit in range(sizes.units):
                        work[unit] = math.tanh(work[unit])
                stay = -1 if sizes.free else cell.choice
                fill_shares(sizes, head, head_bias, column, own.choices, stay, work)
            if not sizes.free:
                row = (column * sizes.width + cell.choice) * sizes.width
                for choice in range(own.choices):
                    mine = sizes.own * work[shares + choice] if sizes.own > 0.0 else 0.0
                    work[shares + choice] = mine + fixed[row + choice]
            cell.choice = pick(work, shares, own.choices, cell.mark)


@part
def enter(
    sizes: DrawSizes,
    trunk: Float32Array,
    agent: int,
    observation: Float32Array,
    world: int,
    work: FloatArray,
) -> None:
    """What enters an agent's hidden units, but for choices made before."""
    row = agent * (sizes.inputs + 1) * sizes.units
    for unit in range(sizes.units):
        work[unit] = trunk[row + sizes.inputs * sizes.units + unit]
    for figure in range(sizes.inputs):
        value = float(observation[world * sizes.inputs + figure])
        for unit in range(sizes.units):
            work[unit] += value * trunk[row + figure * sizes.units + unit]


@part
def add_earlier(
    sizes: DrawSizes,
    earlier: Float32Array,
    columns: Column,
    column: int,
    cells: Cell,
    first: int,
    work: FloatArray,
) -> None:
    """Add what the choices made before a parameter's, in its agent, add to the hidden units."""
    for other in range(column):
        if columns[other].owner == columns[column].owner:
            row = (other * sizes.width + cells[first + other].choice) * sizes.units
            for unit in range(sizes.units):
                work[unit] += earlier[row + unit]


@part
def fill_shares(
    sizes: DrawSizes,
    head: Float32Array,
    head_bias: Float32Array,
    column: int,
    choices: int,
    stay: int,
    work: FloatArray,
) -> None:
    """Softmax of a parameter's head, without the choice `stay`; -1 leaves none out."""
    shares = sizes.units
    for choice in range(choices):
        work[shares + choice] = head_bias[column * sizes.width + choice]
    for unit in range(sizes.units):
        row = (column * sizes.units + unit) * sizes.width
        for choice in range(choices):
            work[shares + choice] += work[unit] * head[row + choice]
    if stay >= 0:
        work[shares + stay] = -math.inf
    largest, total = -math.inf, 0.0
    for choice in range(choices):
        largest = max(largest, work[shares + choice])
    for choice in range(choices):
        work[shares + choice] = math.exp(work[shares + choice] - largest)
        total += work[shares + choice]
    for choice in range(choices):
        work[shares + choice] /= total


@part
def pick(work: FloatArray, shares: int, choices: int, mark: float) -> int:
    """The choice at which the running sum of the shares passes `mark` of their total."""
    left, last = 0.0, 0
    for choice in range(choices):
        left += work[shares + choice]
    left *= mark
    for choice in range(choices):
        if work[shares + choice] > 0.0:
            last = choice
            left -= work[shares + choice]
            if left < 0.0:
                break
    return last
