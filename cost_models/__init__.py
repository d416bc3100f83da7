"""What a mapping costs: accelerators, mappings, costs and the models that estimate them."""

from cost_models.accelerator import PRESETS, Accelerator, AcceleratorError
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch
from cost_models.dataflow import Dataflow, DataflowError, Directive, parse_dataflow
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.loop_nest import loop_nest
from cost_models.mapping import Mapping, MappingBatch
from cost_models.model import (
    CostModel,
    CostModelError,
    ModelCapabilities,
    Symmetry,
    capabilities_of,
    load,
    names,
)
from cost_models.network import parse_network, print_network

__all__ = [
    "FIGURES",
    "PRESETS",
    "TENSORS",
    "Accelerator",
    "AcceleratorError",
    "Cost",
    "CostBatch",
    "CostModel",
    "CostModelError",
    "Dataflow",
    "DataflowError",
    "Directive",
    "Infeasible",
    "InfeasibleError",
    "Mapping",
    "MappingBatch",
    "MappingError",
    "ModelCapabilities",
    "ReasonCode",
    "Symmetry",
    "capabilities_of",
    "load",
    "loop_nest",
    "names",
    "parse_dataflow",
    "parse_network",
    "print_network",
]
