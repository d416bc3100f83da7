"""The card of trained agents as a pydantic model: how they were trained, and how well they do."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from marl_common import Count, NotNegative, Number, Text


class CardFields(BaseModel):
    """What a training says of its agents; each field may be absent."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    cost_model: Text | None = None
    cost_model_calls: Count | None = None
    cpu_minutes: NotNegative | None = None
    parameters: Count | None = None
    schedule: dict[Text, Number] | None = None
    seed: Count | None = None
    trained_on: Text | None = None
    validation: dict[Text, Number | None] | None = None
