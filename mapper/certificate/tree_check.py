"""Checks a certificate's boxes on a chip of two levels: bounds, structures, and their number."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from cost_models import LowerBounds
from layers import DIMS
from maestro_env import Problem
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.looks import ROUNDING, Looks
from mapper.certificate.named_limits import FIGURE, NamedLimits
from mapper.certificate.relaxation import OwnBounds
from mapper.certificate.replay import RULED_OUT, SETTLED, CheckedLevel, Grid, Ranges, walk
from mapper.certificate.unit_spread import check_work
from mapper.certificate.walked import Walked
from marl_common import FloatArray, IntArray

CHUNK = 1 << 16
AT_ONCE = 1 << 10
"""Structures whose mappings are evaluated together."""


def check_tree(certificate: Certificate, problem: Problem, looks: Looks) -> Walked:
    """Walk the tree of a certificate.

    Args:
        certificate: The certificate.
        problem: Its problem.
        looks: Evaluates mappings.

    Raises:
        CertificateError: It does not hold.
    """
    grid = grid_of(problem, len(certificate.tree))
    bounds, orders = _bounds_of(problem, grid), _Orders(grid)
    nothing = certificate.mapping is None
    own = OwnBounds(problem, FIGURE if nothing else None)
    limits = NamedLimits(problem, grid.known)
    target = certificate.bound * (1 - ROUNDING)
    inherited = np.empty(0)
    found = Walked()
    for level in walk(grid, certificate.tree.astype(np.uint8)):
        least = _bounds(bounds, level)
        if len(level.parents):
            least = np.maximum(least, inherited[level.parents])  # a half is part of the whole
        out = np.flatnonzero(level.kinds == RULED_OUT)
        if (least[out] < target).any():
            raise CertificateError(
                f"tree: a box is ruled out whose bound is {least[out].min():.9g}, below the "
                f"claimed bound of {certificate.bound:.9g}"
            )
        if nothing:
            limits.check(level, out)
        found.ruled_out += len(out)
        for low in range(0, len(out), CHUNK):
            part = out[low : low + CHUNK]
            floors = own.floors(grid.boxes(level.which[part], level.ranges[part]))
            found.alone += int((floors.value >= target).sum())
        here = np.flatnonzero(level.kinds == SETTLED)
        found.evaluated += _settle(looks, orders, level.which[here], level.ranges[here])
        found.settled += len(here)
        leaves = level.kinds >= SETTLED
        found.size += grid.size(level.which[leaves], level.ranges[leaves])
        found.boxes += len(level.which)
        inherited = least
    found.limits = dict(limits.counts)
    return found


def grid_of(problem: Problem, boxes: int = 1) -> Grid:
    """The allocations and tiles of a problem's space, of which so many boxes are claimed.

    Raises:
        CertificateError: There are far too many allocations for that.
    """
    check_work(problem.space, boxes)
    return Grid(problem.space)


def least_of_roots(problem: Problem, grid: Grid) -> float:
    """What no mapping of a space is below, by the bounds of the boxes that a tree begins with.

    Args:
        problem: The problem.
        grid: The allocations and tiles of its space.

    Raises:
        CertificateError: The model offers no bounds.
    """
    bounds, least = _bounds_of(problem, grid), math.inf
    for low in range(0, len(grid.allocations), CHUNK):
        roots = grid.roots(low, min(low + CHUNK, len(grid.allocations)))
        least = min(least, float(bounds.bounds(*roots).min()))
    return least


def _bounds_of(problem: Problem, grid: Grid) -> LowerBounds:
    found = problem.lower_bounds_of(grid.known)
    if found is None:
        raise CertificateError(
            f"problem: cost model {problem.cost_model.name!r} offers no bounds for it"
        )
    return found


def _bounds(bounds: LowerBounds, level: CheckedLevel) -> FloatArray:
    parts = [
        bounds.bounds(level.which[start : start + CHUNK], level.ranges[start : start + CHUNK])
        for start in range(0, len(level.which), CHUNK)
    ]
    return np.concatenate(parts)


def _settle(looks: Looks, orders: _Orders, which: IntArray, ranges: Ranges) -> int:
    """Evaluate every loop order of the structures that are settled; returns how many."""
    if (ranges[:, 0] != ranges[:, 1]).any() or (ranges[:, 2] != ranges[:, 3]).any():
        raise CertificateError("tree: a box of several structures is called evaluated")
    count = 0
    for low in range(0, len(which), AT_ONCE):
        part = slice(low, low + AT_ONCE)
        actions = np.concatenate(orders.of(which[part], ranges[part]))
        count += len(actions)
        looks.at(actions)
    return count


class _Orders:
    """The loop orders of a space that can differ in cost.

    A loop that one step of all its units covers may stand anywhere: the cost model counts what an
    execution of the loop nest does (`Symmetry.NEST`), and whoever offers bounds declares that.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._choices = cache(self._choices_of)
        self._columns = [
            [
                i
                for i, p in enumerate(grid.space.parameters)
                if p.level == level and p.kind in ("priority", "order")
            ]
            for level in (0, 1)
        ]

    def of(self, which: IntArray, ranges: Ranges) -> list[IntArray]:
        """For each structure, ``(n, P)`` actions with all orders of the loops that iterate."""
        found = []
        plain = self._grid.actions(which, ranges)
        every_tiles = self._grid.space.decode(plain).tiles.astype(np.int64)
        for action, tiles_of, allocation in zip(plain, every_tiles, which.tolist(), strict=True):
            units = self._grid.allocations.units(allocation)
            whole = np.array(self._grid.space.layer.extents)
            rows = action[None]
            for level in (0, 1):
                tiles = tiles_of[level]
                loops = frozenset(np.flatnonzero(tiles * units[level] < whole).tolist())
                choices = self._choices(level, loops)
                rows = np.repeat(rows, len(choices), axis=0)
                rows[:, self._columns[level]] = np.tile(choices, (len(rows) // len(choices), 1))
                whole = tiles
            found.append(rows)
        return found

    def _choices_of(self, level: int, loops: frozenset[int]) -> IntArray:
        """``(n, columns)`` choices of one level that give every order of some loops once."""
        dims = {DIMS[d] for d in loops}
        parameters = self._grid.space.parameters
        columns = [
            c
            for c in self._columns[level]
            if parameters[c].kind == "order" or parameters[c].dim in dims
        ]
        sizes = [int(self._grid.space.nvec[column]) for column in columns]
        every = np.array(list(np.ndindex(*sizes)), dtype=np.int64).reshape(
            math.prod(sizes), len(columns)
        )
        actions = np.zeros((len(every), len(self._grid.space.nvec)), np.int64)
        actions[:, columns] = every
        orders = self._grid.space.decode(actions).orders[:, level]
        kept: dict[tuple[int, ...], int] = {}
        for row, order in enumerate(orders.tolist()):
            kept.setdefault(tuple(d for d in order if d in loops), row)
        return actions[list(kept.values())][:, self._columns[level]]
