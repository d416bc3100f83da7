"""The interface of a cost model, and the registry of those that are installed."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

from common import suggest
from cost_models.accelerator import Accelerator
from cost_models.cost import Cost, CostBatch
from cost_models.dataflow import Dataflow
from cost_models.mapping import Mapping, MappingBatch
from layers import Layer

ENTRY_POINT_GROUP = "mapper.cost_models"


class CostModelError(ValueError):
    """A cost model that is not known, or options it does not take."""


@runtime_checkable
class CostModel(Protocol):
    """What every cost model offers; all of them are deterministic and keep no state."""

    name: str

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Estimate the cost of one mapping."""

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Estimate the costs of `B` mappings of one layer."""


def names() -> list[str]:
    """Names of the installed cost models, sorted."""
    return sorted({point.name for point in entry_points(group=ENTRY_POINT_GROUP)})


def load(name: str, **options: Any) -> CostModel:
    """Load a cost model by name.

    Args:
        name: A name of :func:`names`, such as ``"exact"`` or ``"maestro"``.
        options: Options of that model, such as ``guard=False``.

    Raises:
        CostModelError: The name is unknown, or the model does not take an option.
    """
    points = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in points:
        hint = suggest(name, points)
        raise CostModelError(
            f"cost model {name!r} is not known; expected one of {', '.join(sorted(points))}.{hint}"
        )
    factory = points[name].load()
    try:
        model: CostModel = factory(**options)
    except TypeError as error:
        raise CostModelError(f"cost model {name!r}: {error}") from error
    return model
