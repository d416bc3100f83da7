"""Sampling laws by name: which transitions make a mini-batch."""

from __future__ import annotations

import random

import numpy as np

from marl_common import at_least, check_name
from mpe_marl.errors import MpeError
from mpe_marl.replay.law import NEIGHBORS, SamplingLaw
from mpe_marl.replay.priorities import Prioritised
from mpe_marl.replay.ring import Ring, Rows


class Uniform(SamplingLaw):
    """Every stored transition with the same probability, each trainer its own draw."""

    name = "uniform"

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw with replacement, as openai/maddpg ``ReplayBuffer.make_index``."""
        return ring.physical(rng.integers(0, ring.size, batch))

    def draw_list(self, ring: Ring, batch: int, rng: random.Random) -> list[int]:
        """One ``randint`` an index (openai/maddpg ``ReplayBuffer.make_index``)."""
        start, rows, newest = ring.start, ring.rows, ring.size - 1
        if start == 0:
            return [rng.randint(0, newest) for _ in range(batch)]
        return [(start + rng.randint(0, newest)) % rows for _ in range(batch)]


EDGES = ("short", "drop", "clip")


class Neighbor(SamplingLaw):
    """Neighborhoods of random transitions, in the order they were written.

    For each random ``i`` of ``d`` transitions the neighborhood, the ``j`` with ``max(0, i - n) <= j
    < min(d, i + n + 1)`` and ``j != i``, until the batch is full: so it is in both versions of the
    paper ("Towards Efficient Multi-Agent Learning Systems", Algorithm 1), and ``short`` is that. At
    the ends of the store it is short; the listing's test whether a ``j`` is stored never fails, as
    ``j`` is held within the store before. ``drop`` reads the test as if it was meant to drop a
    whole neighborhood that leaves the store; ``clip`` takes the end's transition instead. Neither
    is listed anywhere.

    Args:
        n: Neighbours on each side.
        edges: ``"short"``, ``"drop"`` or ``"clip"``.
    """

    def __init__(self, n: int = 3, edges: str = "short") -> None:
        check_name("edges", edges, sorted(EDGES), MpeError)
        self.n = at_least("neighbors", n, 1, MpeError)
        self.edges = edges
        self.name = "neighbor" if edges == "short" else f"neighbor-{edges}"
        self._offsets = np.concatenate([np.arange(-n, 0), np.arange(1, n + 1)]).astype(np.int64)

    def _margin(self, ring: Ring) -> int:
        """Transitions at each end that are no centre.

        Raises:
            MpeError: Too few transitions for one neighborhood.
        """
        margin = self.n if self.edges == "drop" else 0
        needed = {"short": 2, "drop": 2 * self.n + 1, "clip": 1}[self.edges]
        if ring.size < needed:
            raise MpeError(
                f"sampling law {self.name!r} needs {needed} stored transitions or more; has "
                f"{ring.size}. Store more before the first update."
            )
        return margin

    def _near(self, centres: Rows, size: int) -> Rows:
        """The neighborhoods of centres, one after the other."""
        near = (centres[:, None] + self._offsets).ravel()
        if self.edges == "clip":
            return near.clip(0, size - 1)
        return near[(near >= 0) & (near < size)]

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw whole neighborhoods; the last one is cut where the batch is full."""
        margin = self._margin(ring)
        found = np.empty(0, dtype=np.int64)
        while len(found) < batch:
            count = -((len(found) - batch) // (2 * self.n))
            near = self._near(rng.integers(margin, ring.size - margin, count), ring.size)
            found = np.concatenate([found, near]) if len(found) else near
        return ring.physical(found[:batch])

    def draw_list(self, ring: Ring, batch: int, rng: random.Random) -> list[int]:
        """The paper's loop."""
        start, rows, newest, n = ring.start, ring.rows, ring.size - 1, self.n
        margin = self._margin(ring)
        indices: list[int] = []
        while len(indices) < batch:
            centre = rng.randint(0, newest)
            if not margin <= centre <= newest - margin:
                continue
            for i in range(centre - n, centre + n + 1):
                if i == centre:
                    continue
                if 0 <= i <= newest:
                    indices.append((start + i) % rows)
                elif self.edges == "clip":
                    indices.append((start + (0 if i < 0 else newest)) % rows)
        return indices[:batch]


class Runs(SamplingLaw):
    """Aligned runs: whole blocks of ``length`` consecutive rows, read as one piece of memory.

    Only blocks that are full of transitions and do not hold the write cursor are drawn, each with
    the same probability; transitions of another block wait until it is complete.

    Args:
        length: Rows in a block.
    """

    name = "runs"

    def __init__(self, length: int = 8) -> None:
        self.length = at_least("length", length, 1, MpeError)

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw whole blocks; the last one is cut where the batch is full."""
        first = np.arange(0, ring.rows - self.length + 1, self.length, dtype=np.int64)
        age = (first - ring.start) % ring.rows  # logical position of a block's first row
        first = first[age + self.length <= ring.size]
        if not len(first):
            raise MpeError(
                f"no block of {self.length} rows is full yet ({ring.size} transitions); "
                "store more or shorten the runs."
            )
        starts = first[rng.integers(0, len(first), -(-batch // self.length))]
        return (starts[:, None] + np.arange(self.length)).ravel()[:batch]


class Recent(SamplingLaw):
    """One of the newest rows with some probability, else any row: the dual buffer as a law.

    MAST (NeurIPS 2024) keeps a second, small buffer of the newest data and mixes both in a batch;
    over one ring the same is a law, without a second copy. Each slot of the batch is one of the
    newest ``R`` rows with probability ``q``, else any of the ``n`` stored ones, so a row has
    probability ``(1 - q) / n``, and the newest ``q / min(R, n)`` more.

    Args:
        newest: Rows ``R`` that count as new.
        share: Probability ``q`` with which a slot asks for one of them.
    """

    name = "recent"

    def __init__(self, newest: int = 3200, share: float = 0.5) -> None:
        self.newest = at_least("newest", newest, 1, MpeError)
        if not 0 <= share <= 1:
            raise MpeError(f"share={share} is no probability; expected a number from 0 to 1.")
        self.share = share

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw with replacement."""
        oldest = np.where(
            rng.random(batch) < self.share, max(0, ring.size - self.newest), 0
        )  # first logical position that each slot may hold
        return ring.physical(rng.integers(oldest, ring.size))


_NEIGHBORS = {head + Neighbor(1, edges).name: edges for edges in EDGES for head in ("", "shared-")}
_OTHERS: dict[str, type[SamplingLaw]] = {
    "uniform": Uniform,
    "runs": Runs,
    "recent": Recent,
    "shared": Uniform,
    "prioritised": Prioritised,
}
LAWS = (*_OTHERS, *_NEIGHBORS)
"""Names of all laws."""


def check_law(name: str, neighbors: int = NEIGHBORS) -> None:
    """Make sure that :func:`make_law` can make a law.

    Raises:
        MpeError: No such law, or it has no neighborhoods.
    """
    check_name("sampling law", name, LAWS, MpeError)
    at_least("neighbors", neighbors, 1, MpeError)
    if neighbors != NEIGHBORS and name not in _NEIGHBORS:
        raise MpeError(
            f"neighbors={neighbors} has no meaning for sampling law {name!r}; expected one of "
            f"{', '.join(_NEIGHBORS)}, or leave it out."
        )


def make_law(name: str, neighbors: int = NEIGHBORS) -> SamplingLaw:
    """Make a law by name.

    Args:
        name: One of :data:`LAWS`.
        neighbors: Neighbours on each side, for the laws that draw neighborhoods.

    Raises:
        MpeError: No such law, or it has no neighborhoods.
    """
    check_law(name, neighbors)
    law = Neighbor(neighbors, _NEIGHBORS[name]) if name in _NEIGHBORS else _OTHERS[name]()
    law.name, law.shared = name, name.startswith("shared")
    return law
