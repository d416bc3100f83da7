"""The mapping of one layer on a chain: tiles, orders, fan-outs and what is kept, by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cost_models.chain.chip import Chain, ChainLevel
from cost_models.infeasible import MappingError
from cost_models.lowering import REPEATED
from cost_models.mapping import check_dim, checked_tiles, positive, whole_order
from layers import TENSORS, Layer
from marl_common import suggest

if TYPE_CHECKING:
    from cost_models.chain.loops import Loop

VERSION = 1
"""Of the format that :meth:`ChainMapping.to_dict` writes."""
MOST_ENTRIES = 3
"""Entries in a row in which one memory may stand."""
FIELDS = ("level", "tiles", "order", "parallel", "keeps")


class Spread(NamedTuple):
    """A dimension over an axis of a level's fan-out.

    Args:
        dim: The dimension whose tiles the units of the next level get side by side.
        units: How many of the axis's units it takes; None takes all that the axis has left.
        axis: Which axis of the fan-out, from 0.
    """

    dim: str
    units: int | None = None
    axis: int = 0


@dataclass(frozen=True)
class Entry:
    """What a mapping says of a level.

    Args:
        level: The level's name.
        tiles: The tile of one instance. A dimension that is left out takes the tile around it,
            shared evenly by the units that are spread along it there.
        order: Order of the loops that bring its tiles, outermost first: a permutation of
            ``KCYXRSNG``, of which N and G may be left out: they are then outermost.
        parallel: How its fan-out spreads the tiles of the next level.
        keeps: The tensors that it keeps, of those that the chip's level holds; None: all of them.
    """

    level: str
    tiles: dict[str, int] = field(default_factory=dict)
    order: str = "KCYXRS"
    parallel: tuple[Spread, ...] = ()
    keeps: frozenset[str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The entry as a file has it; what is left out has its default."""
        data: dict[str, Any] = {"level": self.level, "tiles": dict(self.tiles)}
        data["order"] = self.order.removeprefix(REPEATED)
        if self.parallel:
            data["parallel"] = [
                {name: value for name, value in spread._asdict().items() if value is not None}
                for spread in self.parallel
            ]
        if self.keeps is not None:
            data["keeps"] = [tensor for tensor in TENSORS if tensor in self.keeps]
        return data


@dataclass(frozen=True)
class ChainMapping:
    """A mapping of any depth: an entry for each level of the chip inside DRAM, outermost first.

    A memory may stand as up to three entries in a row, each with its own tile, order and tensors;
    the fan-out is then the last one's.

    Args:
        entries: The entries.

    Raises:
        MappingError: An entry is malformed by itself; :meth:`resolved` checks it against a chip.
    """

    entries: tuple[Entry, ...]

    @property
    def has_directives(self) -> bool:
        """Whether MAESTRO's directives have words for it: they know two levels alone."""
        return False

    def __post_init__(self) -> None:
        checked = (_checked(f"mapping.levels[{i}]", item) for i, item in enumerate(self.entries))
        object.__setattr__(self, "entries", tuple(checked))

    @classmethod
    def from_dict(cls, data: MappingABC[str, Any]) -> ChainMapping:
        """Read :meth:`to_dict`'s form, as YAML or JSON hold it.

        Raises:
            MappingError: A field is unknown, missing or wrong, or the version is not known.
        """
        if not isinstance(data, MappingABC):
            raise MappingError(f"mapping: got {type(data).__name__}, expected version and levels")
        _check_names("mapping", data, ("version", "levels"), ("levels",))
        version = data.get("version", VERSION)
        if isinstance(version, bool) or version != VERSION:
            raise MappingError(
                f"mapping.version: got {version!r}, expected {VERSION}; a later version wrote it, "
                "or another program"
            )
        levels = data["levels"]
        if not isinstance(levels, list) or not levels:
            raise MappingError(f"mapping.levels: got {levels!r}, expected a list of entries")
        return cls(tuple(_entry(f"mapping.levels[{i}]", item) for i, item in enumerate(levels)))

    def to_dict(self) -> dict[str, Any]:
        """The mapping as plain values."""
        return {"version": VERSION, "levels": [entry.to_dict() for entry in self.entries]}

    def loops(self, layer: Layer, chip: Chain | None = None) -> list[Loop]:
        """The loop nest as rows, outermost first; see :func:`cost_models.chain.loops.loops_of`.

        Args:
            layer: The layer.
            chip: The chip; needed where the mapping leaves units of a fan-out out.

        Raises:
            MappingError: Units are left out and there is no chip, or it is another chip's mapping.
        """
        from cost_models.chain.loops import loops_of

        entries = self.entries
        if chip is not None:
            entries = tuple(entry for entry, _, _ in self.resolved(chip))
        elif any(spread.units is None for entry in entries for spread in entry.parallel):
            raise MappingError("mapping.levels: parallel leaves units out; give loops() the chip")
        return loops_of(layer.extents, entries)

    def resolved(self, chip: Chain) -> tuple[tuple[Entry, ChainLevel, bool], ...]:
        """The entries with their levels, units and kept tensors filled in.

        Args:
            chip: The chip.

        Returns:
            Each entry, its level, and whether it is the same memory as the entry before it.

        Raises:
            MappingError: Entries do not follow the chip's levels, use more units than an axis has,
                or keep what a level does not hold.
        """
        _check_levels(self.entries, chip)
        found = []
        last = len(self.entries) - 1
        for place, entry in enumerate(self.entries):
            level = chip.levels[chip.position(entry.level)]
            where = f"mapping.levels[{place}]"
            before = place > 0 and self.entries[place - 1].level == entry.level
            more = place < last and self.entries[place + 1].level == entry.level
            parallel = _spreads(where, entry, level, more)
            keeps = _kept(where, entry, level, repeated=before or more)
            full = Entry(entry.level, entry.tiles, entry.order, parallel, keeps)
            found.append((full, level, before))
        _check_kept(found)
        return tuple(found)


