"""The problems of the data set, how it is split, and a problem as JSON without our code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

import layers
from baselines import can_prove
from cost_models import CHAINS, Accelerator, chain_prices, load_chip
from cost_models.prices import PJ_PER_NJ, LevelPrices
from layers import COUPLING, DIMS, TENSORS, Layer
from mapper.search.problem_spec import ProblemSpec
from marl_runs import plain

DATA_VERSION = "1.0.0"
"""Of problems and their rules; a row of another version is solved again."""
TEST, VALIDATION, TRAIN = "test", "validation", "train"
NETWORKS = {
    **dict.fromkeys(("alexnet", "bert_base", "deepseek-v3", "gpt2", "mixtral-8x7b"), TRAIN),
    **dict.fromkeys(("mlp", "mobilenetv2", "resnet18"), TRAIN),
    **dict.fromkeys(("qwen3-8b", "vgg16"), VALIDATION),
    **dict.fromkeys(("llama-3-8b", "resnet50"), TEST),
}
"""Networks and their split; a shape of several networks belongs to the first of them."""
CHIPS = {
    **dict.fromkeys(("edge", "cloud", "nvdla-small", "gemmini-16"), TRAIN),
    "tpu-v1": VALIDATION,
    "eyeriss": TEST,
    "nvdla-full": TEST,
}
"""Chips of two levels and their split."""
DEEP = ("simba", "nvdla-cacc", "eyeriss-rs", "tpu-v1-ws")
"""Chips of three levels and more, all of split `test`."""
DEEP_NETWORKS = ("resnet18", "bert_base")
OTHER_OBJECTIVES = ("latency", "energy")
"""Objectives other than EDP, on the first chip."""
HALO_CHIPS = ("edge", "cloud", "eyeriss")
"""Chips on which windows are also counted as most tools count them."""


@dataclass(frozen=True)
class OptimaProblem:
    """One problem of the data set.

    Args:
        network: The network of its layer.
        spec: The problem.
    """

    network: str
    spec: ProblemSpec

    @property
    def halo_time(self) -> str:
        """Whether rows that the next tile needs too stay (``retain``) or not (``none``)."""
        return str(self.spec.cost_model_options.get("halo_time", "retain"))

    @property
    def id(self) -> str:
        """Such as ``resnet18.2-edge-edp-retain``; a file's name."""
        spec = self.spec
        return f"{spec.layer_name}-{spec.accelerator_name}-{spec.objective}-{self.halo_time}"

    @property
    def deep(self) -> bool:
        """Whether its chip is a list of levels."""
        return self.spec.accelerator_name in CHAINS

    @property
    def splits(self) -> dict[str, str]:
        """Its split by network and by chip."""
        chip = CHIPS.get(self.spec.accelerator_name, TEST)
        return {"split_network": NETWORKS[self.network], "split_chip": chip}


def problems() -> Iterator[OptimaProblem]:
    """All problems, those of one shape together; some have no mapping, as filters are whole."""
    for network, name, layer in shapes():
        for chip in CHIPS:
            yield _problem(network, name, layer, chip, "edp")
        for objective in OTHER_OBJECTIVES:
            yield _problem(network, name, layer, next(iter(CHIPS)), objective)
        for chip in HALO_CHIPS:
            if layer.R > 1 or layer.S > 1:  # else no two tiles share an element
                yield _problem(network, name, layer, chip, "edp", halo_time="none")
        for chip in DEEP:
            if network in DEEP_NETWORKS:
                found = _problem(network, name, layer, chip, "edp")
                if can_prove(found.spec.build()) is None:  # else its space has no bounds
                    yield found


def shapes() -> Iterator[tuple[str, str, Layer]]:
    """Every distinct shape: its first network, its name there, and the layer."""
    seen = set()
    for network in NETWORKS:
        for number, layer in enumerate(layers.network(network)):
            if layer.renamed("") not in seen:
                seen.add(layer.renamed(""))
                yield network, f"{network}.{number}", layer


def _problem(
    network: str, name: str, layer: Layer, chip: str, objective: str, **rules: str
) -> OptimaProblem:
    spec = ProblemSpec(layer, name, load_chip(chip), chip, objective, cost_model_options=rules)
    return OptimaProblem(network, spec)


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
