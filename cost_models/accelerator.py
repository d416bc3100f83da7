"""The accelerator: PEs, buffers and bandwidths, with presets and YAML files."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from common import suggest

UNLIMITED_BW = 1 << 30
"""What the kernels take for an unlimited bandwidth [elements/cycle] (MAESTRO's own value)."""


class AcceleratorError(ValueError):
    """An accelerator that cannot exist, or a name that is not known."""


@dataclass(frozen=True)
class Accelerator:
    """A two-level spatial accelerator; None means unlimited. One element is one byte.

    Args:
        num_pes: Processing elements.
        l1_bytes: L1 of one PE [B].
        l2_bytes: Shared L2 [B].
        noc_bw: Bandwidth between L2 and the PEs, per direction [elements/cycle].
        offchip_bw: Bandwidth between DRAM and L2, per direction [elements/cycle].
        simd_lanes: MACs one PE can do in a cycle.

    Raises:
        AcceleratorError: A field is not a positive whole number.
    """

    num_pes: int
    l1_bytes: int | None = None
    l2_bytes: int | None = None
    noc_bw: int | None = None
    offchip_bw: int | None = None
    simd_lanes: int = 1

    def __post_init__(self) -> None:
        optional = {"l1_bytes", "l2_bytes", "noc_bw", "offchip_bw"}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None and item.name in optional:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
            if not whole:
                none = " or null (unlimited)" if item.name in optional else ""
                raise AcceleratorError(
                    f"accelerator.{item.name}: got {value!r}, expected a whole number of at "
                    f"least 1{none}"
                )
            if value > UNLIMITED_BW:
                raise AcceleratorError(
                    f"accelerator.{item.name}: got {value}, expected at most {UNLIMITED_BW}"
                )

    @classmethod
    def preset(cls, name: str) -> Accelerator:
        """One of `PRESETS` by name.

        Raises:
            AcceleratorError: The name is unknown.
        """
        if name not in PRESETS:
            hint = suggest(name, PRESETS)
            raise AcceleratorError(
                f"accelerator {name!r} is not known; expected one of {', '.join(PRESETS)} "
                f"or a YAML file.{hint}"
            )
        return PRESETS[name]

    @classmethod
    def load(cls, text: str) -> Accelerator:
        """A preset's name, or the path of a YAML file with the fields of this class.

        Raises:
            AcceleratorError: Neither, or a field of the file is wrong; names file and field.
        """
        path = Path(text)
        if path.suffix not in (".yaml", ".yml"):
            return cls.preset(text)
        try:
            data = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise AcceleratorError(f"{path}: cannot be read as YAML: {error}") from error
        return cls._from_fields(path, data)

    @classmethod
    def _from_fields(cls, path: Path, data: Any) -> Accelerator:
        names = [item.name for item in fields(cls)]
        if not isinstance(data, dict):
            raise AcceleratorError(f"{path}: expected the fields {', '.join(names)}, got {data!r}")
        for key in data:
            if key not in names:
                hint = suggest(str(key), names)
                raise AcceleratorError(
                    f"{path}: unknown field {key!r}; expected {', '.join(names)}.{hint}"
                )
        if "num_pes" not in data:
            raise AcceleratorError(f"{path}: num_pes is missing; give the number of PEs")
        try:
            return cls(**data)
        except AcceleratorError as error:
            raise AcceleratorError(f"{path}: {error}") from None

    def to_dict(self) -> dict[str, int | None]:
        """The fields as plain values (as YAML or JSON hold them)."""
        return asdict(self)

    @property
    def peak_macs_per_cycle(self) -> int:
        """MACs the whole array can do in a cycle."""
        return self.num_pes * self.simd_lanes

    def compute_bound(self, macs: int) -> int:
        """Fewest cycles in which the array can do `macs` multiply-accumulates."""
        return math.ceil(macs / self.peak_macs_per_cycle)


PRESETS = {
    # An Eyeriss-sized chip (Chen et al., JSSC 2017: 12 x 14 PEs, 0.5 kB of registers a PE, 108 kB
    # global buffer), with bandwidths of 64 and 16 elements/cycle.
    "edge": Accelerator(168, 512, 108_000, 64, 16),
    # A server-class array: 1,024 PEs of 2 kB, 2 MiB of L2, NoC 256, off-chip 64 elements/cycle.
    "cloud": Accelerator(1024, 2048, 2 * 1024 * 1024, 256, 64),
    # The setting of ArchGym's MAESTRO environment and the seed papers: nothing is limited.
    "archgym": Accelerator(1024),
}
"""Accelerators by name; bytes a PE, bytes, and elements/cycle in the order of the class."""
