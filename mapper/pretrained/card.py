"""The card of trained agents as a pydantic model: how they were trained, and how well they do."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from common import NotNegative, expected, read_fields

Text = Annotated[str, Field(strict=True, max_length=5000), expected("a text")]
Count = Annotated[
    int, Field(ge=0, le=1 << 62, strict=True), expected("a whole number of at least 0")
]
Number = Annotated[float, Field(allow_inf_nan=False, strict=True), expected("a finite number")]


class CardFields(BaseModel):
    """What a training says of its agents; each field may be absent."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    cost_model: Text | None = None
    cost_model_calls: Count | None = None
    cpu_minutes: NotNegative | None = None
    judge: dict[Text, Number | Text] | None = None
    parameters: Count | None = None
    schedule: dict[Text, Number] | None = None
    seed: Count | None = None
    trained_on: Text | None = None
    validation: dict[Text, Number | None] | None = None


def check_card(card: Any, where: str, error: type[ValueError]) -> None:
    """Check the card of agents.

    Raises:
        error: A field is unknown or of another type; names `where` and the field's path.
    """
    read_fields(CardFields, card, where, error)
