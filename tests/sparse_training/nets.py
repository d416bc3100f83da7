"""Small networks that tests of sparse training teach."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from sparse_training import (  # fmt: skip
    Backend,
    SparseAdam,
    SparseLinear,
    SparseTrainingError,
    Sparsifier,
    SparsityConfig,
)


def refuses(says: str, call: Callable[..., object], *args: Any) -> None:
    """A call ends in an error of one line that holds a text."""
    with pytest.raises(SparseTrainingError, match=says) as refused:
        call(*args)
    assert "\n" not in str(refused.value)


SIZES = ((10, 7), (9, 10), (5, 9))
"""Outputs and inputs of the layers."""


def perceptron() -> torch.nn.Sequential:
    """Three plain layers of 16 features to 3."""
    torch.manual_seed(1)
    first, second, last = (torch.nn.Linear(*size) for size in ((16, 24), (24, 24), (24, 3)))
    return torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.ReLU(), last)


class Net(torch.nn.Module):
    """Three layers, the first two with ReLU."""

    def __init__(self, backend: Backend, dtype: torch.dtype, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.layers = torch.nn.ModuleList(
            SparseLinear(
                inputs, outputs, layout="columns", activation="relu" if place < 2 else None,
                backend=backend, generator=generator, dtype=dtype,
            )
            for place, (outputs, inputs) in enumerate(SIZES)
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Run:
    """A network that learns random targets, with a topology step every third update."""

    def __init__(
        self,
        backend: Backend = "masked",
        dtype: torch.dtype = torch.float64,
        data: int = 0,
        attach: bool = True,
        device: str = "cpu",
        **config: Any,
    ) -> None:
        self.config = SparsityConfig(**{"sparsity": 0.6, **config})
        self.net = Net(backend, dtype).to(device)
        layers = {f"layer{i}": layer for i, layer in enumerate(self.net.layers)}
        self.sparsifier = Sparsifier(layers, self.config, seed=3)
        if attach:
            self.sparsifier.attach()
        self.optimizer = SparseAdam(
            self.net.parameters(), lr=0.01, clip=5.0, state=self.config.optimizer_state
        )
        self.generator = torch.Generator().manual_seed(data)
        self.dtype, self.device = dtype, device

    def update(self, number: int, sparsity: float | None = None) -> float:
        """One update; the third, sixth and so on change the masks."""
        x = torch.randn(SIZES[0][1], 33, generator=self.generator, dtype=self.dtype)
        aim = torch.randn(SIZES[-1][0], 33, generator=self.generator, dtype=self.dtype)
        x, aim = x.to(self.device), aim.to(self.device)
        topology = number % 3 == 2
        if topology:
            self.sparsifier.want_gradients()
        self.optimizer.zero_grad()
        loss = (self.net(x) - aim).square().mean()
        loss.backward()
        self.optimizer.step()
        if topology:
            self.sparsifier.step(0.4, self.optimizer, sparsity)
        return loss.item()

    def updates(
        self, first: int, last: int, each: Callable[[], None] = lambda: None
    ) -> list[float]:
        """Losses of updates `first` to `last` - 1."""
        losses = []
        for number in range(first, last):
            losses.append(self.update(number))
            each()
        return losses

    def state(self) -> dict[str, Any]:
        """All that a run goes on from."""
        return {
            "net": {k: v.clone() for k, v in self.net.state_dict().items()},
            "sparsifier": self.sparsifier.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.sparsifier.load_state_dict(state["sparsifier"])
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
