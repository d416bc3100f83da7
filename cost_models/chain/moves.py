"""What a nest reads and writes at each of its entries, from its counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cost_models.exact.nest import FILTER, INPUT, OUTPUT, Nest
from layers import TENSORS

At = Callable[..., Any]
"""A count by its name and places: ``at("read", tensor, level, keeper)``."""


class EntryMoves(NamedTuple):
    """Elements that go in or out, by what moves: the order of `cost_models.prices.ByPart`."""

    input: Any = 0
    filter: Any = 0
    output: Any = 0
    psum: Any = 0


class NestStructure:
    """Which entries of a nest keep what, and who takes it from where.

    Args:
        nest: The nest; entry 0 is DRAM, the MACs come after the last.
    """

    def __init__(self, nest: Nest) -> None:
        self.keeps: Sequence[tuple[bool, ...]] = (
            (True,) * len(TENSORS),
            *(level.keeps for level in nest.levels),
            (True,) * len(TENSORS),
        )
        self.macs = len(nest.levels) + 1
        self.innermost = max(m for m, level in enumerate(nest.levels, 1) if level.port is not None)
        self.serving = self.innermost
        """The first entry of the memory next to the MACs."""
        while nest.levels[self.serving - 1].joined:
            self.serving -= 1
        self.whole_tiles = nest.rules.whole_tiles
        self.resident = nest.resident

    def keeper(self, tensor: int, level: int) -> int:
        """The nearest entry outside that keeps a tensor."""
        return max(q for q in range(level) if self.keeps[q][tensor])

    def taker(self, tensor: int, keeper: int) -> int:
        """The nearest entry inside that keeps a tensor, or the MACs."""
        return min(m for m in range(keeper + 1, self.macs + 1) if self.keeps[m][tensor])

    def reads(self, at: At, q: int) -> EntryMoves:
        """Elements read from all instances of an entry."""
        inputs, filters = (self._served(at, tensor, q) for tensor in (INPUT, FILTER))
        if not self.keeps[q][OUTPUT] or self._at_home(OUTPUT, q):
            return EntryMoves(inputs, filters)
        m = self.taker(OUTPUT, q)
        back = at("refill", m, q) + at("add", m)
        given, again = self._outside(at, q)
        return self._sums(q, EntryMoves(inputs, filters, given - again, back + again))

    def writes(self, at: At, q: int) -> EntryMoves:
        """Elements written into all instances of an entry."""
        inputs, filters = (
            0 if q == 0 or self._at_home(tensor, q - 1) else at("fill", tensor, q)
            for tensor in (INPUT, FILTER)
        )
        if not self.keeps[q][OUTPUT] or self._at_home(OUTPUT, q):
            return EntryMoves(inputs, filters)
        m = self.taker(OUTPUT, q)
        taken = at("tiles", OUTPUT, m) if self.whole_tiles and q else at("write", m, q)
        back = at("refill", m, q) + at("add", m)
        again = self._outside(at, q)[1]
        return self._sums(q, EntryMoves(inputs, filters, taken - back, back + again))

    def _at_home(self, tensor: int, q: int) -> bool:
        """Whether a tensor does not leave an entry, DRAM, since it is whole in the next one."""
        return q == 0 and self.resident[tensor]

    def _served(self, at: At, tensor: int, q: int) -> Any:
        if not self.keeps[q][tensor] or self._at_home(tensor, q):
            return 0
        m = self.taker(tensor, q)
        if self.whole_tiles and (q or m > 1):
            return at("tiles", tensor, m)
        return at("read", tensor, m, q)

    def _outside(self, at: At, q: int) -> tuple[Any, Any]:
        """Outputs that an entry gave to its keeper, and those of them that it got back."""
        if q == 0 or self._at_home(OUTPUT, q - 1):
            return 0, 0
        return at("drain", q), at("refill", q, self.keeper(OUTPUT, q))

    def _sums(self, q: int, moves: EntryMoves) -> EntryMoves:
        """The memory next to the MACs holds partial sums alone."""
        if not self.serving <= q <= self.innermost:
            return moves
        return moves._replace(output=0, psum=moves.output + moves.psum)

    def delivered(self, at: At, m: int) -> EntryMoves:
        """Elements that instances of an entry, or MACs, receive, and that they give up."""
        found = [
            at("fill", tensor, m)
            if self.keeps[m][tensor]
            else at("read", tensor, self.taker(tensor, m), m)
            for tensor in (INPUT, FILTER)
        ]
        if self.keeps[m][OUTPUT]:
            sums = at("drain", m) + at("refill", m, self.keeper(OUTPUT, m))
        else:
            inside = self.taker(OUTPUT, m)
            sums = at("write", inside, m) + at("refill", inside, m)
        inputs, filters = found
        return EntryMoves(inputs, filters, psum=sums)
