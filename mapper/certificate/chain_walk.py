"""The boxes of a certificate on a chain: written, and checked, by one walk.

A box is a way of spreading units with the tiles of no, one or more memories chosen, from DRAM
inwards, and everything inside open. The proof is a list of little-endian 32-bit numbers. For each
way, in the order of :class:`mapper.certificate.chain_grid.ChainGrid`, one says by what no mapping
of it is below the claimed bound: 0, the checker's own relaxation; 1, the model's bounds of energy
and MAC steps; 2, with those of ports, but for what is listed: the first memory's tiles are chosen;
3, the model's bounds of all ways at once, with this one's MAC steps.
A choice of tiles is a number of boxes that are left, and then each of these: the order of its loops
(the innermost that iterates + 16 x the first inside over rows or columns, as places among tiled
dimensions from 1; 0 for none), its tiles, and what becomes of it: of the last memory's tiles all
loop orders are evaluated, else it is a choice of tiles in turn. All boxes that a choice does not
list are ruled out by the model's bounds. One that is listed and ruled out is passed over, so a
certificate holds where bounds are nearer than those it was written with.

So the walk covers the space whatever the list says, and does not depend on the order in which a
proof was found.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maestro_env import Problem
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.chain_grid import ChainGrid
from mapper.certificate.looks import ROUNDING, Looks
from mapper.certificate.named_limits import FIGURE
from mapper.certificate.relaxation import OwnBounds
from mapper.certificate.walked import Walked
from mapper.certificate.way_bounds import Children, ModelBounds, Tiles, WayBounds
from marl_common import IntArray

CLOSE = 1e-9
"""Share of the claimed bound below it from which on a box is not written; `ROUNDING` is what the
checker allows, so that rounding on another machine is no fault."""
CHUNK = 1 << 14
LOOKED = 1 << 12
"""Mappings evaluated at a time."""
OWN, ENERGY, CHOSEN, WIDEST = range(4)
"""What becomes of a way."""
Words = NDArray[np.uint32]


class ChainWalk:
    """A walk over the ways and tiles of a space.

    Args:
        problem: The problem.
        figures: What is bounded: the objective's, or what stays finite where nothing is feasible.
        bound: What no mapping may be below.
        looks: Evaluates mappings.
        given: The proof to check; None to write one.
    """

    def __init__(
        self,
        problem: Problem,
        figures: tuple[str, ...],
        bound: float,
        looks: Looks,
        given: Words | None = None,
    ) -> None:
        self.grid = ChainGrid(problem, None if given is None else len(given))
        self._own = OwnBounds(problem, figures)
        self._model = ModelBounds(problem, self.grid, figures)
        self._bound, self._looks = bound, looks
        self._least = bound * (1 - (CLOSE if given is None else ROUNDING))
        self._given, self._place = given, 0
        self._waiting: list[IntArray] = []
        self._rows = 0
        self.words: list[int] = []
        """The proof, where it is written."""
        self.found = Walked(size=self.grid.size)

    def run(self) -> Walked:
        """Walk all ways.

        Raises:
            CertificateError: The proof does not hold; says where.
        """
        for low in range(0, len(self.grid.ways), CHUNK):
            ways = self.grid.ways[low : low + CHUNK]
            floors = self._own.floors(self.grid.boxes(ways)).value
            for way, floor in zip(ways, floors.tolist(), strict=True):
                self._walk(way, floor)
        self.found.boxes = self.found.ruled_out + self.found.settled
        self._evaluate()
        if self._given is not None and self._place < len(self._given):
            more = len(self._given) - self._place
            raise CertificateError(f"tree: it has {more:,} numbers too many")
        return self.found

    def _wait(self, actions: IntArray) -> None:
        """Keep mappings to evaluate many of them at a time."""
        self._waiting.append(actions)
        self._rows += len(actions)
        if self._rows >= LOOKED:
            self._evaluate()

    def _evaluate(self) -> None:
        """Evaluate those that wait."""
        if self._waiting:
            self._looks.at(np.concatenate(self._waiting))
        self._waiting, self._rows = [], 0

    def _read(self, count: int) -> list[int]:
        """The next numbers of the proof that is checked."""
        assert self._given is not None
        found = self._given[self._place : self._place + count]
        self._place += count
        if len(found) < count:
            raise CertificateError("tree: it ends too soon; some boxes are missing")
        numbers: list[int] = found.tolist()
        return numbers

    def _refuse(self, what: str, worst: float) -> None:
        raise CertificateError(
            f"tree: {what} is ruled out whose bound is {worst:.9g}, below the claimed bound of "
            f"{self._bound:.9g}"
        )

    # -------------------------------------------------------------- ways

    def _walk(self, way: IntArray, floor: float) -> None:
        """Rule a way out, or walk its tiles."""
        own = floor >= self._least
        kind = OWN
        if self._given is not None:
            (kind,) = self._read(1)
        bounds = None if own and kind == OWN else self._model.of(way)
        if self._given is None:
            kind = OWN if bounds is None else self._kind(bounds)
            self.words.append(kind)
        if bounds is not None and kind == CHOSEN:
            self._model.reach(bounds, self._bound)
            bounds.fill()
            bounds.model.fill_ports()
            self._choose(way, bounds, bounds.model.root(), (), ())
            return
        self.found.ruled_out += 1
        self.found.alone += own
        reach = floor if bounds is None or kind == OWN else self._reach(bounds, kind)
        if not reach >= self._least:
            self._refuse("a way of spreading units", reach)

    def _reach(self, bounds: WayBounds, kind: int) -> float:
        """What a way reaches at least, by bounds of a kind."""
        reach = self._model.reach(bounds, self._bound)
        if kind == WIDEST:
            return reach
        if kind != ENERGY:
            raise CertificateError(f"tree: {kind} has no meaning where a way begins")
        bounds.fill()
        below = bounds.children(bounds.model.root(), self._least).bounds
        return float(below[0]) if len(below) else math.inf

    def _kind(self, bounds: WayBounds) -> int:
        """By what the model rules a way out."""
        for kind in (WIDEST, ENERGY):
            if self._reach(bounds, kind) >= self._least:
                return kind
        return CHOSEN

    # -------------------------------------------------------------- tiles

    def _choose(
        self, way: IntArray, bounds: WayBounds, node: Any, tiles: tuple[Tiles, ...], kinds: Any
    ) -> None:
        """Walk the tiles of the next memory that are listed; all others must be ruled out."""
        found = bounds.children(node, self._bound)
        needed = found.bounds < self._least
        listed = np.flatnonzero(needed).tolist() if self._given is None else self._listed(found)
        open_ = [row for row in listed if row is not None]
        needed[open_] = False
        if needed.any():
            self._refuse("a box", float(found.bounds[needed].min()))
        if self._given is None:
            self._list(found, open_)
        self._count(way, bounds.options(node), tiles, {found.at(row)[1] for row in open_})
        for row in listed:
            if row is None:
                self._pass_over(len(tiles) + 1)
                continue
            kind, mine = found.at(row)
            more, orders = (*tiles, mine), (*kinds, (*kind, tuple(bounds.model.halos)))
            if len(more) == len(self.grid.tiles):
                actions = self.grid.actions(way, more, orders)
                self.found.settled += 1
                self.found.evaluated += len(actions)
                self._wait(actions)
            else:
                self._choose(way, bounds, bounds.child(node, kind, mine), more, orders)

    def _list(self, found: Children, rows: list[int]) -> None:
        """Write the boxes that are left."""
        self.words.append(len(rows))
        for row in rows:
            (innermost, window), tiles = found.at(row)
            self.words += [innermost + 1 + 16 * (window + 1), *tiles]

    def _listed(self, found: Children) -> list[int | None]:
        """Read the boxes that are left; None for those that the bounds rule out by now."""
        (count,) = self._read(1)
        known = {found.at(row): row for row in range(len(found.bounds))}
        rows = []
        for _ in range(count):
            code, *tiles = self._read(1 + len(self.grid.dims))
            rows.append(known.pop(((code % 16 - 1, code // 16 - 1), tuple(tiles)), None))
        return rows

    def _pass_over(self, depth: int) -> None:
        """Read the boxes inside one that need not be looked at."""
        (count,) = self._read(1) if depth < len(self.grid.tiles) else (0,)
        self._read(count * (1 + len(self.grid.dims)))
        for _ in range(count):
            self._pass_over(depth + 1)

    def _count(
        self, way: IntArray, known: list[IntArray], tiles: tuple[Tiles, ...], listed: set[Tiles]
    ) -> None:
        """Count the boxes of a choice that it rules out, and those by the own relaxation alone.

        Tiles that units of levels which hold nothing make of a larger one may not be offered
        themselves; the model's bounds do not know these.

        Raises:
            CertificateError: Such a tile is not ruled out by the own relaxation.
        """
        m = len(tiles)
        around = tiles[-1] if tiles else tuple(self.grid.extents[d] for d in self.grid.dims)
        offered = [self.grid.offered(way, m + 1, p, tile) for p, tile in enumerate(around)]
        sure = [
            np.intersect1d(some, own) for some, own in zip(known, self.grid.tiles[m], strict=True)
        ]
        cells = list(product(*(some.tolist() for some in offered)))
        left = np.array([cell for cell in cells if cell not in listed], np.int64)
        self.found.ruled_out += len(left)
        for low in range(0, len(left), CHUNK):
            part = left[low : low + CHUNK]
            boxes = self.grid.boxes(np.repeat(way[None], len(part), axis=0))
            high = np.array(boxes.high)
            dims = self.grid.dims
            for place, row in enumerate(tiles):
                high[:, place, dims] = row
            high[:, m:, dims] = np.minimum(high[:, m:, dims], part[:, None])
            floors = self._own.floors(boxes._replace(high=high)).value
            alone = floors >= self._least
            self.found.alone += int(alone.sum())
            unknown = ~np.all([np.isin(part[:, p], some) for p, some in enumerate(sure)], axis=0)
            if (unknown & ~alone).any():
                raise CertificateError(
                    f"tree: the bounds know nothing of a tile of memory {m + 1} that the space "
                    "offers; it cannot be certified"
                )


def check_chain(certificate: Certificate, problem: Problem, looks: Looks) -> Walked:
    """Walk the boxes of a certificate.

    Raises:
        CertificateError: It does not hold.
    """
    nothing = certificate.mapping is None
    figures = FIGURE if nothing else problem.objective.figures
    words: Words = certificate.tree.astype(np.uint32)
    found = ChainWalk(problem, figures, certificate.bound, looks, words).run()
    if nothing:
        found.limits = {"buffers and limits" if problem.limits else "buffers": found.ruled_out}
    return found
