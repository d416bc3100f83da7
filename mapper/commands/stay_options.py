"""Options of networks whose tensors may stay on the chip, and whose layers may be fused."""

from __future__ import annotations

from typing import Annotated

import typer

from mapper.commands.options import OptionError

FUSE, PASSES = ("none", "keep", "tiles"), ("free", "counted")

FuseOption = Annotated[
    str,
    typer.Option(
        metavar="none|keep|tiles",
        help="Of --network: whether tensors may stay in L2 from one layer to the next (keep), and "
        "layers be fused tile by tile besides (tiles); proven within --gap, or 1 %.",
    ),
]
PassesOption = Annotated[
    str,
    typer.Option(
        metavar="free|counted",
        help="Of --network: whether nodes without MACs cost what they move.",
    ),
]
InputsOption = Annotated[
    int,
    typer.Option(
        min=1,
        help="Of --fuse keep: runs of the network, one after another. Filters may stay in L2 from "
        "one to the next; figures are a run's mean.",
    ),
]


def check_words(fuse: str, passes: str) -> None:
    """Check both options.

    Raises:
        OptionError: One has another value.
    """
    for name, value, known in (("--fuse", fuse, FUSE), ("--passes", passes, PASSES)):
        if value not in known:
            raise OptionError(
                f"{name}: got {value!r}, expected {', '.join(known[:-1])} or {known[-1]}"
            )
