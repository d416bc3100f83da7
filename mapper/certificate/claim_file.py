"""The claim of a certificate as pydantic models: nothing is converted, nothing unknown is read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

import cost_models
from marl_common import Count, Text, expected

Size = Annotated[
    int, Field(ge=1, le=1 << 53, strict=True), expected("a whole number of at least 1")
]
Finite = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Figure = Annotated[Finite | Literal["inf"], expected("a number of at least 0, or 'inf'")]
Limit = Annotated[
    float,
    Field(gt=0, lt=1e300, strict=True),
    expected("a number above 0, below 1e300"),
]
Dim = Annotated[Literal["K", "C", "Y", "X", "R", "S", "N", "G"], expected("one of KCYXRSNG")]
Tensor = Literal["input", "filter", "output"]
TWO = Field(min_length=2, max_length=2)
"""A list of two, outer level first."""


class Claimed(BaseModel):
    """Fields of a claim."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class MappingFields(Claimed):
    """A mapping, as :meth:`cost_models.Mapping.to_dict` gives it."""

    orders: Annotated[list[Text], TWO]
    parallel: Annotated[list[Dim], TWO]
    tiles: Annotated[list[dict[Dim, Size]], TWO]
    cluster_size: Size
    num_pes: Size | None = None
    parallel2: Annotated[list[Dim | None], TWO] = [None, None]
    units: Annotated[list[Size | None], TWO] = [None, None]
    bypass: Annotated[list[list[Tensor]], TWO] = [[], []]


class SpreadFields(Claimed):
    """A dimension over an axis."""

    dim: Dim
    units: Size | None = None
    axis: Count = 0


class EntryFields(Claimed):
    """What a mapping says of a level."""

    level: Text
    tiles: dict[Dim, Size]
    order: Text
    parallel: list[SpreadFields] = []
    keeps: list[Tensor] | None = None


class ChainMappingFields(Claimed):
    """A mapping of any depth, as :meth:`cost_models.ChainMapping.to_dict` gives it."""

    version: Count
    levels: list[EntryFields]


class ChainSpaceFields(Claimed):
    """Options of a map space on a chip that is a list of levels, all of them."""

    tiles: Text
    filters: Text
    only: dict[Text, Annotated[list[Size | Text | Literal[0]], Field(min_length=1)]]


class SpaceFields(ChainSpaceFields):
    """Options of a map space on a chip of two levels, all of them."""

    parallel: Text
    orders: Text
    co_search: list[Text]
    repeat: Text = ""
    dataflow: Text | None = None
    full: bool = False


class Named(BaseModel):
    """Fields whose name is a text; the others are checked by a model of their own."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    name: Text = ""


def _check_numbers(options: dict[str, bool | float | str]) -> dict[str, bool | float | str]:
    """Refuse a number where no option of `exact` is one."""
    usual = cost_models.load("exact")
    for name, value in options.items():
        if isinstance(value, float) and not isinstance(getattr(usual, name, None), float):
            raise ValueError(f"{name}: got {value:g}, expected true, false or text")
    return options


class ProblemFields(Claimed):
    """The problem; the fields of layer and chip are checked by their own models."""

    layer: Named
    layer_name: Text
    accelerator: Named
    accelerator_name: Text
    objective: Text
    cost_model: Text
    cost_model_options: Annotated[dict[Text, bool | float | Text], AfterValidator(_check_numbers)]
    space: SpaceFields
    limits: dict[Text, Limit]


class ChainProblemFields(ProblemFields):
    """The same on a chip that is a list of levels."""

    space: ChainSpaceFields  # type: ignore[assignment]  # options of its own


class TreeFields(Claimed):
    """What the tree's part of the file is; on a chip that is a list of levels its numbers."""

    boxes: Size
    sha256: Annotated[
        str, Field(pattern="^[0-9a-f]{64}$", strict=True), expected("64 hexadecimal digits")
    ]


class ClaimFields(Claimed):
    """What a certificate claims, version 1: of a chip of two levels."""

    format: Text
    version: Size
    problem: ProblemFields
    size: Annotated[
        str,
        Field(pattern="^[1-9][0-9]{0,3999}$", strict=True),
        expected("a whole number of at least 1, as a text"),
    ]
    mapping: MappingFields | None
    value: Figure
    bound: Figure
    versions: dict[Text, Text]
    tree: TreeFields


class ChainClaimFields(ClaimFields):
    """Version 2: of a chip that is a list of levels."""

    problem: ChainProblemFields
    mapping: ChainMappingFields | None  # type: ignore[assignment]  # of another depth
