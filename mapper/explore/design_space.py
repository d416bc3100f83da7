"""The designs of a sweep: every combination of the given sizes, or some of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cost_models import (
    SHORT_PATHS,
    Accelerator,
    AcceleratorError,
    Chain,
    with_values,
    with_wires,
)
from mapper.explore.design_ranges import ExploreError, Value

FIELDS = {
    "num_pes": "--pes",
    "l1_bytes": "--l1",
    "l2_bytes": "--l2",
    "noc_bw": "--noc",
    "offchip_bw": "--offchip",
    "simd_lanes": "--lanes",
}
"""Fields of a chip that a sweep sets, and their options."""


MOST_DESIGNS = 10**15
"""Of one space, drawn by chance or by NSGA-II."""
MOST_TRIED = 1_000_000
"""Of one exploration, as `--designs`."""


class SweptChip(NamedTuple):
    """A design: its chip, and what was set of it.

    Args:
        chip: The chip; named by its fields where those are not of `FIELDS` alone.
        fields: Each swept field, and its value.
    """

    chip: Accelerator | Chain
    fields: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class DesignSpace:
    """All combinations of the values of some fields; the last field changes first.

    Args:
        base: What the fields that are not swept are taken from.
        values: Values by field: a name of `FIELDS`, or a path as ``--set`` takes it.
        wires: Whether wires and ports cost what they do at a design's node.
    """

    base: Accelerator | Chain
    values: Mapping[str, Sequence[Value]]
    wires: bool = False

    def __post_init__(self) -> None:
        if not self.values:
            raise ExploreError(f"explore: no range is given; {self._such_as()}")
        short = [name for name in self.values if name in FIELDS]
        if short and isinstance(self.base, Chain):
            raise ExploreError(
                f"{FIELDS[short[0]]}: the levels of this chip are a list; {self._such_as()}"
            )
        for name in short:
            both = [path for path in SHORT_PATHS.get(name, ()) if path in self.values]
            if both:
                raise ExploreError(
                    f"--sweep {both[0]}: {FIELDS[name]} sweeps it, too; give one of them"
                )
        if self.size > MOST_DESIGNS:
            raise ExploreError(
                f"explore: the ranges make {float(self.size):.2g} designs, expected at most "
                f"{float(MOST_DESIGNS):.0e}; give larger steps, or fewer ranges"
            )

    def _such_as(self) -> str:
        if isinstance(self.base, Accelerator):
            return f"give at least one of {', '.join(FIELDS.values())}, such as --pes 64..1024"
        names = ", ".join(level.name for level in self.base.levels)
        return (
            f"sweep fields of its levels, such as --sweep levels.{self.base.memories[0].name}"
            f".bytes=8k..64k; levels: {names}"
        )

    @property
    def size(self) -> int:
        """How many designs there are."""
        return math.prod(len(values) for values in self.values.values())

    def design(self, index: int) -> SweptChip:
        """The design at a place, 0 to `size` - 1.

        Raises:
            AcceleratorError: There is no such chip; it says which one.
        """
        fields: dict[str, Value] = {}
        for name in reversed(list(self.values)):
            index, place = divmod(index, len(self.values[name]))
            fields[name] = self.values[name][place]
        return self.with_fields({name: fields[name] for name in self.values})

    def with_fields(self, fields: Mapping[str, Value]) -> SweptChip:
        """The base chip with some fields set.

        Raises:
            AcceleratorError: There is no such chip; it says which one.
        """
        short: dict[str, Any] = {name: fields[name] for name in fields if name in FIELDS}
        paths = [(path, _text(value)) for path, value in fields.items() if path not in FIELDS]
        try:
            chip: Accelerator | Chain = replace(self.base, name="", **short)
            if paths:
                chip = replace(with_values(chip, paths, "--sweep"), name=_label(fields))
        except AcceleratorError as error:
            if not short:
                raise
            named = ", ".join(f"{name}={value}" for name, value in short.items())
            raise AcceleratorError(f"design {named}: {error}") from None
        if self.wires:
            chip = with_wires(chip)
        return SweptChip(chip, tuple(fields.items()))

    def all(self) -> Iterator[SweptChip]:
        """Every design.

        Raises:
            ExploreError: There are too many.
        """
        if self.size > MOST_TRIED:
            raise ExploreError(
                f"--draw all: {self.size:,} designs, expected at most {MOST_TRIED:,}; give "
                "--designs N, or larger steps"
            )
        return (self.design(index) for index in range(self.size))

    def draw(self, count: int, seed: int) -> list[SweptChip]:
        """Different designs, drawn by a seed, in the order of the space."""
        rng = np.random.default_rng(seed)
        places = rng.choice(self.size, size=min(count, self.size), replace=False)
        return [self.design(int(place)) for place in np.sort(places)]


def _text(value: Value) -> str:
    """A value as ``--set`` takes it."""
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def short_name(path: str) -> str:
    """A field without the word that all fields of levels begin with: ``PEBuffer.bytes``."""
    return path.removeprefix("levels.")


def value_text(path: str, value: Value) -> str:
    """A value for readers: capacities with their unit."""
    if not isinstance(value, int):
        return str(value)
    sized = path.endswith("_bytes") or "bytes" in path.split(".")[2:]
    return bytes_text(value) if sized else f"{value:,}"


def _label(fields: Mapping[str, Value]) -> str:
    return ", ".join(f"{short_name(path)} {value_text(path, v)}" for path, v in fields.items())


def nameless(chip: Accelerator | Chain) -> dict[str, Any]:
    """The fields of a design's chip, without what the sweep calls it."""
    return replace(chip, name="").to_dict()


def label_of(chip: Any) -> str:
    """A design's chip in a few words, such as ``256 PEs, L1 512 B, L2 128 kB, NoC 64, DRAM 16``."""
    return chip.name or text_of(chip.totals())


def text_of(totals: Mapping[str, Any]) -> str:
    """The same of the fields that a sweep sets."""
    parts = [f"{totals['num_pes']:,} PEs"]
    parts += [f"{level} {bytes_text(totals[f'{level.lower()}_bytes'])}" for level in ("L1", "L2")]
    parts += [f"NoC {totals['noc_bw'] or 'any'}", f"DRAM {totals['offchip_bw'] or 'any'}"]
    lanes = totals["simd_lanes"]
    return ", ".join([*parts, f"{lanes} lanes"] if lanes != 1 else parts)


def bytes_text(size: int | None) -> str:
    """A size as options take it: ``512 B``, ``16 kB``, ``1 MB`` (of 1,024)."""
    if size is None:
        return "any"
    for factor, unit in ((1 << 20, "MB"), (1 << 10, "kB")):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size:,} B"
