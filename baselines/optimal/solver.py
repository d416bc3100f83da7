"""Branch and bound over boxes of structures, best first, until nothing can be better."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from baselines.optimal.box_layout import LEAF
from baselines.optimal.boxes import split_boxes
from baselines.optimal.front import Front, Sets
from baselines.optimal.loop_orders import LoopOrders
from baselines.optimal.proof import Counts, ProofProgress
from baselines.optimal.structure_space import Boxes, StructureSpace
from baselines.optimal.tree import Tree
from cost_models import LowerBounds, Mapping
from maestro_env import Problem
from marl_common import FloatArray, IntArray

Stop = Literal["done", "timeout", "memory"]

ROUNDING = 1e-9
"""What two figures may differ by without one being the better; far above rounding."""
BATCH = 4096
FIRST_BATCH = 256
FIRST_STRUCTURES = 16
STRUCTURES = 512
"""Structures evaluated at a time: a few, whose value may rule out the others, and then all."""
MAPPINGS = 1024
"""Mappings evaluated at a time and thread, at most."""
SURE = 1 << 20
"""Roots that are looked at, however late it is: what a bound of a whole space usually takes."""
SAMPLED = 256
"""Roots whose bounds tell where those of all begin, about."""
BYTES_PER_BOX = 160
UNKNOWN = 4.0
"""How far above the first bound the optimum may be where no value is known."""


@dataclass
class Solver:
    """One proof.

    Args:
        problem: The problem; its counters are not used.
        bounds: Lower bounds of its objective.
        space: Its structures.
        gap: Relative gap to the bound at which to stop.
        deadline: Time to stop at, as `time.perf_counter` counts.
        max_memory: Bytes for boxes and tree.
        threads: Threads that share the boxes.
        tree: Records the splits, or None.
        on_step: Called between batches.
    """

    problem: Problem
    bounds: LowerBounds
    space: StructureSpace
    gap: float = 0.0
    deadline: float = np.inf
    max_memory: int = 1 << 40
    threads: int = 1
    tree: Tree | None = None
    on_step: Callable[[], None] = lambda: None
    counts: Counts = field(default_factory=Counts)
    value: float = np.inf
    mapping: Mapping | None = None

    def __post_init__(self) -> None:
        self._orders = LoopOrders(self.space)
        self._lock = threading.Condition()
        self._at_work: dict[int, float] = {}  # least bound of what each thread has taken
        self._lost = np.inf  # least bound of what was ruled out or, out of time, left aside
        # least bound of the roots that were not looked at yet
        self._unread = self.problem.bound or 0.0
        self._front = Front(0.0, 0.0)

    def _bounds_of_roots(self, which: IntArray, boxes: Boxes) -> FloatArray:
        self.bounds.threads = self.threads
        bounds = self.bounds.bounds(which, boxes)
        self.bounds.threads = 1  # the threads of a search share the boxes instead
        return bounds

    @property
    def hopeless(self) -> bool:
        """Whether the bounds of all roots say that no mapping is feasible."""
        bounds = (self._bounds_of_roots(*roots) for roots in self.space.roots())
        return not any(np.isfinite(part).any() for part in bounds)

    def take_part(self, roots: Iterator[tuple[IntArray, Boxes]]) -> None:
        """Search a part of the space for a good value; nothing is recorded."""
        tree, self.tree = self.tree, None
        self.run(roots)
        self.tree, self._lost = tree, np.inf

    @property
    def enough(self) -> float:
        """A bound from which on a box is of no interest."""
        return self.value / (1 + self.gap) * (1 - ROUNDING)

    @property
    def bound(self) -> float:
        """What no mapping goes below, as far as is proven."""
        with self._lock:
            least = min(self._front.least, self._lost, self._unread, *self._at_work.values())
        return self.value if least >= self.value * (1 - ROUNDING) else least

    def progress(self, seconds: float) -> ProofProgress:
        """How far the proof is after some processor time."""
        with self._lock:
            value, mapping = self.value, self.mapping
        boxes, left = self.counts.boxes, self._front.size
        return ProofProgress(value, self.bound, boxes, left, seconds, mapping)

    def look(self, actions: IntArray) -> None:
        """Evaluate mappings and remember the best."""
        for start in range(0, len(actions), MAPPINGS):
            found = self.problem.look(actions[start : start + MAPPINGS])
            row = int(np.argmin(found.values))
            with self._lock:
                self.counts.evaluated += len(found)
                if found.values[row] < self.value:
                    self.value = float(found.values[row])
                    self.mapping = found.mappings[row]

    def run(self, roots: Iterator[tuple[IntArray, Boxes]] | None = None) -> Stop:
        """Search until the optimum is proven up to the gap, or time or memory is used up.

        Args:
            roots: The boxes that hold what is searched; None for the whole space.
        """
        self._stop: Stop = "done"
        self._ended = False
        self._read(self.space.roots() if roots is None else roots)
        if roots is None and self._stop == "done":
            self._unread = np.inf
        with ThreadPoolExecutor(max(self.threads - 1, 1)) as pool:
            helpers = [pool.submit(self._work, False) for _ in range(self.threads - 1)]
            try:
                self._work(True)
            finally:
                self._ended = True
        for helper in helpers:
            helper.result()
        if self._stop == "done":
            self._lost = min(self._lost, self._front.least)
            self._front = Front(0.0, 0.0)
        return self._stop

    def _read(self, roots: Iterator[tuple[IntArray, Boxes]]) -> None:
        """Put the roots on the front, but for those that their bound rules out."""
        count = 0
        for which, boxes in roots:
            if count >= SURE and time.perf_counter() >= self.deadline:
                self._stop, self._ended = "timeout", True
                return
            sets = Sets(which, boxes, self._bounds_of_roots(which, boxes), which)
            if count == 0:
                others = self._bounds_of_roots(*self.space.some_roots(SAMPLED))
                low = float(min(sets.bounds.min(), others.min()))
                self._front = Front(low, self.value if np.isfinite(self.value) else UNKNOWN * low)
            count += len(sets)
            self.counts.boxes += len(sets)
            self._keep(sets, self._expand if self._full else self._push)
            self.on_step()

    def _work(self, reports: bool) -> None:
        """Take boxes from the front until there is nothing left to do.

        Args:
            reports: Whether this is the thread that calls `on_step`.
        """
        batch = FIRST_BATCH
        while (sets := self._next(batch)) is not None:
            try:
                self._expand(sets)
            except BaseException:
                self._ended = True
                raise
            finally:
                with self._lock:
                    del self._at_work[threading.get_ident()]
                    self._lock.notify_all()
            batch = min(2 * batch, BATCH)
            if reports:
                self.on_step()

    def _next(self, batch: int) -> Sets | None:
        """The boxes with the least bounds; None when the search is over."""
        with self._lock:
            while not self._ended:
                if self._front.size and self._front.least < self.enough:
                    if time.perf_counter() >= self.deadline:
                        self._stop, self._ended = "timeout", True
                    elif self.tree is not None and self.tree.nbytes > self.max_memory:
                        self._stop, self._ended = "memory", True
                    else:
                        sets = self._front.pop(batch)
                        self._at_work[threading.get_ident()] = float(sets.bounds.min())
                        return sets
                elif not self._at_work:
                    self._ended = True
                else:
                    self._lock.wait()
            self._lock.notify_all()
        return None

    def _push(self, sets: Sets) -> None:
        with self._lock:
            self._front.push(sets)
            self._lock.notify_all()

    @property
    def _full(self) -> bool:
        used = self._front.size * BYTES_PER_BOX
        return used + (0 if self.tree is None else self.tree.nbytes) > self.max_memory

    def _better(self, sets: Sets) -> Sets:
        """The boxes that may hold something better."""
        better = sets.bounds < self.enough
        if better.all():
            return sets
        with self._lock:
            self.counts.ruled_out += len(better) - int(better.sum())
            self._lost = min(self._lost, float(sets.bounds[~better].min()))
        return sets.take(better)

    def _keep(self, sets: Sets, push: Callable[[Sets], None]) -> None:
        sets = self._better(sets)
        if len(sets):
            push(sets)

    def _expand(self, sets: Sets) -> None:
        """Split boxes and hand on the halves; where memory is full, go on with them at once."""
        stack = [sets]
        while stack:
            sets = stack.pop()
            if len(sets) > BATCH:
                order = np.argsort(sets.bounds, kind="stable")
                stack.append(sets.take(order[BATCH:]))
                sets = sets.take(order[:BATCH])
            halves = self._halves(self._better(sets))
            late = time.perf_counter() >= self.deadline
            self._keep(halves, self._push if late or not self._full else stack.append)

    def _halves(self, sets: Sets) -> Sets:
        """Evaluate the boxes that are structures, and split the others."""
        children, splits = split_boxes(sets.boxes, self.space.tiles, self.bounds.sizes_priced)
        leaves = splits == LEAF
        if leaves.any():
            self._evaluate(sets.take(leaves))
            sets, splits = sets.take(~leaves), splits[~leaves]
        which = np.repeat(sets.which, 2)
        with self._lock:
            ids = np.repeat(sets.ids, 2) if self.tree is None else self.tree.add(sets.ids, splits)
            self.counts.boxes += len(children)
        bounds = self.bounds.bounds(which, children)
        # a half is part of the whole: its bound is no less
        return Sets(which, children, np.maximum(bounds, np.repeat(sets.bounds, 2)), ids)

    def _evaluate(self, sets: Sets) -> None:
        """Evaluate every loop order of structures, best first, until none can be better."""
        sets = sets.take(np.argsort(sets.bounds, kind="stable"))
        size = FIRST_STRUCTURES
        while len(sets):
            part, sets = sets.take(slice(0, size)), sets.take(slice(size, None))
            size = STRUCTURES
            for actions in self._orders.actions(part.which, part.boxes):
                if time.perf_counter() >= self.deadline:
                    self._push(Sets.joined([part, sets]))
                    return
                self.look(actions)
            with self._lock:
                self.counts.structures += len(part)
                if self.tree is not None:
                    self.tree.close(part.ids)
            sets = self._better(sets)
