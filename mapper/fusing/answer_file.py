"""The answer of a network as ``mapper search --network --fuse`` writes it, read again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from marl_common import Count, NotNegative, Text, expected, parse_record, read_fields, read_text

Whole = Annotated[
    int, Field(ge=1, le=1 << 53, strict=True), expected("a whole number of at least 1")
]
TWO = Field(min_length=2, max_length=2)
"""A list of two: rows and columns."""


class AnswerError(ValueError):
    """A network's answer that cannot be read, or that is not what its mappings cost."""


class _Answered(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PartFields(_Answered):
    """A part of a layer in some of the fused tiles."""

    layer: dict[str, Any]
    count: Count
    mapping: dict[str, Any]


class FusedFields(_Answered):
    """How a layer is fused, as :class:`mapper.staying.network_result.FusedStep` says."""

    group: Count
    tile: Annotated[list[Whole], TWO]
    tiles: Whole
    keys: Whole | None = None
    halo: Annotated[list[Literal["kept", "again"]], TWO]
    filter_stays: bool
    parts: list[PartFields]


class AnsweredNode(_Answered):
    """A node."""

    node: Text
    kind: Text
    resident: list[Literal["input", "filter", "output"]]
    taken_bytes: NotNegative
    latency_cycles: NotNegative
    energy_nj: NotNegative
    dram_bytes: NotNegative
    mapping: dict[str, Any] | None
    fused: FusedFields | None = None


class StayFields(_Answered):
    """What stays, from a node's place to another's."""

    tensors: list[Text]
    first: Count = Field(alias="from")
    last: Count = Field(alias="to")
    bytes: NotNegative


class TotalFields(_Answered):
    """Sums over all nodes, and what is proven."""

    latency_cycles: NotNegative
    energy_nj: NotNegative
    edp: NotNegative
    dram_bytes: NotNegative
    value: NotNegative
    bound: NotNegative
    gap: NotNegative


class AnswerFields(_Answered):
    """The whole file; see :meth:`mapper.staying.kept_network.KeptNetwork.to_dict`."""

    network: Text
    objective: Literal["latency", "energy", "edp"]
    accelerator: dict[str, Any]
    cost_model_options: dict[str, Any]
    passes: Literal["free", "counted"]
    inputs: Whole = 1
    keep: TotalFields
    none: TotalFields
    tiles: TotalFields | None = None
    note: Text
    stays: list[StayFields]
    nodes: list[AnsweredNode]


def read_answer(path: Path) -> AnswerFields:
    """Read a network's answer; that its fields are whole is checked, not that they hold.

    Raises:
        AnswerError: It cannot be read; names the file and the field.
    """
    text = read_text(path, AnswerError, "the answer of a network (network.json)")
    fields = parse_record(text, str(path), AnswerError)
    if isinstance(fields, dict) and "shapes" in fields:
        raise AnswerError(
            f"{path}: is of a network that was searched layer by layer, each in a folder beside "
            "it; expected one of `mapper search --network N --fuse keep` or tiles"
        )
    return read_fields(AnswerFields, fields, str(path), AnswerError,
                       "fields of a network's answer")  # fmt: skip
