"""The space of mappings that suits a chip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cost_models import Accelerator, Chain
from layers import Layer
from maestro_env.action_space import ActionSpace
from maestro_env.chain_parameters import FULL_DIMS
from maestro_env.chain_space import ChainSpace, checked_chain_options
from maestro_env.map_space import MapSpace, checked_options


def on_its_chip(chip: Accelerator | Chain, options: Any) -> tuple[Accelerator | Chain, Any]:
    """The chip whose mappings a space holds: a list of levels where only that has its options.

    The units of a chip of two levels are one axis there, which takes `FULL_DIMS` dimensions where
    nothing is said, as the default space of two levels spreads two.

    Args:
        chip: The chip.
        options: Options of the space.

    Returns:
        That chip, and the options.
    """
    of_lists = isinstance(options, Mapping) and (options.get("uneven") or options.get("axis_dims"))
    if not of_lists or not isinstance(chip, Accelerator):
        return chip, options
    return chip.to_levels(), {"axis_dims": FULL_DIMS, **options}


def make_space(
    layer: Layer, chip: Accelerator | Chain, options: Mapping[str, Any] | str | None = None
) -> ActionSpace:
    """The mappings of a layer on a chip: a :class:`MapSpace`, or a :class:`ChainSpace` of a chain.

    Uneven ones of a chip of two levels, and those of ``axis_dims``, are of its list of levels.

    Args:
        layer: The layer.
        chip: The chip.
        options: Options of that class, or the name of one of :data:`maestro_env.PAPER_SPACES`.

    Raises:
        MapSpaceError: An option is unknown, or not for such a chip.
    """
    chip, given = on_its_chip(chip, {} if options is None else options)
    if isinstance(chip, Chain):
        return ChainSpace(layer, chip, **checked_chain_options(given))
    return MapSpace(layer, chip, **checked_options(given))
