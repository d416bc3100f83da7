"""Options that say what is searched: the chip, the cost model, the space of mappings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cost_models
from mapper.commands import completion
from mapper.commands.options import (
    LAYER_HELP,
    OBJECTIVE_HELP,
    chip_of,
    cost_model_with,
    pairs_of,
    space_of,
)
from marl_common import option

if TYPE_CHECKING:
    from cost_models import Accelerator, Chain
    from layers import Layer
    from mapper.search.problem_spec import ProblemSpec

FIELDS = {
    "rich_help_panel": "Accelerator, field by field (a number, or `none` for unlimited)",
}


@dataclass(frozen=True)
class MaybeLayer:
    """A layer, if any."""

    layer: str | None = option(None, LAYER_HELP, "--layer", "-l", autocompletion=completion.layers)


@dataclass(frozen=True)
class LayerObjective(MaybeLayer):
    """A layer, if any, and what is minimised."""

    objective: str = option(
        "edp", OBJECTIVE_HELP, "--objective", "-o", autocompletion=completion.objectives
    )


@dataclass(frozen=True)
class NamedChip:
    """A chip by its name.

    Attributes:
        accelerator: Preset (`mapper accelerators` lists them) or YAML file.
    """

    accelerator: str = option(
        "edge", "", "--accelerator", "-a", autocompletion=completion.accelerators
    )


@dataclass(frozen=True)
class ChipFields:
    """Fields of a chip of two levels that replace its own.

    Attributes:
        num_pes: Processing elements.
        l1_bytes: L1 of one PE, in bytes.
        l2_bytes: Shared L2, in bytes.
        noc_bw: L2 to the PEs, in elements/cycle.
        offchip_bw: DRAM to L2, in elements/cycle.
        simd_lanes: MACs of one PE in a cycle.
    """

    num_pes: str | None = option(None, **FIELDS)
    l1_bytes: str | None = option(None, **FIELDS)
    l2_bytes: str | None = option(None, **FIELDS)
    noc_bw: str | None = option(None, **FIELDS)
    offchip_bw: str | None = option(None, **FIELDS)
    simd_lanes: str | None = option(None, **FIELDS)


@dataclass(frozen=True)
class PathSets:
    """Fields of a chip by their paths.

    Attributes:
        sets: A field of the chip by its path, such as levels.L2.bytes=32k; may be repeated.
    """

    sets: tuple[str, ...] = option((), "", "--set", metavar="PATH=VALUE", **FIELDS)


@dataclass(frozen=True)
class SetChip(PathSets, NamedChip):
    """A chip with fields replaced by their paths."""

    def chip(self) -> Accelerator | Chain:
        """The chip.

        Raises:
            ValueError: See :func:`mapper.commands.options.chip_of`.
        """
        return chip_of(self.accelerator, self.sets)


@dataclass(frozen=True)
class AnyChip(PathSets, ChipFields, NamedChip):
    """A chip with any fields replaced."""

    @property
    def overrides(self) -> dict[str, str | None]:
        """Fields of the short form as they were given."""
        return {name: getattr(self, name) for name in ChipFields.__match_args__}

    def chip(self) -> Accelerator | Chain:
        """The chip.

        Raises:
            ValueError: See :func:`mapper.commands.options.chip_of`.
        """
        return chip_of(self.accelerator, self.sets, self.overrides)


@dataclass(frozen=True)
class NamedModel:
    """A cost model by its name.

    Attributes:
        cost_model: exact, maestro, ...; with options: exact:area=maestro.
    """

    cost_model: str = option("exact", autocompletion=completion.cost_models)


@dataclass(frozen=True)
class ModelOptions(NamedModel):
    """A cost model.

    Attributes:
        cost_model_option: Option of the cost model: double_buffer=false, energy=maestro;
            repeatable.
    """

    cost_model_option: tuple[str, ...] = option((), metavar="NAME=VALUE")

    def model(self) -> str:
        """Its name with its options.

        Raises:
            ValueError: See :func:`mapper.commands.options.cost_model_with`.
        """
        return cost_model_with(self.cost_model, self.cost_model_option)


@dataclass(frozen=True)
class Limits:
    """Limits of figures.

    Attributes:
        limit: Such as max_latency_cycles=1e6; repeatable.
    """

    limit: tuple[str, ...] = option((), metavar="NAME=VALUE")


@dataclass(frozen=True)
class WholeSpace:
    """A space of mappings.

    Attributes:
        space: Of the map space: tiles=divisors, filters=free, parallel=KC, orders=permutation,
            co_search=num_pes, full (two parallel dimensions a level, and bypass); or paper,
            paper-10 (the mapping paper's). Of a chip that is a list of levels: tiles, filters,
            uneven (a memory as an entry a tensor), axis_dims=2 (dimensions an axis), full;
            repeatable.
    """

    space: tuple[str, ...] = option((), metavar="NAME=VALUE")

    def options(self, cost_model: str | None = None) -> dict[str, Any]:
        """Options of the space.

        Raises:
            ValueError: See :func:`mapper.commands.options.space_of`.
        """
        return space_of(self.space, None, cost_model)


@dataclass(frozen=True)
class SpaceOptions(WholeSpace):
    """A space of mappings, or a dataflow's part of it.

    Attributes:
        dataflow: Only mappings of this dataflow: ws, os, is, nvdla, eyeriss-rs, shidiannao or tpu.
    """

    dataflow: str | None = option(None, autocompletion=completion.dataflows, shown="any")

    def options(self, cost_model: str | None = None) -> dict[str, Any]:
        """Options of the space; as :meth:`WholeSpace.options`."""
        return space_of(self.space, self.dataflow, cost_model)


@dataclass(frozen=True)
class ModelledChip(ModelOptions, SetChip):
    """A chip and its cost model."""


@dataclass(frozen=True)
class ProblemOptions(SpaceOptions, Limits, ModelOptions, AnyChip):
    """What is searched, but for the layer and the objective."""

    def problems(self, objective: str) -> Callable[[Layer, str], ProblemSpec]:
        """What makes the problem of a layer with its name; all but these is read here.

        Raises:
            ValueError: An option's, chip's or cost model's error.
        """
        from mapper.search.problem_spec import ProblemSpec, accelerator_name

        chip = self.chip()
        model = cost_models.load(self.model())
        options = dict(getattr(model, "options", {}))
        space = self.options(self.cost_model)
        limits = pairs_of("--limit", self.limit)
        name = accelerator_name(self.accelerator, self.overrides, self.sets)

        def of(layer: Layer, called: str) -> ProblemSpec:
            return ProblemSpec(
                layer, called, chip, name, objective, model.name, options, space, limits
            )

        return of
