"""A mapping as inputs of the MAESTRO program: a network with its dataflow, and the hardware."""

from __future__ import annotations

import re

from pydantic import Field

from cost_models import Accelerator, Mapping, MappingError, print_network
from layers import Layer, LayerKind
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError
from mapper.export.tagged_yaml import ToolNode

OPEN = (1 << 31) - 1
"""What stands for a field that the chip does not limit."""


class MaestroHardware(ToolNode):
    """MAESTRO's hardware file, one field a line; sizes and bandwidths in elements."""

    num_pes: int = Field(ge=1, le=OPEN)
    l1_size_cstr: int = Field(ge=1, le=OPEN)
    l2_size_cstr: int = Field(ge=1, le=OPEN)
    noc_bw_cstr: int = Field(ge=1, le=OPEN)
    offchip_bw_cstr: int = Field(ge=1, le=OPEN)


def maestro_files(source: ExportSource) -> dict[str, str]:
    """``hw.m`` and ``mapping.m``, see :func:`maestro_network`.

    Raises:
        ExportError: The chip is a list of levels.
        DataflowError: MAESTRO's language has no words for the layer.
        MappingError: It has none for the mapping.
    """
    layer, chip, mapping = source.layer, source.chip, source.mapping
    if not isinstance(chip, Accelerator) or not isinstance(mapping, Mapping):
        raise ExportError(
            "--to maestro: MAESTRO has the levels L2 and L1, and this is a list of levels; "
            "expected --to zigzag, timeloop or accelforge"
        )
    network = maestro_network(layer, mapping)
    plain = chip.in_elements()
    hardware = MaestroHardware(
        num_pes=mapping.num_pes or plain.num_pes,
        l1_size_cstr=plain.l1_bytes or OPEN,
        l2_size_cstr=plain.l2_bytes or OPEN,
        noc_bw_cstr=plain.noc_bw or OPEN,
        offchip_bw_cstr=plain.offchip_bw or OPEN,
    )
    lines = [f"{name}: {value}" for name, value in hardware.model_dump().items()]
    return {"hw.m": "\n".join(lines) + "\n", "mapping.m": network}


def maestro_network(layer: Layer, mapping: Mapping) -> str:
    """A layer with its mapping as a network of MAESTRO, which has a layer for each matrix.

    Raises:
        DataflowError: MAESTRO's language has no words for the layer.
        MappingError: It has none for the mapping.
    """
    name = re.sub(r"\W+", "_", layer.name).strip("_") or "layer"
    flow, names = mapping.dataflow(layer), [name]
    if layer.kind is LayerKind.GEMM and layer.N > 1:
        if any(directive.dim == "N" for directive in flow.directives):
            raise MappingError(
                "mapping: it works on several matrices at a time, and MAESTRO has a layer for "
                "each; expected N outermost, one at a time and on no units"
            )
        names = [f"{name}_{matrix}" for matrix in range(layer.N)]
    return print_network([(layer.renamed(each), flow) for each in names], name=name)
