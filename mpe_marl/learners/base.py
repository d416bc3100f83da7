"""What every update mode shares: networks, noise, acting, checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from marl_runs import make_generator, pack_generator, unpack_generator, usable_device
from mpe_marl import acting
from mpe_marl.clock import Clock
from mpe_marl.errors import MpeError
from mpe_marl.learners import nets
from mpe_marl.learners.bank import Bank
from mpe_marl.learners.config import LearnerConfig
from mpe_marl.learners.heads import Head
from mpe_marl.replay import Replay, ReplayBatch, Schema

_FEW = 4  # worlds up to which the compiled pass acts


StoreT = TypeVar("StoreT")
"""What a learner learns from: a replay, or what was just played."""


class Learner(Generic[StoreT]):
    """MADDPG or MASAC: ``N`` decentralised policies, ``N`` centralised critics (MASAC: pairs).

    One call of :meth:`update` trains every agent once, in phases: targets for all, the critics,
    the policies, then all targets move. openai/maddpg moves trainer ``i``'s targets before trainer
    ``i + 1`` computes its own; here all move together, at the same cost, so that the order of
    agents means nothing and all update modes compute the same.

    Args:
        schema: Shapes of observations and actions.
        config: Settings.
        seed: Seeds networks, exploration and noise.
    """

    wide = False

    def __init__(self, schema: Schema, config: LearnerConfig, seed: int = 0) -> None:
        self.schema, self.config = schema, config
        self.head = Head(config, schema.act_dim, schema.discrete, bool(schema.act_dims))
        self.device = usable_device(config.device)
        self.dtype = {"float32": torch.float32, "float64": torch.float64}[config.dtype]
        start = torch.Generator().manual_seed(seed)
        self.actors, self.critics = self._make_banks(start, self.dtype, self.device)
        if config.algorithm == "iddpg":
            self.critics.restrict(_own_inputs(schema))
        if schema.act_dims:
            self._forbid(torch.tensor(schema.act_dims))
        self._updates = 0
        self._target_noise = torch.Generator(self.device).manual_seed(seed + 1)
        self._policy_noise = torch.Generator(self.device).manual_seed(seed + 2)
        self._explore = make_generator(seed, 3)

    def _make_banks(self, *place: Any) -> tuple[Bank, Bank]:
        """The policies and the critics, given a generator, a type and a device."""
        n, obs, act = self.schema.n_agents, self.schema.obs_dim, self.schema.act_dim
        config = self.config
        actors = Bank(n, (obs, config.hidden, self.head.out_dim), *place)
        widths = (n * (obs + act), config.hidden, 1)
        return actors, Bank(n * config.twins, widths, *place, wide=self.wide)

    def _forbid(self, counts: Tensor) -> None:
        """Let no policy choose an action that its agent has not, of ``(N,)`` counts."""
        self.actors.forbid(torch.arange(self.schema.act_dim) < counts.unsqueeze(1))

    def acting_layers(self) -> Sequence[Tensor]:
        """Each agent's policy, ``(N, ...)`` layers."""
        return self.actors.online

    def update(self, replay: StoreT, clock: Clock) -> dict[str, float]:
        """Train every agent once on draws from the store.

        Args:
            replay: Where transitions come from.
            clock: Takes the time of each phase.

        Returns:
            Mean losses and mean target: ``q_loss``, ``p_loss``, ``target_q``.
        """
        raise NotImplementedError  # every mode of update has its own

    def _policies_turn(self) -> bool:
        """Count an update; whether it moves policies and targets too."""
        self._updates += 1
        return self._updates % self.config.policy_delay == 0

    def follow(self) -> None:
        """Move all targets towards their networks."""
        self.actors.follow(self.config.tau)
        self.critics.follow(self.config.tau)

    def worth(self, values: Tensor, dim: int) -> Tensor:
        """What a policy climbs: the lesser of its critics' values, with MATD3 the first one's."""
        return values.select(dim, 0) if self.config.policy_delay > 1 else values.amin(dim)

    def act(self, obs: NDArray[np.float32], explore: bool = True) -> NDArray[Any]:
        """Choose actions.

        Args:
            obs: ``(W, N, D)`` observations.
            explore: Sample; otherwise take the likeliest move or the mean.

        Returns:
            ``(W, N)`` moves, or ``(W, N, A)`` float32 in [0, 1].
        """
        return acting.choose(
            self._outputs(obs), self.schema.discrete, self.head.soft, self.config.noise,
            self._explore, explore,
        )  # fmt: skip

    def _outputs(self, obs: NDArray[np.float32]) -> NDArray[Any]:
        """``(W, N, out)`` outputs of the policies."""
        if self.device.type == "cpu" and len(obs) <= _FEW:
            arrays = [np.ascontiguousarray(p.numpy()) for p in self.acting_layers()]
            out = np.empty((*obs.shape[:2], self.head.out_dim), dtype=arrays[0].dtype)
            acting.outputs(obs, *arrays, out)
            return out
        with torch.inference_mode():
            x = torch.from_numpy(obs).to(self.device, self.dtype).transpose(0, 1)
            result: NDArray[Any] = nets.own(self.acting_layers(), x).transpose(0, 1).cpu().numpy()
        return result

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """A NumPy array as a tensor of the learner's type, on its device."""
        return torch.from_numpy(array).to(self.device, self.dtype)

    def _noise(self, rows: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Noise ``(*rows, A)``, empty where the head takes none."""
        noise = torch.empty((*rows, self.schema.act_dim), dtype=self.dtype, device=self.device)
        self.head.draw(noise, generator)
        return noise

    def target_noise(self, batch: int) -> Tensor:
        """``(N, B, A)`` noise of all target policies on one batch."""
        return self._noise((self.schema.n_agents, batch), self._target_noise)

    def policy_noise(self, batch: int) -> Tensor:
        """``(B, A)`` noise of one policy on one batch."""
        return self._noise((batch,), self._policy_noise)

    def state_dict(self) -> dict[str, Tensor]:
        """Everything learnt and the generators, as tensors."""
        return {
            **self.actors.state_dict("actor"),
            **self.critics.state_dict("critic"),
            **({"updates": torch.tensor(self._updates)} if self.config.policy_delay > 1 else {}),
            "noise.target": self._target_noise.get_state(),
            "noise.policy": self._policy_noise.get_state(),
            "noise.explore": torch.from_numpy(pack_generator(self._explore)),
        }

    def load_state_dict(self, tensors: dict[str, Tensor]) -> None:
        """Take back what :meth:`state_dict` gave, also that of another update mode.

        Raises:
            MpeError: The tensors are of other networks.
        """
        shape = tuple(tensors["actor.online.w1"].shape)
        expected = tuple(self.actors.online[0].shape)
        if shape != expected:
            raise MpeError(
                f"the checkpoint's policies are {shape}, expected {expected}; "
                "continue with the world, size and hidden width it was made with."
            )
        self.actors.load_state_dict("actor", tensors)
        self.critics.load_state_dict("critic", tensors)
        self._target_noise.set_state(tensors["noise.target"])
        self._policy_noise.set_state(tensors["noise.policy"])
        if "updates" in tensors:
            self._updates = int(tensors["updates"])
        unpack_generator(self._explore, tensors["noise.explore"].numpy())


def _own_inputs(schema: Schema) -> Tensor:
    """``(N, N * (D + A))`` ones where a critic's input is its own agent's."""
    eye = torch.eye(schema.n_agents)
    obs, act = (eye.repeat_interleave(k, 1) for k in (schema.obs_dim, schema.act_dim))
    return torch.cat([obs, act], dim=1)


def losses_of(q: Tensor, p: Tensor, target: Tensor) -> dict[str, float]:
    """Means for the trainer's report."""
    return {"q_loss": float(q), "p_loss": float(p), "target_q": float(target)}


def report_errors(replay: Replay, batch: ReplayBatch, errors: Tensor) -> None:
    """Give the law the absolute errors of the rows it drew."""
    replay.law.update(batch.rows, errors.detach().abs().cpu().numpy())
