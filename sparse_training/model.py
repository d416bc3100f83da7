"""Make the linear layers of any model sparse, and dense again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

import torch
from torch.nn.modules.conv import _ConvNd
from torch.nn.parallel import DistributedDataParallel

from marl_common import not_known
from sparse_training.errors import SparseTrainingError
from sparse_training.following import ModelSparsifier
from sparse_training.linear import Backend, SparseLinear, check_compiled
from sparse_training.schedules import MaskSchedule
from sparse_training.sparsifier import SparsityConfig
from sparse_training.structure import BLOCK

Model = TypeVar("Model", bound=torch.nn.Module)
NESTED = "_nested_before_sparsify"
"""Where an encoder keeps whether it made nested tensors."""


def sparsify(
    model: torch.nn.Module,
    sparsity: float | SparsityConfig = 0.9,
    *,
    skip: Sequence[str] = (),
    schedule: MaskSchedule | None = None,
    backend: Backend = "compiled",
    seed: int = 0,
) -> ModelSparsifier:
    """Make the linear layers of a model sparse, in place: all but the last one.

    Their weights stay the same parameters, whose shape changes; masks are drawn at random, so a
    model is made sparse before it is trained. Layers that torch reads past their `forward`
    (`MultiheadAttention`) or that are no plain `torch.nn.Linear` stay dense and are named in
    `left_dense`.

    Args:
        model: Any; it is changed once all checks have passed.
        sparsity: Share of the weights that is left out, or how masks are drawn and change.
        skip: Names of layers, or of modules that have some, to leave dense; ``*`` matches.
        schedule: When masks change; None: they stay as drawn. `ModelSparsifier.follow` an
            optimiser for it.
        backend: ``"compiled"`` (CPU), or ``"masked"`` (any device, saves nothing).
        seed: Draws masks and random growth.

    Raises:
        SparseTrainingError: A sparsity that is not between 0 and 1, a model that is compiled or
            wrapped already, convolutions or tied weights that are not skipped, names that are
            none, a layer smaller than a block, or a type or device that is not served.
    """
    config = sparsity if isinstance(sparsity, SparsityConfig) else SparsityConfig(sparsity)
    if config.sparsity == 0:
        raise SparseTrainingError("sparsity=0: expected above 0; a dense model needs no sparsify.")
    _check_plain(model)
    skips = _skips(model, skip)
    chosen, left = _chosen(model, skips)
    _check_untied(model, chosen)
    for name, module in chosen.items():
        _check_layer(name, module, config, backend)
    layers = {name: _sparse(module, backend) for name, module in chosen.items()}
    made = ModelSparsifier(model, layers, config, schedule, seed)
    made.left_dense = left
    made.allocation(config.sparsity)  # refuses before anything changes
    for name, layer in layers.items():
        _replace(model, name, layer)
    _leave_nested_tensors(model)
    made.attach(sparsity=None if schedule is None else schedule.first_sparsity)
    return made


def densify(model: Model) -> Model | torch.nn.Linear:
    """Make all sparse layers of a model `torch.nn.Linear` again, in place; weights are new.

    Args:
        model: Any; a sparse layer itself is returned as a dense one.

    Raises:
        SparseTrainingError: A layer reads columns, or has an activation.
    """
    found = {n: m for n, m in model.named_modules() if isinstance(m, SparseLinear)}
    for name, layer in found.items():
        if layer.layout != "rows" or layer.activation is not None:
            raise SparseTrainingError(
                f"layer {name!r} of layout {layer.layout!r}, activation {layer.activation!r}; "
                "expected 'rows' and none: torch.nn.Linear has neither."
            )
    if isinstance(model, SparseLinear):
        return _dense(model)
    for name, layer in found.items():
        _replace(model, name, _dense(layer))
    for module in model.modules():
        if NESTED in vars(module):
            module.use_nested_tensor = vars(module).pop(NESTED)
    return model


def _check_plain(model: torch.nn.Module) -> None:
    for name, part in model.named_modules():
        if hasattr(part, "_orig_mod") or getattr(part, "_compiled_call_impl", None) is not None:
            what = f"part {name!r}" if name else "model"
            raise SparseTrainingError(
                f"{what} that is compiled; expected a plain one. Compile it after."
            )
    if isinstance(model, DistributedDataParallel):
        raise SparseTrainingError("model that is wrapped by DDP; expected a plain one. Wrap after.")
    if isinstance(model, torch.nn.Linear):
        raise SparseTrainingError("a single layer; expected a model. Use SparseLinear itself.")


def _skips(model: torch.nn.Module, skip: Sequence[str]) -> Callable[[str], bool]:
    """Whether a name is skipped."""
    patterns = [skip] if isinstance(skip, str) else list(skip)
    names = [name for name, _ in model.named_modules() if name]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise SparseTrainingError(not_known("skip", pattern, names))

    def skips(name: str) -> bool:
        parts = name.split(".")
        above = (".".join(parts[: i + 1]) for i in range(len(parts)))
        return any(fnmatchcase(one, pattern) for one in above for pattern in patterns)

    return skips


def _chosen(
    model: torch.nn.Module, skips: Callable[[str], bool]
) -> tuple[dict[str, torch.nn.Linear], dict[str, str]]:
    """Layers to make sparse, and those that stay dense with the reason."""
    chosen: dict[str, torch.nn.Linear] = {}
    left: dict[str, str] = {}
    for name, module in model.named_modules():
        if isinstance(module, _ConvNd) and not skips(name):
            raise SparseTrainingError(
                f"{name!r} is a convolution; expected linear layers alone. Name it in skip to "
                "leave it dense."
            )
        if isinstance(module, torch.nn.MultiheadAttention):
            left[name] = "MultiheadAttention multiplies its projections itself"
        elif not isinstance(module, torch.nn.Linear) or name.rpartition(".")[0] in left:
            continue
        elif skips(name):
            left[name] = "skipped"
        elif type(module) is not torch.nn.Linear or "weight" not in module._parameters:
            left[name] = f"{type(module).__name__} is no plain torch.nn.Linear"
        elif module._forward_hooks or module._forward_pre_hooks:
            left[name] = "it has hooks"
        else:
            chosen[name] = module
    plain = [n for n, m in model.named_modules() if type(m) is torch.nn.Linear]
    if plain and chosen.pop(plain[-1], None) is not None:
        left[plain[-1]] = "the last layer"
    if not chosen:
        raise SparseTrainingError(
            f"no layer to make sparse among {len(left)} linear ones; expected at least one beside "
            "the last and those skipped."
        )
    return chosen, left


def _check_untied(model: torch.nn.Module, chosen: Mapping[str, torch.nn.Linear]) -> None:
    names: dict[int, list[str]] = defaultdict(list)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names[id(parameter)].append(name)
    for module in chosen.values():
        for parameter in module.parameters():
            if len(tied := names[id(parameter)]) > 1:
                raise SparseTrainingError(
                    f"{' and '.join(map(repr, tied))} are tied; expected a weight of its own. Name "
                    "the layer in skip to leave it dense."
                )


def _check_layer(
    name: str, module: torch.nn.Linear, config: SparsityConfig, backend: Backend
) -> None:
    shape = tuple(module.weight.shape)
    if config.unit == "block4" and min(shape) < BLOCK:
        raise SparseTrainingError(
            f"layer {name!r} of {shape[0]} x {shape[1]} weights is smaller than a block of 4 x 4. "
            "Use unit 'free', or name it in skip."
        )
    if backend == "compiled":
        try:
            check_compiled(module.weight)
        except SparseTrainingError as error:
            raise SparseTrainingError(f"layer {name!r}: {error}") from None


def _sparse(module: torch.nn.Linear, backend: Backend) -> SparseLinear:
    """A layer with the parameters of a dense one."""
    made = SparseLinear(
        module.in_features, module.out_features, bias=module.bias is not None, layout="rows",
        backend=backend, generator=torch.Generator(),
    )  # fmt: skip
    for name, parameter in module._parameters.items():
        made.register_parameter(name, parameter)
    return made.train(module.training)


@torch.no_grad()
def _dense(layer: SparseLinear) -> torch.nn.Linear:
    made: torch.nn.Linear = torch.nn.utils.skip_init(
        torch.nn.Linear, layer.in_features, layer.out_features, bias=layer.bias is not None,
        device=layer.weight.device, dtype=layer.weight.dtype,
    )  # fmt: skip
    made.weight.copy_(layer.dense())
    if layer.bias is not None:
        made.bias.copy_(layer.bias)
    return made.train(layer.training)


def _replace(model: torch.nn.Module, name: str, layer: torch.nn.Module) -> None:
    above, _, own = name.rpartition(".")
    setattr(model.get_submodule(above), own, layer)


def _leave_nested_tensors(model: torch.nn.Module) -> None:
    """Have encoders judge padding as they train on it; nested tensors of theirs make it 0."""
    for module in model.modules():
        sparse = any(isinstance(one, SparseLinear) for one in module.modules())
        if isinstance(module, torch.nn.TransformerEncoder) and sparse:
            setattr(module, NESTED, module.use_nested_tensor)
            module.use_nested_tensor = False