def _check_levels(entries: tuple[Entry, ...], chip: Chain) -> None:
    names = [level.name for level in chip.inner]
    runs: list[str] = []
    for place, entry in enumerate(entries):
        if entry.level not in names:
            raise MappingError(
                f"mapping.levels[{place}].level: got {entry.level!r}, expected one of the chip's "
                f"{', '.join(names)}.{suggest(entry.level, names)}"
            )
        if not runs or runs[-1] != entry.level:
            runs.append(entry.level)
    if runs != names:
        raise MappingError(
            f"mapping.levels: got {', '.join(runs)}, expected an entry for each level of the chip "
            f"inside DRAM, in its order: {', '.join(names)}"
        )
    for name, entries_of in Counter(entry.level for entry in entries).items():
        level = chip.levels[chip.position(name)]
        most = MOST_ENTRIES if level.is_memory else 1
        if entries_of > most:
            raise MappingError(
                f"mapping.levels: {name} stands {entries_of} times, expected at most {most}"
            )


def _spreads(where: str, entry: Entry, level: ChainLevel, more: bool) -> tuple[Spread, ...]:
    axes = level.fanout.axes
    if entry.parallel and (more or level.fanout.any or not axes):
        why = (
            "the next entry is the same memory: its fan-out is said there"
            if more
            else "its MACs take any work"
            if level.fanout.any
            else "the level feeds one unit"
        )
        raise MappingError(f"{where}.parallel: expected none, as {why}")
    left = {number: axis.units for number, axis in enumerate(axes)}
    found = []
    for place, spread in enumerate(entry.parallel):
        at = f"{where}.parallel[{place}]"
        if spread.axis not in left:
            raise MappingError(
                f"{at}.axis: got {spread.axis}, expected 0 to {len(axes) - 1} of {level.name}"
            )
        axis = axes[spread.axis]
        if spread.dim not in axis.dims:
            raise MappingError(
                f"{at}.dim: got {spread.dim!r}, expected one of {', '.join(axis.dims)}, which the "
                f"chip allows on axis {spread.axis} of {level.name}"
            )
        units = left[spread.axis] if spread.units is None else spread.units
        if units > left[spread.axis]:
            raise MappingError(
                f"{at}.units: got {units}, expected at most {left[spread.axis]}: axis "
                f"{spread.axis} of {level.name} has {axis.units}"
            )
        left[spread.axis] //= units
        found.append(Spread(spread.dim, units, spread.axis))
    for spread in found:
        same = {
            (axes[other.axis].multicast, axes[other.axis].reduce)
            for other in found
            if other.dim == spread.dim
        }
        if len(same) > 1:
            raise MappingError(
                f"{where}.parallel: {spread.dim} is on axes of {level.name} that differ in "
                "multicast or reduce; expected one of them, or axes alike"
            )
    return tuple(found)


