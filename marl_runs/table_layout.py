"""Which columns of a table a terminal has room for, and how wide each is: no figure is ever cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GAP = 2
"""Blank columns between two columns of a table."""

ALWAYS = 100
"""`keep` of the columns that never leave: names and ids."""


@dataclass(frozen=True)
class Extent:
    """How much room one column of a table takes.

    Args:
        cell: Width of its widest cell.
        head: Width of its header in one line.
        word: Width of the header's longest word: the header may take several lines.
        keep: Columns of the least `keep` leave first.
        fold: Least width of a text that may take several lines; None for one that may not.
        fold_keep: It folds before columns of this `keep` leave; by default before it leaves itself.
    """

    cell: int
    head: int
    word: int
    keep: int
    fold: int | None = None
    fold_keep: int | None = None

    @property
    def full(self) -> int:
        """Width in which every cell and the header take one line."""
        return max(self.cell, self.head)

    @property
    def tight(self) -> int:
        """Width in which every cell takes one line, and the header perhaps several."""
        return max(self.cell, self.word)

    @property
    def least(self) -> int:
        """The least width there is."""
        folded = self.tight if self.fold is None else max(min(self.fold, self.cell), self.word)
        return min(folded, self.tight)


@dataclass(frozen=True)
class TableLayout:
    """Some columns of a table and their widths.

    Args:
        columns: Numbers of the columns that stay, from left to right.
        widths: Width of each.
    """

    columns: tuple[int, ...]
    widths: tuple[int, ...]


def fit(extents: Sequence[Extent], room: int) -> TableLayout:
    """Choose the columns of a table for a terminal.

    Headers take several lines first. Then column after column, from the least `keep` on, texts
    fold and columns leave, until the rest fits. Columns that must stay are never cut: where even
    they have no room, the lines grow longer than it.

    Args:
        extents: The table's columns.
        room: Columns of the terminal.
    """
    widths = {place: extent.full for place, extent in enumerate(extents)}
    if _total(widths.values()) > room:
        widths = {place: extent.tight for place, extent in enumerate(extents)}
    gone: list[int] = []
    for place, leaves in _steps(extents):
        over = _total(widths.values()) - room
        if over <= 0:
            break
        if leaves:
            del widths[place]
            gone.append(place)
        else:
            widths[place] = max(extents[place].least, widths[place] - over)
    for place in reversed(gone):
        if _total([*widths.values(), extents[place].tight]) <= room:
            widths[place] = extents[place].tight
    _widen(widths, extents, room)
    columns = tuple(sorted(widths))
    return TableLayout(columns, tuple(widths[place] for place in columns))


def _steps(extents: Sequence[Extent]) -> list[tuple[int, bool]]:
    """In which order columns fold (False) and leave (True)."""
    steps = []
    for place, extent in enumerate(extents):
        if extent.fold is not None:
            folds = extent.keep if extent.fold_keep is None else extent.fold_keep
            steps.append((folds, False, -place))
        if extent.keep < ALWAYS:
            steps.append((extent.keep, True, -place))
    return [(-place, leaves) for _, leaves, place in sorted(steps)]


def split(extents: Sequence[Extent], room: int) -> list[TableLayout]:
    """Share all columns out among tables that stand below each other.

    Each begins with the first column, which names the rows, so that nothing is left out.

    Args:
        extents: The table's columns; the first one may fold.
        room: Columns of the terminal.
    """
    parts: list[list[int]] = [[]]
    for place in range(1, len(extents)):
        widths = [extents[0].tight, *(extents[other].tight for other in (*parts[-1], place))]
        if parts[-1] and _total(widths) > room:
            parts.append([])
        parts[-1].append(place)
    layouts = []
    for part in parts:
        chosen = [0, *part]
        widths_of = {place: extents[place].tight for place in chosen}
        over = _total(widths_of.values()) - room
        if over > 0:
            widths_of[0] = max(extents[0].least, widths_of[0] - over)
        _widen(widths_of, extents, room)
        layouts.append(TableLayout(tuple(chosen), tuple(widths_of[place] for place in chosen)))
    return layouts


def _widen(widths: dict[int, int], extents: Sequence[Extent], room: int) -> None:
    """Give what room is left back: to folded texts, then to headers of several lines."""
    order = sorted(widths, key=lambda place: -extents[place].keep)
    wishes = [(place, extents[place].tight) for place in order]
    wishes += [(place, extents[place].full) for place in order]
    for place, wish in wishes:
        spare = room - _total(widths.values())
        if spare > 0:
            widths[place] += max(0, min(spare, wish - widths[place]))


def _total(widths: Iterable[int]) -> int:
    """Width of a table of these columns."""
    widths = list(widths)
    return sum(widths) + GAP * (len(widths) - 1)
