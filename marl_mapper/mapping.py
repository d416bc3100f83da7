"""One call for a mapping: of a layer, of a model, or of many layers on many chips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, overload

import baselines
import layers
from common import brief
from cost_models import Accelerator, Chain
from layers import Imported, Layer
from maestro_env import Problem
from mapper import Ends, chosen_method, default_budget, watched
from marl_mapper.mapped import Mapped, MappedModel
from marl_mapper.options import CheckedOptions, LibraryError, Options, checked_options

Model = str | Imported | Iterable[Layer]
"""A network of the zoo, a file of layers, an imported model, or layers."""
Chip = Accelerator | Chain | str
"""An accelerator, one of the library by name, or a YAML file."""


@overload
def map(
    layer_or_model: Layer, chip: Chip = ..., objective: str = ..., **how: Unpack[Options]
) -> Mapped: ...
@overload
def map(
    layer_or_model: str, chip: Chip = ..., objective: str = ..., **how: Unpack[Options]
) -> Mapped | MappedModel: ...
@overload
def map(
    layer_or_model: Imported | Iterable[Layer],
    chip: Chip = ...,
    objective: str = ...,
    **how: Unpack[Options],
) -> MappedModel: ...
def map(
    layer_or_model: Layer | Model,
    chip: Chip = "edge",
    objective: str = "edp",
    **how: Unpack[Options],
) -> Mapped | MappedModel:
    """Find the best mapping of a layer, or of every layer of a model, and prove how good it is.

    Args:
        layer_or_model: A layer, or the name of one (``"mobilenetv2.2"``,
            ``"gemm:M=128,N=768,K=768"``); a network of the zoo (``"resnet50"``), a file of layers,
            an imported model, or layers.
        chip: An accelerator, one of the library (``mapper accelerators``) or a YAML file.
        objective: Such as ``"latency"``, ``"energy"``, ``"edp"``.
        how: ``method`` (default ``"auto"``: a proof, where the cost model has bounds),
            ``budget`` (samples), ``seed``, ``cost_model``, ``space``, ``limits``: see
            :class:`maestro_env.Problem`; ``searcher``: options of the method as a dict;
            ``on_batch``: called with the problem after every batch of samples; ``patience``:
            samples without a lower value, and ``timeout``: seconds, that end the search.

    Returns:
        :class:`Mapped` with ``mapping``, ``cost``, ``bound`` and ``gap``; of a model
        :class:`MappedModel`, which maps each distinct shape once.

    Raises:
        LibraryError: An option is misspelt or of a wrong type.
        ValueError: An error of the layer, chip, objective, cost model, space or method.
    """
    options = checked_options(how)
    if isinstance(layer_or_model, Layer) or _names_a_layer(layer_or_model):
        problem = _problem(_layer(layer_or_model), chip, objective, options)
        return _mapped(problem, chip, options)
    name, found = _layers_of(layer_or_model)
    pairs = layers.distinct(found)
    problems = [_problem(layer, chip, objective, options) for layer, _ in pairs]
    shapes = tuple(_mapped(problem, chip, options) for problem in problems)
    return MappedModel(name, shapes, tuple(count for _, count in pairs))


def map_many(
    layers: Iterable[Layer | str],
    chips: Iterable[Chip] = ("edge",),
    objective: str = "edp",
    **how: Unpack[Options],
) -> list[Mapped]:
    """Map every layer on every chip.

    Args:
        layers: Layers, or names as :func:`map` takes them.
        chips: Accelerators, likewise.
        objective: What is minimised.
        how: Options of :func:`map`.

    Returns:
        One :class:`Mapped` a pair, the chips of the first layer first.

    Raises:
        LibraryError: One thing is given where several are expected.
        ValueError: As :func:`map`.
    """
    options = checked_options(how)
    for name, given in (("layers", layers), ("chips", chips)):
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise LibraryError(f"{name}: got {brief(given)}, expected a list: [{brief(given)}]")
    listed, on = [_layer(layer) for layer in layers], list(chips)
    # every problem is built, and so checked, before the first is searched
    problems = [
        (chip, _problem(layer, chip, objective, options)) for layer in listed for chip in on
    ]
    return [_mapped(problem, chip, options) for chip, problem in problems]


def _problem(layer: Layer, chip: Chip, objective: str, how: CheckedOptions) -> Problem:
    return Problem(layer, chip, objective, how.cost_model, how.space, how.limits)


def _mapped(problem: Problem, chip: Chip, how: CheckedOptions) -> Mapped:
    ends, options = Ends(how.patience, how.timeout), dict(how.searcher or {})
    method = chosen_method(how.method)
    chosen = baselines.load(method, **options)
    if how.timeout is not None and baselines.prover_of(chosen) is not None:
        chosen = baselines.load(method, **{"timeout": how.timeout, **options})
    samples = default_budget(chosen, problem) if how.budget is None else how.budget
    with watched(problem, ends, how.on_batch):
        result = chosen.search(problem, samples, how.seed)
    return Mapped(problem.layer, problem.accelerator, _chip_name(chip), problem.objective, result)


def _names_a_layer(given: Any) -> bool:
    if not isinstance(given, str):
        return False
    return not (layers.is_file(given) or layers.is_network(given))


def _layer(given: Any) -> Layer:
    if isinstance(given, Layer):
        return given
    if isinstance(given, str):
        return layers.parse(given)
    raise LibraryError(
        f"layer: got {brief(given)}, expected a Layer or a name such as 'mobilenetv2.2'"
    )


def _layers_of(model: Any) -> tuple[str, Sequence[Layer]]:
    """Name and layers of a model."""
    if isinstance(model, str):
        return model, layers.layers_of(model)
    given = model.layers if isinstance(model, Imported) else model
    if not isinstance(given, Iterable):
        raise LibraryError(
            f"got {brief(model)}, expected a layer, a network's name, a file, an imported model or "
            "layers; layers.from_torch and layers.from_onnx import a model"
        )
    found = [_layer(layer) for layer in given]
    if not found:
        raise LibraryError("the model has no layers; expected at least one")
    return f"{len(found)} layers", found


def _chip_name(chip: Chip) -> str:
    if isinstance(chip, str):
        return chip
    if chip.name:
        return chip.name
    if isinstance(chip, Chain):
        return f"{chip.peak_macs_per_cycle} MACs"
    return f"{chip.num_pes} PEs"
