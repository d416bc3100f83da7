"""The designs of a sweep: every combination of the given sizes, or some of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cost_models import Accelerator, AcceleratorError
from mapper.explore.design_ranges import ExploreError

FIELDS = {
    "num_pes": "--pes",
    "l1_bytes": "--l1",
    "l2_bytes": "--l2",
    "noc_bw": "--noc",
    "offchip_bw": "--offchip",
    "simd_lanes": "--lanes",
}
"""Fields of a chip that a sweep sets, and their options."""


@dataclass(frozen=True)
class DesignSpace:
    """All combinations of the values of some fields; the last field changes first.

    Args:
        base: What the fields that are not swept are taken from.
        values: Values by field, a name of `FIELDS`.
    """

    base: Accelerator
    values: Mapping[str, Sequence[int]]

    def __post_init__(self) -> None:
        if not self.values:
            raise ExploreError(
                f"explore: no range is given; give at least one of {', '.join(FIELDS.values())}, "
                "such as --pes 64..1024"
            )

    @property
    def size(self) -> int:
        """How many designs there are."""
        return math.prod(len(values) for values in self.values.values())

    def design(self, index: int) -> Accelerator:
        """The design at a place, 0 to `size` - 1.

        Raises:
            AcceleratorError: There is no such chip; it says which one.
        """
        fields: dict[str, Any] = {}
        for name in reversed(list(self.values)):
            index, place = divmod(index, len(self.values[name]))
            fields[name] = self.values[name][place]
        return self.with_fields(fields)

    def with_fields(self, fields: Mapping[str, int]) -> Accelerator:
        """The base chip with some fields set.

        Raises:
            AcceleratorError: There is no such chip; it says which one.
        """
        changed: dict[str, Any] = dict(fields)
        try:
            return replace(self.base, name="", **changed)
        except AcceleratorError as error:
            named = ", ".join(f"{name}={value}" for name, value in fields.items())
            raise AcceleratorError(f"design {named}: {error}") from None

    def all(self) -> Iterator[Accelerator]:
        """Every design."""
        return (self.design(index) for index in range(self.size))

    def draw(self, count: int, seed: int) -> list[Accelerator]:
        """Different designs, drawn by a seed, in the order of the space."""
        rng = np.random.default_rng(seed)
        places = rng.choice(self.size, size=min(count, self.size), replace=False)
        return [self.design(int(place)) for place in np.sort(places)]


def label_of(chip: Accelerator) -> str:
    """A chip in a few words, such as ``256 PEs, L1 512 B, L2 128 kB, NoC 64, DRAM 16``."""
    return text_of(chip.totals())


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
