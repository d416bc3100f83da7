"""The file of an assignment: its fields as a pydantic model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from common import expected, read_fields


class AssignmentFields(BaseModel):
    """Which agent chooses which parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agents: Annotated[
        list[
            Annotated[
                list[Annotated[str, Field(strict=True)]],
                Field(min_length=1),
                expected("a list of parameter names"),
            ]
        ],
        Field(min_length=1, description="one list of parameter names per agent"),
    ]
    source: dict[str, Any] | None = Field(
        None, description="where it came from: layer, objective, policy, samples ..."
    )


def schema() -> dict[str, Any]:
    """JSON Schema of the file."""
    return AssignmentFields.model_json_schema() | {
        "$schema": "https://json-schema.org/draft/2020-12/schema"
    }


def check(data: Any, where: str, error: type[ValueError]) -> AssignmentFields:
    """The fields of an assignment.

    Raises:
        error: A field is unknown, missing or wrong; names `where` and the field's path.
    """
    return read_fields(AssignmentFields, data, where, error)
