"""A mapping as inputs of the MAESTRO program: a network with its dataflow, and the hardware."""

from __future__ import annotations

import re

from pydantic import Field

from cost_models import Accelerator, Mapping, print_network
from layers import LayerKind
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
    """``hw.m`` and ``mapping.m``, which has a layer for each matrix of a batched product.

    Raises:
        ExportError: The chip is a list of levels.
        MappingError: MAESTRO's directives have no words for the mapping.
    """
    layer, chip, mapping = source.layer, source.chip, source.mapping
    if not isinstance(chip, Accelerator) or not isinstance(mapping, Mapping):
        raise ExportError(
            "--to maestro: MAESTRO has the levels L2 and L1, and this is a list of levels; "
            "expected --to zigzag, timeloop or accelforge"
        )
    name = re.sub(r"\W+", "_", layer.name).strip("_") or "layer"
    names = [name]
    if layer.kind is LayerKind.GEMM and layer.N > 1:
        names = [f"{name}_{matrix}" for matrix in range(layer.N)]
    flow = mapping.dataflow(layer)
    plain = chip.in_elements()
    hardware = MaestroHardware(
        num_pes=mapping.num_pes or plain.num_pes,
        l1_size_cstr=plain.l1_bytes or OPEN,
        l2_size_cstr=plain.l2_bytes or OPEN,
        noc_bw_cstr=plain.noc_bw or OPEN,
        offchip_bw_cstr=plain.offchip_bw or OPEN,
    )
    lines = [f"{name}: {value}" for name, value in hardware.model_dump().items()]
    return {
        "hw.m": "\n".join(lines) + "\n",
        "mapping.m": print_network([(layer.renamed(each), flow) for each in names], name=name),
    }
