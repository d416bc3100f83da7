"""An accelerator as a chain of levels from DRAM inwards, of any depth."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from cost_models.accelerator import (
    UNLIMITED_BW,
    AcceleratorError,
    check_buffer,
    check_chip,
    check_memory,
    is_whole,
)
from cost_models.buffers import TENSORS, Buffer, Chip, Level, Limits, Widths
from layers import DIMS
from marl_common import read_yaml

MOST_MEMORIES, MOST_FANOUTS, MOST_AXES = 5, 2, 3
"""Levels that hold something, besides DRAM; levels that hold nothing; axes of one fan-out."""
MOST_MACS = 1 << 60
"""MACs of all fan-outs together, so that a chip of two levels has a chain."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
RESERVED = ("mac", "macs")


class Axis(NamedTuple):
    """An axis of a fan-out.

    Args:
        units: Units along it.
        dims: Dimensions that a mapping may spread over it.
        multicast: Whether its units that want the same element share one read.
        reduce: Whether sums of its units are added on their way out.
    """

    units: int
    dims: str = DIMS
    multicast: bool = True
    reduce: bool = True


@dataclass(frozen=True)
class Fanout:
    """How many units of the next level an instance of this one feeds.

    Args:
        axes: Its axes; the units are their product.
        any: Whether it is a number of MACs that take any work, each with operands of its own; then
            there is one axis, and no mapping says anything of it.
    """

    axes: tuple[Axis, ...] = ()
    any: bool = False

    @cached_property
    def units(self) -> int:
        """Units of the next level below one instance."""
        return math.prod(axis.units for axis in self.axes)


@dataclass(frozen=True, repr=False)
class ChainLevel(Level):
    """A level of a chain: a memory, or a fan-out alone where it holds nothing.

    Args:
        name: What it is called.
        shared_bytes: Capacity that the tensors without one of their own share [B]; None: any.
        shared_bw: Whether `read_bw` is all there is for both directions together.
        fanout: What it feeds.
    """

    name: str = field(kw_only=True)
    shared_bytes: int | None = None
    shared_bw: bool = False
    fanout: Fanout = Fanout()

    @cached_property
    def buffer(self) -> Buffer:
        """Its capacities and ports in bits."""
        return self.in_bits(self.name, self.shared_bytes, self.read_bw, self.write_bw)

    @property
    def is_memory(self) -> bool:
        """Whether it holds anything."""
        return any(self.holds)


