"""Profiles and comparisons that were printed as JSON, read back and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, create_model

from marl_common import NotNegative, read_fields, read_json
from mpe_marl.clock import PHASES
from mpe_marl.errors import MpeError

EXPECTED = "what `profile --json` or `compare --json` print, or a store"


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    algorithm: str
    n_agents: int = Field(ge=1)


_MS: dict[str, Any] = dict.fromkeys(PHASES, (NotNegative, ...))
PhaseFields = create_model("PhaseFields", **_MS)
"""Milliseconds of each phase."""


class ProfileFields(_Row):
    """What Figures 2 to 4 need of a profile."""

    phase_ms: PhaseFields = Field(description="milliseconds by phase")
    counters: dict[str, float | str | None]


class ComparisonFields(_Row):
    """What Figure 5 needs of a compared variant."""

    variant: str
    sample_cut_percent: float = Field(allow_inf_nan=False)
    cycle_cut_percent: float = Field(allow_inf_nan=False)


class Saved(NamedTuple):
    """Rows of one kind."""

    kind: Literal["profiles", "comparison"]
    rows: list[dict[str, Any]]


def read(path: Path) -> Saved:
    """Read a file of profiles, or of a comparison.

    Raises:
        MpeError: It is neither; names the file, the row and the field.
    """
    rows = read_json(path, MpeError, EXPECTED)
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        raise MpeError(f"{path}: expected {EXPECTED}")
    profiles = "phase_ms" in rows[0]
    model = ProfileFields if profiles else ComparisonFields
    for number, row in enumerate(rows):
        read_fields(model, row, f"{path}, row {number}", MpeError)
    return Saved("profiles" if profiles else "comparison", rows)
