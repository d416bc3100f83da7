"""What a mapping costs: accelerators, mappings, costs and the models that estimate them."""

from cost_models.accelerator import PRESETS, Accelerator, AcceleratorError
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch
from cost_models.dataflow import Dataflow
from cost_models.infeasible import Infeasible, MappingError, ReasonCode
from cost_models.mapping import Mapping, MappingBatch
from cost_models.model import CostModel, CostModelError, load, names

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
    "Infeasible",
    "Mapping",
    "MappingBatch",
    "MappingError",
    "ReasonCode",
    "load",
    "names",
]
