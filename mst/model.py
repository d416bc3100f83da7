"""A GPT-2 style model over tokens, features first, whose linear layers may be sparse.

Source: Radford et al., Language models are unsupervised multitask learners, 2019: learned
positions, norms before each part, GELU, a head tied to the embedding. No layer has a bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding, linear
from torch.nn.functional import gelu as torch_gelu

from mst.attention import PATTERNS, Attention
from mst.config import HEAD, GptShape
from mst.norm import FeatureNorm
from sparse_training import Backend, SparseLinear, gelu

FUSED = (torch.float32, torch.float64)
"""Types of numbers that the fused kernels know."""
INIT_STD = 0.02
"""Standard deviation of the first weights; GPT-2's."""


class Block(torch.nn.Module):
    """Attention and a perceptron, each behind a norm and added to its input.

    Args:
        shape: The model's.
        backend: How sparse layers are multiplied.
        options: Device and type of the weights.
    """

    def __init__(self, shape: GptShape, backend: Backend, **options: Any) -> None:
        super().__init__()
        self._heads = shape.heads
        width, inner = shape.width, shape.inner

        def layer(inputs: int, outputs: int) -> SparseLinear:
            return SparseLinear(
                inputs, outputs, bias=False, layout="columns", backend=backend, **options
            )

        self.attention_norm = FeatureNorm(width, **options)
        self.qkv, self.projection = layer(width, 3 * width), layer(width, width)
        self.perceptron_norm = FeatureNorm(width, **options)
        self.expand, self.contract = layer(width, inner), layer(inner, width)
        self.learned = torch.nn.ModuleDict()

    def learn_patterns(self, patterns: Sequence[str], shape: GptShape, **options: Any) -> None:
        """Make what attention patterns learn, of those that learn anything."""
        for pattern in patterns:
            made = PATTERNS.make(pattern).module(shape.heads, shape.context)
            if made is not None:
                self.learned[_key(pattern)] = made.to(**options)

    def forward(self, x: Tensor, windows: int, attention: Attention) -> Tensor:
        """One block.

        Args:
            x: ``(D, B T)``.
            windows: B.
            attention: Its pattern.
        """
        qkv = self.qkv(self.attention_norm(x))
        learned = self.learned[_key(attention.pattern)] if self._learns(attention) else None
        mixed = attention(qkv, self._heads, windows, learned)
        x = x + self.projection(mixed)
        inner = self.expand(self.perceptron_norm(x))
        fused = inner.is_cpu and inner.dtype in FUSED and not torch.compiler.is_compiling()
        hidden = gelu(inner) if fused else torch_gelu(inner, approximate="tanh")
        y: Tensor = x + self.contract(hidden)
        return y

    def _learns(self, attention: Attention) -> bool:
        return len(self.learned) > 0 and _key(attention.pattern) in self.learned


def _key(pattern: str) -> str:
    """A pattern as a name of a module, which has no dots."""
    return pattern.replace(".", "_")


class SparseGpt(torch.nn.Module):
    """The model.

    Args:
        shape: Its shape.
        seed: Draws the first weights.
        mask_head: Whether the tied head can have a mask; it is multiplied under it, dense.
        backend: How sparse layers of the blocks are multiplied.
        patterns: Attention patterns that it will have, as some learn something.
        options: Device and type of the weights.
    """

    def __init__(
        self,
        shape: GptShape,
        seed: int = 0,
        *,
        mask_head: bool = False,
        backend: Backend = "masked",
        patterns: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__()
        self.shape, self.mask_head = shape, mask_head
        self.head = SparseLinear(
            shape.width, shape.vocabulary, bias=False, layout="columns", **options
        )
        self.positions = torch.nn.Parameter(torch.empty(shape.context, shape.width, **options))
        self.blocks = torch.nn.ModuleList(
            Block(shape, backend, **options) for _ in range(shape.layers)
        )
        self.last_norm = FeatureNorm(shape.width, **options)
        self._draw(seed)
        for block in self.blocks:
            assert isinstance(block, Block)
            block.learn_patterns(patterns, shape, **options)

    @torch.no_grad()
    def _draw(self, seed: int) -> None:
        """GPT-2's first weights, drawn on the processor so that devices agree."""
        generator = torch.Generator().manual_seed(seed)
        residual = INIT_STD * (2 * self.shape.layers) ** -0.5
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                narrow = name.endswith(("projection.weight", "contract.weight"))
                drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                parameter.copy_(drawn * (residual if narrow else INIT_STD))

    def sparse_layers(self) -> dict[str, SparseLinear]:
        """Name -> layer of all that may be sparse."""
        layers = {
            f"{i}.{name}": getattr(block, name)
            for i, block in enumerate(self.blocks)
            for name in ("qkv", "projection", "expand", "contract")
        }
        return {**layers, HEAD: self.head} if self.mask_head else layers

    def forward(self, tokens: Tensor, attention: Attention | None = None) -> Tensor:
        """``(B, T)`` int64 to ``(B T, V)`` logits of the next token.

        Args:
            tokens: B windows.
            attention: Its pattern; dense where None.
        """
        attention = attention or Attention()
        windows, length = tokens.shape
        x = embedding(tokens, self._embedding()) + self.positions[:length]
        x = x.view(windows * length, -1).t().contiguous()
        for block in self.blocks:
            x = block(x, windows, attention)
        x = self.last_norm(x)
        if self.mask_head:
            logits: Tensor = self.head(x)
            return logits.t()
        return linear(x.t(), self.head.weight)

    def _embedding(self) -> Tensor:
        """The tied weight; a masked head hides its weights from look-ups and their gradient."""
        if self.head.structure is None or self.head.structure.full:
            return self.head.weight
        return self.head.weight * self.head.mask()

    def loss(self, inputs: Tensor, targets: Tensor, attention: Attention | None = None) -> Tensor:
        """Mean cross entropy [nat/token] of ``(B, T)`` targets."""
        return cross_entropy(self(inputs, attention), targets.reshape(-1))
