"""One call for a mapping: of a layer, of a model, or of many layers on many chips."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import baselines
import layers
from baselines import Searcher, SearchResult
from cost_models import Accelerator, Chain, Infeasible, InfeasibleError, ReasonCode
from layers import Imported, Layer
from maestro_env import Problem
from mapper import Ends, ProblemSpec, chosen_method, default_budget, watched
from marl_common import brief, files_of
from marl_mapper.answers import AnswerFile, Question, keep, recall, tighter
from marl_mapper.mapped import Answer, Mapped, MappedModel
from marl_mapper.options import CheckedOptions, LibraryError, Options, checked_options

Model = str | Imported | Iterable[Layer]
"""A network of the zoo, a file of layers, an imported model, or layers."""
Chip = Accelerator | Chain | str
"""An accelerator, one of the library by name, or a YAML file."""
LOOKED_AT = 64
"""Random mappings that say why none was found."""


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
            samples without a lower value, and ``timeout``: seconds, that end the search; ``gap``:
            the share above the optimum at which a proof may end; ``agents``: what proposes the
            first value, ``"auto"``, ``"none"`` or a file of ``mapper pretrain``; ``store``: a file
            that keeps answers, so that later processes need not search again.

    Returns:
        :class:`Mapped` with ``mapping``, ``cost``, ``bound`` and ``gap``; of a model
        :class:`MappedModel`, which maps each distinct shape once.

    Raises:
        LibraryError: An option is misspelt or of a wrong type, or the store cannot be used.
        InfeasibleError: No mapping of the layer was found, with its ``layer``, ``chip``, ``limit``
            and ``levers``; a model holds the error in place of the layer.
        ValueError: An error of the layer, chip, objective, cost model, space or method.
    """
    options = checked_options(how)
    if isinstance(layer_or_model, Layer) or _names_a_layer(layer_or_model):
        problem = _problem(_layer(layer_or_model), chip, objective, options)
        (answer,) = _answers([(chip, problem)], options)
        if isinstance(answer, InfeasibleError):
            raise answer
        return answer
    name, found = _layers_of(layer_or_model)
    pairs = layers.distinct(found)
    problems = [(chip, _problem(layer, chip, objective, options)) for layer, _ in pairs]
    return MappedModel(name, tuple(_answers(problems, options)), tuple(count for _, count in pairs))


def map_many(
    layers: Iterable[Layer | str],
    chips: Iterable[Chip] = ("edge",),
    objective: str = "edp",
    **how: Unpack[Options],
) -> list[Answer]:
    """Map every layer on every chip.

    Args:
        layers: Layers, or names as :func:`map` takes them.
        chips: Accelerators, likewise.
        objective: What is minimised.
        how: Options of :func:`map`.

    Returns:
        One :class:`Mapped` a pair, the chips of the first layer first; where a layer has no
        mapping, the :class:`InfeasibleError` that says why.

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
    return _answers(problems, options)


def _problem(layer: Layer, chip: Chip, objective: str, how: CheckedOptions) -> Problem:
    return Problem(layer, chip, objective, how.cost_model, how.space, how.limits)


def _answers(problems: Iterable[tuple[Chip, Problem]], how: CheckedOptions) -> list[Answer]:
    """The answers to problems, known ones first looked up."""
    if how.store is None:
        return [_answer(problem, chip, how, None) for chip, problem in problems]
    with contextlib.closing(AnswerFile(how.store)) as store:
        return [_answer(problem, chip, how, store) for chip, problem in problems]


def _answer(problem: Problem, chip: Chip, how: CheckedOptions, store: AnswerFile | None) -> Answer:
    name, question = _chip_name(chip), _question(problem, how)
    ends = Ends(how.patience, how.timeout)
    spec = ProblemSpec(
        **problem.describe() | {"layer": problem.layer, "accelerator": problem.accelerator},
        layer_name=problem.layer.name,
        accelerator_name=name,
    )
    known = _known(question, spec, store, how)
    if known is not None and (known.gap == 0 or known.result.proof is None):
        return known
    empty = problem.why_infeasible()
    if empty is not None:
        return InfeasibleError(empty, problem.layer.name, name)
    searcher = _searcher(how)
    if question is not None and baselines.prover_of(searcher) is not None:
        question = question.of_proof(how.of_method.get("gap", 0.0))
        known = _known(question, spec, store, how)
    if known is not None:
        return known
    samples = default_budget(searcher, problem) if how.budget is None else how.budget
    with watched(problem, ends, how.on_batch):
        result = searcher.search(problem, samples, how.seed)
    if result.mapping is None:
        return InfeasibleError(_none_found(problem, result), problem.layer.name, name)
    mapped = Mapped(spec, result)
    if question is not None:
        keep(question, result)
        if store is not None:
            store.keep(question, mapped.to_dict(), result.gap)
    return mapped


def _known(
    question: Question | None, spec: ProblemSpec, store: AnswerFile | None, how: CheckedOptions
) -> Mapped | None:
    """What this process or the store knows of a question; nothing of a search that is watched."""
    if question is None or how.on_batch is not None:
        return None
    result = recall(question)
    if store is not None and (result is None or result.gap != 0):
        result = tighter(result, store.recall(question))
    if result is None:
        return None
    keep(question, result)
    mapped = Mapped(spec, result)
    if store is not None and not store.holds(question):
        store.keep(question, mapped.to_dict(), result.gap)
    return mapped


def _searcher(how: CheckedOptions) -> Searcher:
    method, options = chosen_method(how.method), how.of_method
    searcher = baselines.load(method, **options)
    if how.timeout is not None and baselines.prover_of(searcher) is not None:
        searcher = baselines.load(method, **{"timeout": how.timeout, **options})
    return searcher


def _question(problem: Problem, how: CheckedOptions) -> Question | None:
    """What is asked; None where the cost model does not say all that decides its figures."""
    if how.cost_model is problem.cost_model and not hasattr(problem.cost_model, "options"):
        return None
    decisive = how.model_dump(include={"method", "budget", "seed", "patience", "timeout"})
    # where there are none, answers kept by earlier versions say so
    files: dict[str, Any] = {"files": {}} | files_of(how.of_method)
    return Question.of(problem, {**how.of_method, **decisive, **files})


def _none_found(problem: Problem, result: SearchResult) -> Infeasible:
    """Why a search found no mapping, with the mildest of the reasons that samples had."""
    looked = problem.look(problem.space.sample(LOOKED_AT, 0))
    reasons = [r for row in range(len(looked)) if (r := looked.infeasible(row)) is not None]
    if not reasons:
        return Infeasible(
            ReasonCode.LIMIT,
            f"layer {problem.layer.name!r}: none of {result.samples:,} samples has a mapping",
            levers=("raise budget",),
        )
    mildest = min(reasons, key=lambda r: math.inf if r.gap is None else r.gap)
    why = "no mapping is feasible" if result.proven else f"none of {result.samples:,} samples is"
    message = (
        f"layer {problem.layer.name!r}: {why}; of {LOOKED_AT} random mappings the nearest: "
        f"{mildest.message}"
    )
    more = () if result.proven else ("raise budget",)
    return replace(mildest, message=message, levers=(*more, *mildest.levers))


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
    return "model", found


def _chip_name(chip: Chip) -> str:
    if isinstance(chip, str):
        return chip
    if chip.name:
        return chip.name
    if isinstance(chip, Chain):
        return f"{chip.peak_macs_per_cycle} MACs"
    return f"{chip.num_pes} PEs"
