"""A problem as JSON that says all of it without a word of our code."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.optima.problems import OptimaProblem
from cost_models import Accelerator, chain_prices
from cost_models.prices import PJ_PER_NJ, LevelPrices
from layers import COUPLING, DIMS, TENSORS
from marl_runs import plain

FORMAT: Literal["mapping problem"] = "mapping problem"
VERSION: Literal[1] = 1


class _Stated(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StatedLayer(_Stated):
    """One layer as a loop nest."""

    name: str
    kind: str = Field(description="CONV, DSCONV (depthwise), GEMM, NGCONV or TRCONV")
    loops: dict[str, int] = Field(
        description="Trip counts: K output and C input channels, Y and X output rows and columns, "
        "R and S filter rows and columns, N batch, G groups"
    )
    stride: tuple[int, int] = Field(description="Input rows and columns from output to output")
    dilation: tuple[int, int] = Field(description="Input rows and columns from tap to tap")
    padding: tuple[int, int, int, int] = Field(
        description="Padding that is not counted as elements: top, bottom, left, right"
    )
    tensors: dict[str, list[str]] = Field(
        description="The loops that index each tensor; an input's row is "
        "Y * stride + R * dilation, its column likewise of X and S"
    )
    macs: int = Field(ge=1, description="Multiply-accumulates")


class StatedPrices(_Stated):
    """What a level costs."""

    read_pj: dict[str, float] = Field(description="Reading an element of each tensor [pJ]")
    write_pj: dict[str, float] = Field(description="Writing one [pJ]")
    leakage_uw: float = Field(description="Leakage of one instance [uW]")
    area_um2: float = Field(description="Area of one instance [um^2]")


class StatedChip(_Stated):
    """A chip as a chain of levels, from DRAM inwards."""

    name: str
    levels: list[dict[str, Any]] = Field(
        description="Capacities in bytes, ports in bits/cycle of one instance, fan-outs in units; "
        "what is left out is unlimited, or 1"
    )
    bits: dict[str, int] = Field(description="Width of an element of each tensor [bit]")
    clock_mhz: float
    mac_pj: float = Field(description="One multiply-accumulate [pJ]")
    prices: dict[str, StatedPrices] = Field(description="By level")
    clusters: bool = Field(
        description="Whether a mapping divides the units of the outermost buffer into clusters"
    )


class StatedParameter(_Stated):
    """What a mapping chooses one of."""

    name: str
    kind: str
    choices: list[Any]


class StatedSpace(_Stated):
    """The mappings there are."""

    size: str = Field(pattern="^[1-9][0-9]*$", description="How many, as text: beyond 2^63")
    options: dict[str, Any]
    parameters: list[StatedParameter]


class StatedProblem(_Stated):
    """A problem of the data set: find the mapping of least value in the space."""

    format: Literal["mapping problem"] = FORMAT
    version: Literal[1] = VERSION
    id: str
    layer: StatedLayer
    chip: StatedChip
    objective: str = Field(description="What is minimised: edp is energy [nJ] times cycles")
    factors: list[str] = Field(description="The figures whose product it is")
    unit: str
    space: StatedSpace
    rules: dict[str, bool | float | str] = Field(description="How is counted; see the data card")


def stated(problem: OptimaProblem) -> StatedProblem:
    """A problem in its own words."""
    built = problem.spec.build()
    space, objective = built.space, built.objective
    parameters = [
        {"name": item.name, "kind": item.kind, "choices": list(item.choices)}
        for item in space.parameters
    ]
    fields: dict[str, Any] = {
        "id": problem.id,
        "layer": _layer(problem),
        "chip": _chip(problem),
        "objective": objective.name,
        "factors": list(objective.figures),
        "unit": objective.unit,
        "space": {"size": str(space.size), "options": space.options, "parameters": parameters},
        "rules": built.describe()["cost_model_options"],
    }
    return StatedProblem.model_validate(plain(fields))


def _layer(problem: OptimaProblem) -> dict[str, Any]:
    layer = problem.spec.layer
    coupled = zip(TENSORS, COUPLING[layer.kind], strict=True)
    return {
        "name": layer.name,
        "kind": layer.kind.value,
        "loops": {dim: int(n) for dim, n in zip(DIMS, layer.extents, strict=True)},
        "stride": (layer.stride_y, layer.stride_x),
        "dilation": (layer.dilation_y, layer.dilation_x),
        "padding": tuple(layer.padding),
        "tensors": {
            name: [dim for dim, depends in zip(DIMS, row, strict=True) if depends]
            for name, row in coupled
        },
        "macs": layer.macs,
    }


def _chip(problem: OptimaProblem) -> dict[str, Any]:
    given = problem.spec.accelerator
    chip = given.to_levels() if isinstance(given, Accelerator) else given
    prices = chain_prices(chip, {})
    return {
        "name": problem.spec.accelerator_name,
        "levels": chip.to_dict()["levels"],
        "bits": chip.widths._asdict(),
        "clock_mhz": chip.clock_mhz or 1000.0,
        "mac_pj": prices.mac_nj * PJ_PER_NJ,
        "prices": {name: _prices(level) for name, level in prices.levels.items()},
        "clusters": chip is not given,
    }


def _prices(level: LevelPrices) -> dict[str, Any]:
    def in_pj(values: Any) -> dict[str, float]:
        return {name: float(nj) * PJ_PER_NJ for name, nj in values._asdict().items()}

    return {
        "read_pj": in_pj(level.read),
        "write_pj": in_pj(level.write),
        "leakage_uw": float(level.leakage_uw),
        "area_um2": float(level.area_um2),
    }
