"""Sampling laws by name: which transitions make a mini-batch."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from mpe_marl.errors import MpeError, at_least, unknown_name
from mpe_marl.replay.law import Float, SamplingLaw
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

    def inclusion(self, ring: Ring) -> Float:
        """1 / size for every stored row."""
        p = np.zeros(ring.rows)
        p[ring.physical(np.arange(ring.size))] = 1.0 / ring.size
        return p


class Neighbor(SamplingLaw):
    """Neighborhoods of random transitions, in the order they were written.

    For each random ``i`` the transitions ``i-n .. i+n`` without ``i`` itself, until the batch is
    full ("Towards Efficient Multi-Agent Learning Systems", Algorithm 1). Where a
    neighborhood leaves the buffer, the paper leaves those transitions out; so does ``skip``.
    ``clip``, the default and no version of the paper's, takes the end's transition instead.

    Args:
        n: Neighbours on each side.
        edges: ``"clip"`` or ``"skip"``.
    """

    def __init__(self, n: int = 3, edges: str = "clip") -> None:
        if edges not in ("clip", "skip"):
            raise unknown_name("edges", edges, ("clip", "skip"))
        self.n = at_least("n", n, 1)
        self.edges = edges
        self.name = "neighbor" if edges == "clip" else "neighbor-skip"
        self._offsets = np.concatenate([np.arange(-n, 0), np.arange(1, n + 1)]).astype(np.int64)

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw whole neighborhoods; the last one is cut where the batch is full."""
        if self.edges == "skip" and ring.size < 2:
            raise MpeError("neighbor sampling needs 2 stored transitions or more; has 1.")
        found = np.empty(0, dtype=np.int64)
        while len(found) < batch:
            centres = rng.integers(0, ring.size, -((len(found) - batch) // (2 * self.n)))
            near = (centres[:, None] + self._offsets).ravel()
            if self.edges == "clip":
                near = near.clip(0, ring.size - 1)
            else:
                near = near[(near >= 0) & (near < ring.size)]
            found = np.concatenate([found, near]) if len(found) else near
        return ring.physical(found[:batch])

    def draw_list(self, ring: Ring, batch: int, rng: random.Random) -> list[int]:
        """The paper's loop."""
        start, rows, newest, n = ring.start, ring.rows, ring.size - 1, self.n
        indices: list[int] = []
        while len(indices) < batch:
            centre = rng.randint(0, newest)
            for i in range(centre - n, centre + n + 1):
                if i == centre:
                    continue
                if 0 <= i <= newest:
                    indices.append((start + i) % rows)
                elif self.edges == "clip":
                    indices.append((start + (0 if i < 0 else newest)) % rows)
        return indices[:batch]

    def inclusion(self, ring: Ring) -> Float:
        """Counts of (centre, offset) pairs that give each row."""
        counts, logical = np.zeros(ring.size), np.arange(ring.size)
        for offset in self._offsets:
            near = logical + offset
            if self.edges == "clip":
                near = near.clip(0, ring.size - 1)
            else:
                near = near[(near >= 0) & (near < ring.size)]
            counts += np.bincount(near, minlength=ring.size)
        p = np.zeros(ring.rows)
        p[ring.physical(logical)] = counts / counts.sum()
        return p


class Runs(SamplingLaw):
    """Aligned runs: whole blocks of ``length`` consecutive rows, read as one piece of memory.

    Only blocks that are full of transitions and do not hold the write cursor are drawn, each with
    the same probability; transitions of another block wait until it is complete.

    Args:
        length: Rows in a block.
    """

    name = "runs"

    def __init__(self, length: int = 8) -> None:
        self.length = at_least("length", length, 1)

    def _blocks(self, ring: Ring) -> Rows:
        """First rows of the blocks that may be drawn."""
        starts = np.arange(0, ring.rows - self.length + 1, self.length, dtype=np.int64)
        age = (starts - ring.start) % ring.rows  # logical position of a block's first row
        whole = age + self.length <= ring.size
        if not whole.any():
            raise MpeError(
                f"no block of {self.length} rows is full yet ({ring.size} transitions); "
                "store more or shorten the runs."
            )
        return starts[whole]

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw whole blocks; the last one is cut where the batch is full."""
        blocks = self._blocks(ring)
        count = -(-batch // self.length)
        starts = blocks[rng.integers(0, len(blocks), count)]
        return (starts[:, None] + np.arange(self.length)).ravel()[:batch]

    def inclusion(self, ring: Ring) -> Float:
        """The same for every row of every full block."""
        rows = (self._blocks(ring)[:, None] + np.arange(self.length)).ravel()
        p = np.zeros(ring.rows)
        p[rows] = 1.0 / len(rows)
        return p


def share(law: SamplingLaw, name: str) -> SamplingLaw:
    """Make every trainer of an update use one draw of ``law``, which gets a new name."""
    law.shared, law.name = True, name
    return law


LAWS: dict[str, Callable[[], SamplingLaw]] = {
    "uniform": Uniform,
    "neighbor": Neighbor,
    "neighbor-skip": lambda: Neighbor(edges="skip"),
    "runs": Runs,
    "shared": lambda: share(Uniform(), "shared"),
    "shared-neighbor": lambda: share(Neighbor(), "shared-neighbor"),
    "prioritised": Prioritised,
}


def make_law(name: str) -> SamplingLaw:
    """Make a law by name, with the defaults of the papers.

    Raises:
        MpeError: No such law.
    """
    if name not in LAWS:
        raise unknown_name("sampling law", name, LAWS)
    return LAWS[name]()
