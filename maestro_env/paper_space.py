"""The mapping paper's spaces: the parameters of its Fig. 2, and the ten agents of its Fig. 6.

Fig. 2 has 17 columns: loop order, parallel dimension and six tiles a level, and the PEs. Fig. 6
calls ten agents "one a parameter". The paper does not say which ten these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from maestro_env.parameters import MapSpaceError, Parameter
from marl_common import suggest

PAPER_SPACES: dict[str, dict[str, Any]] = {
    "paper": {"orders": "permutation", "filters": "free", "co_search": ["num_pes"]},
    "paper-10": {"orders": "permutation", "filters": "free", "levels": 1},
}
"""``paper``: the 17 columns of Fig. 2 and the cluster size, without which two levels cannot share
the PEs in MAESTRO. ``paper-10``: ten parameters, as many as Fig. 6 has agents: order, parallel
dimension and six tiles of the outer level, the inner parallel dimension, and the cluster size."""

COST_MODELS = ("maestro", "exact")
"""Cost models that these spaces are for: the paper's own, and the one whose optima are proven."""

FILTERS = ("R", "S")


def space_options(name: str) -> Mapping[str, Any]:
    """The options that a space's name stands for.

    Raises:
        MapSpaceError: There is no space of this name.
    """
    if name not in PAPER_SPACES:
        raise MapSpaceError(
            f"space: got {name!r}, expected {' or '.join(PAPER_SPACES)}, or options as a dict."
            f"{suggest(name, list(PAPER_SPACES))}"
        )
    return PAPER_SPACES[name]


def check_cost_model(space: Any, cost_model: str) -> None:
    """Refuse a space of the paper under a cost model that it is not for.

    Args:
        space: What a problem was given as its space.
        cost_model: The model's name.

    Raises:
        MapSpaceError: It is one of the paper's, and the model is none of `COST_MODELS`.
    """
    if isinstance(space, str) and space in PAPER_SPACES and cost_model not in COST_MODELS:
        raise MapSpaceError(
            f"space: {space!r} is for the cost models {' and '.join(COST_MODELS)}, not "
            f"{cost_model!r}; name one of these, or give the space's options one by one"
        )


def outer_only(parameter: Parameter) -> Parameter:
    """A parameter with one choice, if it is an order or a tile of the inner level.

    A filter's tile is then its extent, any other one 1.
    """
    if parameter.level != 1 or parameter.kind not in ("order", "priority", "tile"):
        return parameter
    place = -1 if parameter.kind == "tile" and parameter.dim in FILTERS else 0
    return replace(parameter, choices=parameter.choices[place:][:1])
