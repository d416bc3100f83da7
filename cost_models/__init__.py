"""What a mapping costs: accelerators, mappings, costs and the models that estimate them."""

from typing import Any

from cost_models.accelerator import Accelerator, AcceleratorError
from cost_models.buffers import LEVELS, Buffer, Level, Widths
from cost_models.chips import PRESETS
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch
from cost_models.dataflow import Dataflow, DataflowError, Directive, parse_dataflow
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.loop_nest import loop_nest
from cost_models.lower_bounds import LowerBounds, Structures, lower_bounds_of
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from cost_models.model import (
    EARLIER_OPTIONS,
    CostModel,
    CostModelError,
    ModelCapabilities,
    Symmetry,
    capabilities_of,
    check_objective,
    load,
    names,
)
from cost_models.network import parse_network, print_network

__all__ = [
    "EARLIER_OPTIONS",
    "FIGURES",
    "LEVELS",
    "PRESETS",
    "TENSORS",
    "Accelerator",
    "AcceleratorError",
    "Buffer",
    "Cost",
    "CostBatch",
    "CostModel",
    "CostModelError",
    "Dataflow",
    "DataflowError",
    "Directive",
    "Infeasible",
    "InfeasibleError",
    "Level",
    "LowerBounds",
    "Mapping",
    "MappingBatch",
    "MappingError",
    "ModelCapabilities",
    "ReasonCode",
    "Structures",
    "Symmetry",
    "Widths",
    "accelerator_schema",
    "accelerator_template",
    "capabilities_of",
    "check_objective",
    "load",
    "loop_nest",
    "lower_bounds_of",
    "names",
    "parse_dataflow",
    "parse_network",
    "print_network",
]


def accelerator_schema() -> dict[str, Any]:
    """JSON Schema of an accelerator's file."""
    from cost_models.accelerator_file import schema

    return schema()


def accelerator_template() -> str:
    """An accelerator's file with every field, commented, to fill in."""
    from importlib.resources import files

    return files(__package__).joinpath("accelerator_template.yaml").read_text(encoding="utf-8")
