"""A trained policy by itself: what a finished run keeps, and how it is played again.

A finished run's folder holds ``final.pt``, everything that was learnt as tensors, and
``policy.safetensors``, the policies alone with what they act in, which needs no PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marl_common import write_arrays
from marl_runs import make_generator
from mpe_marl.acting import choose, outputs
from mpe_marl.errors import MpeError
from mpe_marl.train_config import TrainConfig

if TYPE_CHECKING:
    from mpe_marl.learners.base import Learner

FINAL, POLICY = "final.pt", "policy.safetensors"
LAYERS = ("w1", "b1", "w2", "b2", "w3", "b3")
_HEADER = "marl-mapper"


@dataclass
class Policy:
    """One policy an agent: two ReLU layers and a linear one.

    Attributes:
        layers: ``w1 (N, D, H)``, ``b1 (N, H)``, ``w2``, ``b2``, ``w3 (N, H, O)``, ``b3``.
        config: What it was trained on, and how.
        discrete: Its outputs are the logits of moves; else the means of actions in [0, 1].
    """

    layers: Mapping[str, NDArray[Any]]
    config: TrainConfig
    discrete: bool

    def __post_init__(self) -> None:
        self.seed(0)

    @classmethod
    def of(cls, learner: Learner[Any], config: TrainConfig) -> Policy:
        """The policies of a learner as they are now."""
        layers = [p.detach().cpu().contiguous().numpy().copy() for p in learner.acting_layers()]
        return cls(dict(zip(LAYERS, layers, strict=True)), config, learner.schema.discrete)

    def seed(self, seed: int) -> None:
        """Seed the exploration."""
        self._rng = make_generator(seed, 3)

    def act(self, obs: NDArray[np.float32], explore: bool = False) -> NDArray[Any]:
        """Choose actions.

        Args:
            obs: ``(W, N, D)`` observations.
            explore: Sample as in training; otherwise the likeliest move, or the mean.

        Returns:
            ``(W, N)`` moves, or ``(W, N, A)`` float32 in [0, 1].

        Raises:
            MpeError: Observations of another shape than those it was trained on.
        """
        weight, last = self.layers["w1"], self.layers["b3"]
        if obs.ndim != 3 or obs.shape[1:] != weight.shape[:2]:
            raise MpeError(
                f"observations are {obs.shape}; this policy expected (W, *{weight.shape[:2]}): "
                "another world, or another number of agents."
            )
        out = np.empty((*obs.shape[:2], last.shape[1]), dtype=last.dtype)
        outputs(np.ascontiguousarray(obs), *(self.layers[name] for name in LAYERS), out)
        learner = self.config.learner
        return choose(out, self.discrete, learner.soft, learner.noise, self._rng, explore)

    def save(self, path: str | Path) -> None:
        """Write it as a safetensors file, whole or not at all."""
        header = {"config": self.config.plain(), "discrete": self.discrete}
        arrays = {name: self.layers[name] for name in LAYERS}
        write_arrays(path, arrays, {_HEADER: json.dumps(header)})

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a file that :meth:`save` wrote; it holds numbers and text alone.

        Raises:
            MpeError: There is no such file, or it is no policy.
        """
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "numpy") as file:
                header = json.loads((file.metadata() or {})[_HEADER])
                layers = {name: file.get_tensor(name) for name in LAYERS}
            return cls(_checked(layers), TrainConfig.of(header["config"]), bool(header["discrete"]))
        except FileNotFoundError:
            raise MpeError(
                f"{path}: not found; expected the policy of a finished run. Train it to its end."
            ) from None
        except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
            raise MpeError(
                f"{path}: is no policy of a training run ({error}); expected a file that "
                "`mpe-marl export` wrote."
            ) from None


def _checked(layers: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The layers, if each one fits the next and all numbers are finite.

    Raises:
        ValueError: They do not.
    """
    n, _, hidden = layers["w1"].shape
    out = layers["b3"].shape[-1]
    expected = {
        "b1": (n, hidden), "w2": (n, hidden, hidden), "b2": (n, hidden),
        "w3": (n, hidden, out), "b3": (n, out),
    }  # fmt: skip
    for name, array in layers.items():
        if array.shape != expected.get(name, array.shape) or not np.isfinite(array).all():
            raise ValueError(f"layer {name} is {array.shape}, out of shape or not finite")
    return layers