def _kept(where: str, entry: Entry, level: ChainLevel, repeated: bool) -> frozenset[str]:
    held = frozenset(t for t, holds in zip(TENSORS, level.holds, strict=True) if holds)
    if entry.keeps is None:
        if repeated and level.is_memory:
            raise MappingError(
                f"{where}.keeps missing; {level.name} stands more than once, so each entry says "
                "what it keeps"
            )
        return held
    if entry.keeps - held:
        raise MappingError(
            f"{where}.keeps: got {', '.join(sorted(entry.keeps))}, but {level.name} holds "
            f"{', '.join(sorted(held)) or 'nothing'}; leave {sorted(entry.keeps - held)[0]} out"
        )
    return entry.keeps


def _check_kept(found: list[tuple[Entry, ChainLevel, bool]]) -> None:
    for tensor in TENSORS:
        keepers = [entry.level for entry, _, _ in found if tensor in (entry.keeps or ())]
        if not keepers:
            raise MappingError(
                f"mapping.levels: {tensor} is kept nowhere; expected it in the keeps of a level"
            )
        twice = [name for name, times in Counter(keepers).items() if times > 1]
        if twice:
            raise MappingError(
                f"mapping.levels: {twice[0]} keeps {tensor} in two entries; expected one of them"
            )


def _entry(where: str, data: Any) -> Entry:
    if not isinstance(data, MappingABC):
        raise MappingError(f"{where}: got {data!r}, expected {', '.join(FIELDS)}")
    _check_names(where, data, FIELDS, ("level",))
    fields = dict(data)
    parallel = fields.get("parallel", [])
    if not isinstance(parallel, list):
        raise MappingError(f"{where}.parallel: got {parallel!r}, expected a list of dim and units")
    spreads = []
    for place, item in enumerate(parallel):
        at = f"{where}.parallel[{place}]"
        if not isinstance(item, MappingABC):
            raise MappingError(f"{at}: got {item!r}, expected {', '.join(Spread._fields)}")
        _check_names(at, item, Spread._fields, ("dim",))
        spreads.append(Spread(**item))
    fields["parallel"] = tuple(spreads)
    return Entry(**fields)


def _check_names(
    where: str, data: MappingABC[str, Any], known: tuple[str, ...], needed: tuple[str, ...]
) -> None:
    for name in data:
        if name not in known:
            raise MappingError(
                f"{where}: unknown field {name!r}; expected {', '.join(known)}."
                f"{suggest(str(name), known)}"
            )
    for name in needed:
        if name not in data:
            raise MappingError(f"{where}.{name} missing; expected {', '.join(known)}")


def _checked(where: str, entry: Entry) -> Entry:
    """An entry whose values are of the right kind, with its whole order."""
    if not isinstance(entry.level, str):
        raise MappingError(f"{where}.level: got {entry.level!r}, expected a level's name")
    tiles = checked_tiles(f"{where}.tiles", entry.tiles)
    whole = whole_order(f"{where}.order", entry.order)
    spreads = tuple(
        _checked_spread(f"{where}.parallel[{place}]", spread)
        for place, spread in enumerate(entry.parallel)
    )
    keeps = entry.keeps
    if keeps is not None:
        if isinstance(keeps, str) or not set(keeps) <= set(TENSORS):
            raise MappingError(
                f"{where}.keeps: got {keeps!r}, expected some of {', '.join(TENSORS)}"
            )
        keeps = frozenset(keeps)
    return Entry(entry.level, tiles, whole, spreads, keeps)


def _checked_spread(where: str, spread: Spread) -> Spread:
    check_dim(f"{where}.dim", spread.dim)
    units = None if spread.units is None else positive(f"{where}.units", spread.units)
    axis = spread.axis
    if isinstance(axis, bool) or not isinstance(axis, int) or axis < 0:
        raise MappingError(f"{where}.axis: got {axis!r}, expected a whole number from 0")
    return Spread(spread.dim, units, axis)
