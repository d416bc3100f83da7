"""Options of networks whose tensors may stay on the chip, and whose layers may be fused."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.commands.options import OptionError
from marl_common import option

FUSE, PASSES = ("none", "keep", "tiles"), ("free", "counted")
RESULT = "network.json"
"""What a search writes of a network whose layers share the chip."""


@dataclass(frozen=True)
class StayOptions:
    """What layers of a network share.

    Attributes:
        fuse: Of --network: whether tensors may stay in L2 from one layer to the next (keep), and
            layers be fused tile by tile besides (tiles); proven within --gap.
        passes: Of --network: whether nodes without MACs cost what they move.
    """

    fuse: str = option("none", metavar="none|keep|tiles")
    passes: str = option("free", metavar="free|counted")

    @property
    def counted(self) -> bool:
        """Whether nodes without MACs have costs."""
        return self.passes == "counted"

    def check_words(self) -> None:
        """Check both options.

        Raises:
            OptionError: One has another value.
        """
        for name, value, known in (("--fuse", self.fuse, FUSE), ("--passes", self.passes, PASSES)):
            if value not in known:
                raise OptionError(
                    f"{name}: got {value!r}, expected {', '.join(known[:-1])} or {known[-1]}"
                )
