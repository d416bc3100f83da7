"""The parts of a problem as they are given, an object or its name; what is neither is refused."""

from __future__ import annotations

import cost_models
import layers
from cost_models import Accelerator, Chain, CostModel, load_chip
from layers import Layer
from marl_common import brief


class ProblemError(ValueError):
    """A problem that cannot be built, or a record that does not fit it."""


def layer_of(given: Layer | str) -> Layer:
    """A layer, or the one that a text names.

    Raises:
        ProblemError: It is neither.
        LayerError: See :func:`layers.parse`.
    """
    if isinstance(given, Layer):
        return given
    if not isinstance(given, str):
        raise _neither("layer", given, "a Layer or a name such as 'mobilenetv2.2'")
    return layers.parse(given)


def accelerator_of(given: Accelerator | Chain | str) -> Accelerator | Chain:
    """A chip, one of the library by name, or that of a YAML file.

    Raises:
        ProblemError: It is none of them.
        AcceleratorError: See :func:`cost_models.load_chip`.
    """
    if isinstance(given, Accelerator | Chain):
        return given
    if not isinstance(given, str):
        fix = "an Accelerator, a chip's name such as 'edge', or the path of a YAML file as text"
        raise _neither("accelerator", given, fix)
    return load_chip(given)


def cost_model_of(given: CostModel | str) -> CostModel:
    """A cost model, or the one of a name.

    Raises:
        ProblemError: It is neither.
        CostModelError: See :func:`cost_models.load`.
    """
    if isinstance(given, str):
        return cost_models.load(given)
    if isinstance(given, type) or not isinstance(given, CostModel):
        raise _neither("cost_model", given, "a cost model or its name such as 'exact'")
    return given


def _neither(what: str, given: object, expected: str) -> ProblemError:
    return ProblemError(f"{what}: got {brief(given)}, expected {expected}")
