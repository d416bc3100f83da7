"""The space of mappings that suits a chip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cost_models import Accelerator, Chain
from layers import Layer
from maestro_env.action_space import ActionSpace
from maestro_env.chain_space import ChainSpace, checked_chain_options
from maestro_env.map_space import MapSpace, checked_options


def chip_of_space(chip: Accelerator | Chain, options: Any) -> Accelerator | Chain:
    """The chip whose mappings a space holds: a list of levels where only that has its options.

    Args:
        chip: The chip.
        options: Options of the space.
    """
    of_lists = isinstance(options, Mapping) and (options.get("uneven") or options.get("axis_dims"))
    return chip.to_levels() if of_lists and isinstance(chip, Accelerator) else chip


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
    given = {} if options is None else options
    chip = chip_of_space(chip, given)
    if isinstance(chip, Chain):
        return ChainSpace(layer, chip, **checked_chain_options(given))
    return MapSpace(layer, chip, **checked_options(given))
