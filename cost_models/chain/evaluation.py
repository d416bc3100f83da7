"""One mapping of a chain: its nest, whether it fits, its counts and its cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cost_models.chain.chip import Chain
from cost_models.chain.entries import ChainMapping
from cost_models.chain.level_costs import cost_of
from cost_models.chain.room import over_capacity
from cost_models.cost import Cost
from cost_models.cost_model import CostModelError
from cost_models.energy_tables import CACTI
from cost_models.exact.figures import PROVISIONED_AREA, refused
from cost_models.exact.limits import too_large
from cost_models.exact.nest import Nest
from cost_models.infeasible import Infeasible, MappingError, ReasonCode
from layers import Layer

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions

Counter = Callable[[Nest], dict[str, int]]


def evaluate(
    options: ExactOptions, layer: Layer, chip: Any, mapping: Any, counter: Counter
) -> Cost:
    """Cost of one mapping of a chip of any depth.

    Args:
        options: How it is counted and priced.
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
        counter: Counts a nest by name.

    Raises:
        MappingError: It is no mapping of the chip.
        CostModelError: An option prices chips of L2 and L1 alone.
    """
    if not isinstance(chip, Chain):
        raise MappingError(
            "mapping: got an entry for each level, but the chip has no list of levels; expected "
            "orders, parallel, tiles and cluster_size, or a chip with such a list"
        )
    if not isinstance(mapping, ChainMapping):
        raise MappingError(
            f"mapping: got a {type(mapping).__name__} of two levels, but the chip is a list of "
            "levels; expected version and levels, an entry for each (`mapper schema mapping`)"
        )
    check_prices(options)
    infeasible = too_large(layer, plain=False)
    if infeasible is not None:
        return refused(infeasible)
    nest = options.nest(layer, chip, mapping)
    names = tuple(entry.level for entry in mapping.entries)
    box = options.window == "box"
    infeasible = over_capacity(layer, chip, nest, names, box)
    if infeasible is not None:
        return refused(infeasible)
    try:
        counts = counter(nest)
    except CostModelError as error:
        if options.name != "exact":
            raise
        return refused(Infeasible(ReasonCode.TOO_LARGE, f"layer {layer.name!r}: {error}"))
    counts["latency"] = counts["stepwise" if nest.rules.stepwise else "bound"]

    def at(*names: Any) -> int:
        return counts.get("/".join(map(str, names)), 0)

    return cost_of(chip, nest, names, at)


def check_prices(options: ExactOptions) -> None:
    """Refuse options that price chips of two levels alone.

    Raises:
        CostModelError: One does.
    """
    defaults = {"energy": CACTI, "area": PROVISIONED_AREA, "cycle_nj": 0.0}
    for option, default in defaults.items():
        if getattr(options, option) != default:
            raise CostModelError(
                f"{option}={getattr(options, option)} prices chips of L2 and L1 alone; expected "
                f"{option}={default} on a chip that is a list of levels"
            )
