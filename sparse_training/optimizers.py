"""Adam for weights that come and go: each may count its own steps."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from sparse_training.errors import SparseTrainingError
from sparse_training.kernels.adam import StepTable, serves
from sparse_training.moments import Moments
from sparse_training.values import Form, moved

STATE = re.compile(r"local|reset|keep|local:([1-9]\d*)")


class SparseAdam(torch.optim.Optimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019) and steps counted per weight.

    A dense run is one of `torch.optim.Adam`. After a topology step a new weight has, by `state`:

    - ``local``: moments 0 and a step count of its own, so that its first step is `lr`;
      ``local:W`` also raises its learning rate linearly over `W` steps;
    - ``reset``: moments 0 and the common count: its first step is ``lr (1 - b1) / sqrt(1 - b2)``,
      3.16 times `lr`;
    - ``keep``: what is left of the moments that it had before it was dropped, and the common count
      (the code of RigL and of MST).

    Args:
        parameters: As of any optimiser of torch; groups may have their own `lr` and
            `weight_decay`.
        lr: Learning rate.
        betas: Decay of the two moments.
        eps: Added to the root of the second moment.
        weight_decay: Share of a weight, times `lr`, that a step takes away.
        clip: Largest norm of the gradient of all parameters together; None leaves it.
        state: ``"local"``, ``"local:W"``, ``"reset"`` or ``"keep"``.

    Raises:
        SparseTrainingError: A number out of range, or an unknown state.
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        clip: float | None = None,
        state: str = "local",
    ) -> None:
        found = STATE.fullmatch(state)
        if found is None:
            raise SparseTrainingError(
                f"optimizer state {state!r}; expected local, local:W (a warm-up of W steps), reset "
                "or keep."
            )
        self.law = state.partition(":")[0]
        self.clip = _checked("clip", clip, low=0.0) if clip is not None else None
        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            _checked(name, value)
        for beta in betas:
            _checked("betas", beta, high=1.0)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "warm_up": int(found[1] or 0),
        }  # fmt: skip
        super().__init__(parameters, defaults)
        self._moments: dict[Tensor, Moments] = {}

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; `torch.optim.Optimizer` takes as long as a small layer for it."""
        if not set_to_none:
            super().zero_grad(set_to_none=False)
            return
        for parameter in self._all():
            parameter.grad = None

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        if closure is not None:
            raise SparseTrainingError("step(closure) is not served; call step() after backward().")
        tables, others = self._sorted()
        share = self._clipped_share(tables, others)
        for table in tables:
            table.step(share)
        for parameter, group in others:
            self._step_by_torch(parameter, group, share)

    def _sorted(self) -> tuple[list[StepTable], list[tuple[Tensor, dict[str, Any]]]]:
        """Parameters that have a gradient: those that compiled code steps, and others by group."""
        tables: list[StepTable] = []
        others: list[tuple[Tensor, dict[str, Any]]] = []
        for group in self.param_groups:
            by_type: dict[torch.dtype, StepTable] = {}
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                moments = self.moments(parameter)
                moments.step += 1
                if not serves(parameter, gradient):
                    others.append((parameter, group))
                    continue
                kind = parameter.dtype
                if kind not in by_type:
                    by_type[kind] = StepTable(kind, group)
                by_type[kind].add(parameter, gradient, moments)
            tables += by_type.values()
        return tables, others

    def _clipped_share(
        self, tables: Iterable[StepTable], others: Iterable[tuple[Tensor, Any]]
    ) -> float:
        """What gradients are multiplied by so that their norm is at most `clip`."""
        if self.clip is None:
            return 1.0
        squares = sum(table.squared_norm() for table in tables)
        for parameter, _ in others:
            assert parameter.grad is not None
            squares += parameter.grad.square().sum().item()
        return min(1.0, self.clip / (math.sqrt(squares) + 1e-6))

    def _step_by_torch(self, parameter: Tensor, group: dict[str, Any], share: float) -> None:
        assert parameter.grad is not None
        moments, gradient = self._moments[parameter], parameter.grad * share
        (b1, b2), eps = group["betas"], group["eps"]
        shrink = 1 - group["lr"] * group["weight_decay"]
        moments.first.lerp_(gradient, 1 - b1)
        moments.second.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
        rate, root = torch.from_numpy(moments.corrections(group)).to(gradient).t()
        if moments.cohort is not None:
            at = moments.cohort.long()
            rate, root = rate[at], root[at]
        lower = moments.second.sqrt() / root + eps
        parameter.mul_(shrink).sub_(rate * moments.first / lower)

    def moments(self, parameter: Tensor) -> Moments:
        """The state of one parameter."""
        if parameter not in self._moments:
            self._moments[parameter] = Moments.of(parameter)
        return self._moments[parameter]

    @torch.no_grad()
    def move(self, parameter: Tensor, before: Form, after: Form) -> None:
        """Follow a layer's weight to another structure; a :class:`Sparsifier` calls this.

        Args:
            parameter: The weight, changed already.
            before: Its form before the change.
            after: Its form from now on.
        """
        if parameter in self._moments:
            groups = (g for g in self.param_groups if any(p is parameter for p in g["params"]))
            betas = next(groups)["betas"]
            self._moments[parameter].move(before, after, self.law, betas)

    def state_dict(self) -> dict[str, Any]:
        """Moments in the order of the parameters, and the groups' numbers."""
        states = [self._moments.get(parameter) for parameter in self._all()]
        groups = [{k: v for k, v in g.items() if k != "params"} for g in self.param_groups]
        return {
            "moments": [None if state is None else state.state_dict() for state in states],
            "groups": groups,
        }

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state; masks are restored before (`Sparsifier.load_state_dict`).

        Raises:
            SparseTrainingError: The state is of other parameters or of another mask set.
        """
        parameters = self._all()
        if len(state["moments"]) != len(parameters):
            raise SparseTrainingError(
                f"optimiser state of {len(state['moments'])} parameters; expected "
                f"{len(parameters)}: a checkpoint of another network."
            )
        for place, (one, parameter) in enumerate(zip(state["moments"], parameters, strict=True)):
            if one is not None and one["first"].shape != parameter.shape:
                raise SparseTrainingError(
                    f"optimiser state of parameter {place} has shape {tuple(one['first'].shape)}; "
                    f"expected {tuple(parameter.shape)}: a checkpoint of another mask set. Load "
                    "the state of its Sparsifier first."
                )
        self._moments = {
            parameter: Moments.of_state(one, parameter)
            for one, parameter in zip(state["moments"], parameters, strict=True)
            if one is not None
        }
        for group, saved in zip(self.param_groups, state["groups"], strict=True):
            group.update({**saved, "betas": tuple(saved["betas"])})

    def _all(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]


@torch.no_grad()
def move_state(
    optimizer: torch.optim.Optimizer, parameter: Tensor, before: Form, after: Form
) -> None:
    """Let an optimiser follow a layer's weight to another structure.

    What it keeps of a weight follows that weight, and is 0 for new ones; :class:`SparseAdam` has
    laws of its own.

    Args:
        optimizer: Any of torch.
        parameter: The weight, changed already.
        before: Its form before the change.
        after: Its form from now on.

    Raises:
        SparseTrainingError: It keeps tensors that are not shaped as the weight.
    """
    if isinstance(optimizer, SparseAdam):
        optimizer.move(parameter, before, after)
        return
    held = optimizer.state.get(parameter, {})
    check_state(optimizer, held, before.shape)
    for name, value in held.items():
        if isinstance(value, Tensor) and value.numel() > 1:
            held[name] = moved(value, before, after)


def check_state(
    optimizer: torch.optim.Optimizer, held: dict[str, Any], shape: tuple[int, ...]
) -> None:
    """Refuse an optimiser's state of one weight that is not shaped as that weight.

    Raises:
        SparseTrainingError: It is not: the optimiser made steps before, or keeps other numbers.
    """
    for name, value in held.items():
        if isinstance(value, Tensor) and value.numel() > 1 and value.shape != shape:
            raise SparseTrainingError(
                f"{type(optimizer).__name__} keeps {name!r} of shape {tuple(value.shape)} for a "
                f"weight of {tuple(shape)}; expected one shape. Build the optimiser after "
                "sparsify; one that keeps other shapes cannot follow sparse weights."
            )


def _checked(name: str, value: float, low: float = 0.0, high: float = math.inf) -> float:
    if not low <= value < high:
        above = "" if high == math.inf else f" and below {high:g}"
        raise SparseTrainingError(f"{name}={value}: expected a number of at least {low:g}{above}.")
    return float(value)
