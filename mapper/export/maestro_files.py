"""A mapping as inputs of the MAESTRO program: a network with its dataflow, and the hardware."""

from __future__ import annotations

from pydantic import Field

from cost_models import Accelerator, Mapping
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError
from mapper.export.tagged_yaml import ToolNode
from mapper.results.result_files import maestro_network

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
    """``hw.m`` and ``mapping.m``, see :func:`mapper.results.result_files.maestro_network`.

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
