"""The file of an assignment: its fields as a pydantic model."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from marl_common import brief, compose_yaml, expected, read_fields


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


def check_members(text: str, where: str, error: type[ValueError]) -> None:
    """Check that no mapping of a YAML or JSON text names a member twice.

    Raises:
        error: One does; names `where` and the member. Or the text is no YAML.
    """
    left = [compose_yaml(text, where, error)]
    while left:
        node = left.pop()
        parts = node.value if node is not None and isinstance(node.value, list) else []
        names = [pair[0].value for pair in parts if isinstance(pair, tuple)]
        counts = Counter(name for name in names if isinstance(name, str))
        twice = next((name for name, count in counts.items() if count > 1), None)
        if twice is not None:
            raise error(f"{where}: member {brief(twice)} is given twice; expected it once")
        left += [pair[1] if isinstance(pair, tuple) else pair for pair in parts]
