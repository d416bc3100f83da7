"""The words of every loop nest: its dimensions, its tensors and the kinds of layers."""

from __future__ import annotations

from enum import StrEnum

DIMS = "KCYXRSNG"
"""The mapping dimensions in the order every array in this project uses."""

NEST_DIMS = "KCYXRS"
"""The dimensions of one loop nest of MAESTRO's; batch N and groups G repeat it."""

TENSORS = ("input", "filter", "output")
"""The tensors of a layer in the order every array in this project uses."""


class LayerKind(StrEnum):
    """What a layer computes.

    Names are read in upper or lower case. TRCONV is a CONV over its (already upsampled) input, as
    MAESTRO counts it, all of whose elements are true; where zeros were inserted,
    :func:`layers.phases` gives the layers that do the true MACs.
    """

    CONV = "CONV"
    DSCONV = "DSCONV"
    GEMM = "GEMM"
    NGCONV = "NGCONV"
    TRCONV = "TRCONV"

    @classmethod
    def _missing_(cls, value: object) -> LayerKind | None:
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None


KINDS = tuple(kind.lower() for kind in LayerKind)
"""The kinds as files and lines of text have them."""

COUPLED: dict[LayerKind, tuple[str, str, str]] = {
    LayerKind.CONV: ("CYXRSNG", "KCRSG", "KYXNG"),
    LayerKind.DSCONV: ("CYXRSNG", "CRSG", "CYXNG"),
    LayerKind.GEMM: ("CYXRSNG", "KCRSNG", "KYXNG"),
    LayerKind.NGCONV: ("CYXRSNG", "KCRSG", "KYXNG"),
    LayerKind.TRCONV: ("CYXRSNG", "KCRSG", "KYXNG"),
}
"""The dimensions that input, filter and output of a layer depend on.

A product of a batched GEMM has operands of its own, so that N counts its filters; the images of a
batch share theirs.
"""

Places = tuple[int, ...]
COUPLED_DIMS: dict[LayerKind, tuple[Places, Places, Places]] = {
    kind: (
        tuple(map(DIMS.index, inputs)),
        tuple(map(DIMS.index, filters)),
        tuple(map(DIMS.index, outputs)),
    )
    for kind, (inputs, filters, outputs) in COUPLED.items()
}
"""The same as places in `DIMS`."""