@dataclass(frozen=True, repr=False)
class Chain(Chip):
    """An accelerator of any depth; `cost_models.buffers.Chip` has what else is known.

    Args:
        levels: The levels from DRAM inwards, DRAM first; one to five others that hold something,
            and up to two that hold nothing. The fan-out of the last one is of MACs.

    Raises:
        AcceleratorError: A field is not what it must be, or contradicts another one.
    """

    levels: tuple[ChainLevel, ...]

    def __post_init__(self) -> None:
        check_chip(self)
        _check_levels(self.levels, self.widths)

    @classmethod
    def load(cls, path: str | Path) -> Chain:
        """The chip of a YAML file whose `levels` are a list.

        Raises:
            AcceleratorError: The file cannot be read, or a field is wrong; names file and field.
        """
        return cls.from_dict(read_yaml(Path(path), AcceleratorError), str(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "accelerator") -> Chain:
        """The chip that :meth:`to_dict`, or a file, describes.

        Raises:
            AcceleratorError: A field is unknown, missing or wrong; names its path.
        """
        from cost_models.chain.file import from_fields

        return from_fields(data, where)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, as YAML or JSON hold them."""
        from cost_models.chain.file import to_fields

        return to_fields(self)

    @property
    def inner(self) -> tuple[ChainLevel, ...]:
        """The levels that a mapping says something of: all but DRAM."""
        return self.levels[1:]

    @property
    def memories(self) -> tuple[ChainLevel, ...]:
        """The levels that hold something, without DRAM."""
        return tuple(level for level in self.inner if level.is_memory)

    @property
    def lanes(self) -> int:
        """MACs below an instance of the last level that take any work; 1 where axes bind them."""
        return self.levels[-1].fanout.units if self.levels[-1].fanout.any else 1

    @cached_property
    def known(self) -> dict[str, Any]:
        """Prices that were worked out once, by level."""
        return {}

    def instances(self) -> Iterator[tuple[ChainLevel, int]]:
        """Each level with the number of its instances, DRAM first."""
        count = 1
        for level in self.levels:
            yield level, count
            count *= level.fanout.units

    @property
    def peak_macs_per_cycle(self) -> int:
        """MACs the whole chip can do in a cycle."""
        return math.prod(level.fanout.units for level in self.levels)

    def position(self, name: str) -> int:
        """Place of a level in the chain, DRAM being 0.

        Raises:
            AcceleratorError: There is none of that name.
        """
        names = [level.name for level in self.levels]
        if name not in names:
            raise AcceleratorError(f"level {name!r}: expected one of {', '.join(names)}")
        return names.index(name)


def _check_levels(levels: tuple[ChainLevel, ...], widths: Widths) -> None:
    where = "accelerator.levels"
    names = [level.name for level in levels]
    if not levels or names[0] != "DRAM":
        got = f"{names[0]!r} first" if names else "none"
        raise AcceleratorError(
            f"{where}: got {got}, expected a list that begins with DRAM; put it first"
        )
    for place, level in enumerate(levels):
        _check_name(f"{where}[{place}].name", level.name, names[:place])
        _check_fanout(f"{where}.{level.name}.fanout", level, place, len(levels))
    for level in levels:
        path = f"levels.{level.name}"
        check_memory(path, level)
        _check_shared(path, level)
        if level is levels[0]:
            continue
        if level.is_memory:
            check_buffer(level.buffer, widths, has_short=False)
        else:
            _check_bare(f"{where}.{level.name}", level)
    memories = sum(level.is_memory for level in levels[1:])
    if not 1 <= memories <= MOST_MEMORIES:
        raise AcceleratorError(
            f"{where}: {memories} levels inside DRAM hold something, expected 1 to {MOST_MEMORIES}"
        )
    if len(levels) - 1 - memories > MOST_FANOUTS:
        raise AcceleratorError(
            f"{where}: {len(levels) - 1 - memories} levels hold nothing, expected at most "
            f"{MOST_FANOUTS}; a fan-out may have up to {MOST_AXES} axes instead"
        )
    units = math.prod(level.fanout.units for level in levels)
    if units > MOST_MACS:
        raise AcceleratorError(
            f"{where}: all fan-outs together make {units} MACs, expected at most {MOST_MACS}"
        )
    for place, tensor in enumerate(TENSORS):
        if not any(level.holds[place] for level in levels[1:]):
            raise AcceleratorError(
                f"{where}: {tensor} is kept nowhere between DRAM and the MACs; expected it in the "
                "holds of a level; add it there"
            )


def _check_name(where: str, name: Any, before: list[str]) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        shown = repr(name) if len(str(name)) <= 40 else f"{str(name)[:40]!r}... ({len(name)} long)"
        raise AcceleratorError(
            f"{where}: got {shown}, expected a letter, then up to 31 letters, digits, _ and -"
        )
    if name.lower() in RESERVED:
        raise AcceleratorError(f"{where}: got {name!r}, which means the MACs; take another name")
    if name.lower() in (other.lower() for other in before):
        raise AcceleratorError(f"{where}: got {name!r} a second time; expected names that differ")


def _check_fanout(where: str, level: ChainLevel, place: int, levels: int) -> None:
    fanout = level.fanout
    if place == 0 and fanout.axes:
        raise AcceleratorError(
            f"{where}: got {fanout.units} units, expected none: DRAM feeds one level; add a level "
            "with holds: [] and this fan-out below it"
        )
    if fanout.any and place < levels - 1:
        raise AcceleratorError(f"{where}: lanes that take any work stand below the last level")
    if len(fanout.axes) > MOST_AXES:
        raise AcceleratorError(
            f"{where}.axes: got {len(fanout.axes)} axes, expected at most {MOST_AXES}"
        )
    for axis in fanout.axes:
        if not is_whole(axis.units) or not 1 <= axis.units <= UNLIMITED_BW:
            raise AcceleratorError(
                f"{where}: got {axis.units!r} units, expected a whole number of 1 to {UNLIMITED_BW}"
            )
        if not axis.dims or set(axis.dims) - set(DIMS) or len(set(axis.dims)) < len(axis.dims):
            raise AcceleratorError(
                f"{where}.dims: got {axis.dims!r}, expected some of {DIMS}, each once"
            )
    if any(level.network) and not fanout.axes:
        raise AcceleratorError(
            f"{where}.network: got {level.network}, expected nothing: the level feeds one unit; "
            "leave it out"
        )


def _check_shared(where: str, level: ChainLevel) -> None:
    shared = level.shared_bytes
    if shared is not None and (not is_whole(shared) or shared <= 0):
        raise AcceleratorError(
            f"accelerator.{where}.bytes: got {shared!r}, expected a whole number of at least 1"
        )
    if level.shared_bw and (level.read_bw is None or level.write_bw is not None):
        raise AcceleratorError(
            f"accelerator.{where}.shared_bw: both directions share read_bw; expected read_bw and "
            "no write_bw"
        )


def _check_bare(where: str, level: ChainLevel) -> None:
    """A level that holds nothing is a fan-out alone: no capacity, price or port."""
    own: Limits = level.tensor_bytes
    said = {"bytes": level.shared_bytes, "read_bw": level.read_bw, "write_bw": level.write_bw}
    said |= {f"bytes.{t}": bits for t, bits in zip(TENSORS, own, strict=True)}
    said |= {n: getattr(level, n) for n in ("read_pj", "write_pj", "leakage_uw", "area_um2")}
    said["shared_bw"] = level.shared_bw or None
    for name, value in said.items():
        if value is not None:
            raise AcceleratorError(
                f"{where}.{name}: got {value!r}, but the level holds nothing (holds: []): it is a "
                "fan-out alone; leave it out"
            )
    if not level.fanout.axes:
        raise AcceleratorError(
            f"{where}: holds nothing and fans out to nothing; expected a fanout, or holds"
        )
