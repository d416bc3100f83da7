"""A stored search as pydantic models: nothing is converted, nothing unknown is read."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from mapper.certificate.claim_file import ChainMappingFields, Limit, MappingFields, Named
from marl_common import Count, Number, Text, expected, read_fields
from marl_runs import StoredRun, StoreError

Flag = Annotated[bool, Field(strict=True), expected("true or false")]
Free = dict[Text, Any]
"""Values that the definition's key covers, or that their own readers check."""
Found = TypeVar("Found", MappingFields, ChainMappingFields)
"""Fields of a mapping of two levels, or of a list of them."""


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StoredProblem(_Stored):
    """The problem, also one of an older form; its parts are checked by their own readers."""

    layer: Named
    layer_name: Text
    accelerator: Named
    accelerator_name: Text
    objective: Text
    cost_model: Text = "exact"
    cost_model_options: dict[Text, bool | Number | Text] = {}
    files: dict[Text, Text] = {}
    space: Free = {}
    limits: dict[Text, Limit] = {}


class CarryFields(_Stored):
    """What a search of a network took over."""

    mode: Text
    earlier: list[Text] = Field(alias="from")


class SpecFields(_Stored):
    """The definition of a search, see :meth:`mapper.SearchRun.spec`."""

    problem: StoredProblem
    method: Text
    options: Free
    label: Text
    config: Free
    files: dict[Text, Text] = {}
    idle: Count | None = None
    timeout: Number | None = None
    carry: CarryFields | None = None


class ProofFields(_Stored, Generic[Found]):
    """How far a proof came; None stands for infinity."""

    status: Text
    value: Number | None
    bound: Number | None
    gap: Number | None
    boxes: Count
    evaluated: Count | None
    seconds: Number
    mapping: Found | None


class ResultFields(_Stored, Generic[Found]):
    """What a search found; None stands for infinity."""

    samples: Count
    best_value: Number | None
    unit: Text = ""
    feasible_samples: Count
    curve: list[
        Annotated[
            tuple[Count, Number], Field(strict=False), expected("a sample's number and its value")
        ]
    ]
    bound: Number | None
    best_action: Annotated[list[Count], expected("whole numbers of at least 0")] | None = None
    best_mapping: Found | None = None
    best_figures: dict[Text, Number | None] | None = None
    samples_kept: Flag = True
    proves_optimum: Flag = False
    proof: ProofFields[Found] | None = None
    config: Free | None = None
    empty: Text | None = None

    @model_validator(mode="after")
    def _best_is_whole(self) -> Self:
        best = (self.best_action, self.best_mapping, self.best_figures)
        if len({part is None for part in best}) != 1:
            raise PydanticCustomError(
                "contradiction", "expected best_action, best_mapping and best_figures, or none"
            )
        return self


class SearchFields(_Stored, Generic[Found]):
    """A stored search: its definition, its result, and what made it."""

    spec: SpecFields
    result: ResultFields[Found]
    versions: dict[Text, Text]


def check_search(run: StoredRun) -> ResultFields[Any]:
    """Check the fields of a finished search.

    Raises:
        StoreError: A field is unknown, missing or of another type; names its path.
    """
    data = {"spec": run.spec, "result": run.result, "versions": run.versions}
    found = run.result or {}
    proof = found.get("proof")
    mappings = (
        found.get("best_mapping"),
        proof.get("mapping") if isinstance(proof, dict) else None,
    )
    deep = any(isinstance(mapping, dict) and "levels" in mapping for mapping in mappings)
    model: Any = SearchFields[ChainMappingFields] if deep else SearchFields[MappingFields]
    checked: SearchFields[Any] = read_fields(model, data, f"run {run.id}", StoreError)
    return checked.result
