"""The same model as PyTorch users write it, rows first: the yardstick of speed and of tests."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, gelu, linear, scaled_dot_product_attention

from mst.config import GptShape
from mst.model import SparseGpt
from mst.norm import EPSILON


class PlainBlock(torch.nn.Module):
    """Attention and a perceptron of `torch.nn` layers."""

    def __init__(self, shape: GptShape, **options: Any) -> None:
        super().__init__()
        width, inner = shape.width, shape.inner
        self.heads = shape.heads
        options["bias"] = False
        self.attention_norm = torch.nn.LayerNorm(width, EPSILON, **options)
        self.qkv = torch.nn.Linear(width, 3 * width, **options)
        self.projection = torch.nn.Linear(width, width, **options)
        self.perceptron_norm = torch.nn.LayerNorm(width, EPSILON, **options)
        self.expand = torch.nn.Linear(width, inner, **options)
        self.contract = torch.nn.Linear(inner, width, **options)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` to the same."""
        windows, length, width = x.shape
        qkv = self.qkv(self.attention_norm(x)).view(windows, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(windows, length, width))
        hidden = gelu(self.expand(self.perceptron_norm(x)), approximate="tanh")
        y: Tensor = x + self.contract(hidden)
        return y


class PlainGpt(torch.nn.Module):
    """The dense model; takes its first weights from a :class:`SparseGpt`.

    Args:
        model: What it is a copy of.
    """

    def __init__(self, model: SparseGpt) -> None:
        super().__init__()
        shape, weight = model.shape, model.head.weight
        options: dict[str, Any] = {"device": weight.device, "dtype": weight.dtype}
        self.embedding = torch.nn.Embedding(shape.vocabulary, shape.width, **options)
        self.positions = torch.nn.Parameter(torch.empty_like(model.positions))
        self.blocks = torch.nn.ModuleList(PlainBlock(shape, **options) for _ in range(shape.layers))
        self.last_norm = torch.nn.LayerNorm(shape.width, EPSILON, bias=False, **options)
        state = {k: v for k, v in model.state_dict().items() if k != "head.weight"}
        self.load_state_dict({**state, "embedding.weight": weight})

    def loss(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy [nat/byte] of ``(B, T)`` targets."""
        x = self.embedding(inputs) + self.positions[: inputs.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = linear(self.last_norm(x), self.embedding.weight)
        return cross_entropy(logits.flatten(0, 1), targets.reshape(-1))
