"""What all algorithms share: networks and targets, sparsity, one update, acting, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mast.config import MastConfig
from mast.episodes import EpisodeBatch, TaskShape
from mast.errors import MastError
from mast.mixers import MIXERS, JointChoice
from mast.networks import build, layer_maker, sparse_layers, sparsifier_of
from mast.operators import OPERATORS
from mast.returns import RETURNS, Moment
from mast.scaling import RewardScale
from mast.tiny import widths_of
from mast.widths import NetworkWidths
from sparse_training import SparseAdam


@dataclass(slots=True)
class BatchTensors:
    """A batch as tensors; time comes last, see :class:`mast.episodes.EpisodeBatch`.

    Attributes:
        obs: ``(F, N, B, T + 1)``.
        states: ``(S, B * T)`` before each step.
        next_states: ``(S, B * T)`` after it.
        actions: ``(1, N, B, T + 1)``.
        available: ``(A, N, B, T + 1)`` or None.
        valid: ``(B, T)``.
        rewards: ``(B, T)`` array, standardised.
        episodes: The batch as it came.
    """

    obs: Tensor
    states: Tensor
    next_states: Tensor
    actions: Tensor
    available: Tensor | None
    valid: Tensor
    rewards: NDArray[np.float64]
    episodes: EpisodeBatch

    @classmethod
    def of(cls, batch: EpisodeBatch, scale: RewardScale, device: str) -> BatchTensors:
        """The tensors of a batch, its rewards standardised; they share its memory."""

        def tensor(array: NDArray[Any]) -> Tensor:
            return torch.from_numpy(array).to(device)

        s = len(batch.states)
        return cls(
            obs=tensor(batch.obs),
            states=tensor(batch.states).reshape(s, -1),
            next_states=tensor(batch.next_states).reshape(s, -1),
            actions=tensor(batch.actions).unsqueeze(0),
            available=None if batch.available is None else tensor(batch.available),
            valid=tensor(batch.valid),
            rewards=scale(batch.rewards),
            episodes=batch,
        )

    @property
    def next_available(self) -> Tensor | None:
        """``(A, N, B, T)`` after each step."""
        return None if self.available is None else self.available[..., 1:]

    def mean(self, errors: Tensor) -> Tensor:
        """Mean of ``(B * T,)`` errors over the steps that there are."""
        valid = self.valid.reshape(-1)
        return (errors * valid).sum() / valid.sum()


class ValueLearner:
    """Agents, mixer, their targets and how they learn.

    Args:
        config: What is learnt how.
        shape: The task's.
        total: Steps of the environment in the whole run.
        seed: Seeds first weights and masks.
    """

    def __init__(self, config: MastConfig, shape: TaskShape, total: int, seed: int = 0) -> None:
        self.config, self.shape, self._seed = config, shape, seed
        self.widths: NetworkWidths = widths_of(config, shape)
        generator = torch.Generator().manual_seed(seed)
        make = layer_maker(config, generator, "cpu")
        self.networks = build(config, shape, self.widths, make).to(config.device)
        self.layers = sparse_layers(self.networks)
        self.optimizer = SparseAdam(
            self.networks.parameters(), lr=config.lr, clip=config.clip,
            state=config.optimizer_state,
        )  # fmt: skip
        self.sparsifier = sparsifier_of(config, self.layers, config.optimizer_state, seed)
        if self.sparsifier is not None:
            self.sparsifier.attach()
        structures = {name: layer.structure for name, layer in self.layers.items()}
        self._start = {name: found for name, found in structures.items() if found is not None}
        targets = build(config, shape, self.widths, layer_maker(config, None, "cpu"))
        self.targets = targets.to(config.device).requires_grad_(False)
        self._target_layers = sparse_layers(self.targets)
        self.copy_targets()
        names, self._total = config.part_names(), total
        self.mixer = MIXERS.make(names["mixer"], config)
        self.operator = OPERATORS.make(names["operator"], config)
        self.returns = RETURNS.make(names["returns"], config)

    @property
    def sparsity(self) -> float:
        """Share of all weights that is left out, layers that are left dense counted."""
        if self.sparsifier is None:
            return 0.0
        kept = self.sparsifier.counts()
        whole = {name: layer.weight_count for name, layer in self.layers.items()}
        return 1.0 - sum((whole | kept).values()) / sum(whole.values())

    def copy_targets(self) -> None:
        """Make the targets what the networks are now."""
        for name, layer in self.layers.items():
            self._target_layers[name].copy_from(layer)

    def take_masks(self, masks: dict[str, Any]) -> None:
        """Take the masks of another run; weights that the first ones did not keep begin anew.

        Raises:
            SparseTrainingError: They are of other layers or units.
            MastError: This network is dense.
        """
        if self.sparsifier is None:
            raise MastError("a dense network takes no masks; expected a sparse arm.")
        generator = torch.Generator().manual_seed(self._seed)
        make = layer_maker(self.config, generator, "cpu")
        whole = sparse_layers(build(self.config, self.shape, self.widths, make))
        self.sparsifier.load_state_dict(masks)
        for name, layer in self.layers.items():
            taken = whole[name]
            if layer.structure is not None:
                taken.set_structure(layer.structure)
            layer.copy_from(taken)
            if layer.structure is not None:
                self._start[name] = layer.structure
        self.copy_targets()

    def change_topology(self, fraction: float) -> dict[str, float]:
        """Drop a share of the weights and grow others; returns densities by layer."""
        if self.sparsifier is None:
            return {}
        report = self.sparsifier.step(fraction, self.optimizer)
        units = sum(self.sparsifier.units().values())
        kept = sum(
            int((self._start[name].found_in(structure) >= 0).sum())
            for name, layer in self.layers.items()
            if (structure := layer.structure) is not None
        )
        return {"topology.moved": sum(report.grown.values()) / units,
                "topology.original": kept / units, **{
            f"density.{name}": density for name, density in self.sparsifier.densities().items()
        }}  # fmt: skip

    def update(
        self, episodes: EpisodeBatch, scale: RewardScale, done: int, *, topology: bool = False
    ) -> dict[str, Tensor]:
        """Learn from a batch.

        Args:
            episodes: The batch.
            scale: How rewards are standardised.
            done: Steps of the environment so far.
            topology: A topology step follows, which may need dense gradients.

        Returns:
            The loss, and the mean joint value of what was done.
        """
        if topology and self.sparsifier is not None and self.sparsifier.by_gradient:
            self.sparsifier.want_gradients(True)
        batch = BatchTensors.of(episodes, scale, self.config.device)
        values, _ = self.networks["agents"](batch.obs)  # (A, N, B, T + 1)
        with torch.no_grad():
            worth = self.worth(batch, values)  # (B * T,)
            after = worth.reshape(batch.rewards.shape).cpu().numpy()
            moment = Moment(done, self._total, self.config.gamma)
            returns = self.returns(episodes, batch.rewards, after, moment)
            aim = torch.from_numpy(returns).reshape(-1).to(worth)
        chosen = taken(values, batch.actions)  # (N, B * T)
        joint = self.networks["mixer"](chosen, batch.states, *self._choices(batch, values))
        loss = batch.mean(self.errors(batch, values, joint, aim))
        self.optimizer.zero_grad()
        loss.backward()
        if self.config.step_at_topology or not topology or self.sparsifier is None:
            self.optimizer.step()
        return {"loss": loss.detach(), "q": joint.mean().detach()}

    def worth(self, batch: BatchTensors, values: Tensor) -> Tensor:
        """``(B * T,)`` what each next step is worth.

        Args:
            batch: The batch.
            values: ``(A, N, B, T + 1)`` of the agents, now and after the last step.
        """
        raise NotImplementedError  # every algorithm has its own

    def errors(self, batch: BatchTensors, values: Tensor, joint: Tensor, aim: Tensor) -> Tensor:
        """``(B * T,)`` errors, whose mean is the loss.

        Args:
            batch: The batch.
            values: ``(A, N, B, T + 1)`` of the agents.
            joint: ``(B * T,)`` joint values of what was done.
            aim: ``(B * T,)`` what they should be.
        """
        return (joint - aim).square()

    def _choices(self, batch: BatchTensors, values: Tensor) -> tuple[JointChoice, ...]:
        """What a mixer reads besides the chosen values."""
        if not self.mixer.reads_choices:
            return ()
        seen, available = values[..., :-1], batch.available
        if available is not None:
            seen = seen.masked_fill(~available[..., :-1], -torch.inf)
        a, n = seen.shape[:2]
        best = seen.amax(dim=0).reshape(n, -1)
        actions = batch.actions[0, ..., :-1].reshape(n, -1)
        return (
            JointChoice(best, torch.nn.functional.one_hot(actions, a).transpose(1, 2).to(best)),
        )

    @torch.no_grad()
    def values(
        self, obs: NDArray[Any], hidden: list[Tensor | None] | None = None
    ) -> tuple[NDArray[Any], list[Tensor | None]]:
        """Values of all actions of one step.

        Args:
            obs: ``(F, N, W)`` inputs of the agents.
            hidden: What the agents remember.

        Returns:
            ``(A, N, W)`` values, and what the agents remember now.
        """
        x = torch.from_numpy(obs).unsqueeze(-1).to(self.config.device)
        y, hidden = self.networks["agents"](x, hidden)
        return y[..., 0].cpu().numpy(), hidden

    @torch.no_grad()
    def joint_value(self, values: NDArray[Any], states: NDArray[Any]) -> NDArray[Any]:
        """``(W,)`` joint values of ``(N, W)`` chosen values in ``(W, S)`` states."""
        device = self.config.device
        chosen = torch.from_numpy(values).to(device)
        seen = torch.from_numpy(np.ascontiguousarray(states.T)).to(chosen)
        made: NDArray[Any] = self.networks["mixer"](chosen, seen).cpu().numpy()
        return made

    def state_dict(self) -> dict[str, Any]:
        """Masks, networks, targets and optimiser, for a checkpoint."""
        masks = {} if self.sparsifier is None else {"masks": self.sparsifier.state_dict()}
        return {
            **masks,
            "networks": dict(self.networks.state_dict()),
            "targets": dict(self.targets.state_dict()),
            "optimizer": self.optimizer.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave.

        Raises:
            SparseTrainingError: It is of another mask set.
        """
        if self.sparsifier is not None:
            self.sparsifier.load_state_dict(state["masks"])
        self.networks.load_state_dict(state["networks"])
        self.copy_targets()  # the masks; the values follow
        self.targets.load_state_dict(state["targets"])
        self.optimizer.load_state_dict(state["optimizer"])


def taken(values: Tensor, actions: Tensor) -> Tensor:
    """Values of the actions that were taken.

    Args:
        values: ``(A, N, B, T + 1)``.
        actions: ``(1, N, B, T + 1)``.

    Returns:
        ``(N, B * T)``.
    """
    chosen = values.gather(0, actions)[0, ..., :-1]
    return chosen.reshape(len(chosen), -1)
