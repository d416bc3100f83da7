"""Layers that are multiplied together: one function of torch, and one pass over the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from sparse_training.errors import SparseTrainingError
from sparse_training.kernels.compiled_pass import CompiledPass, LayerPlace, PassExtent
from sparse_training.linear import SparseLinear
from sparse_training.structure import BLOCK

FEW_OUTPUTS = 8
"""Outputs up to which a layer that keeps all its weights is multiplied as a sparse one."""


class FusedLayers:
    """Several sparse layers, each of which reads the input or rows of a layer before it.

    What they give is what they give one by one, number by number (to rounding where a layer keeps
    all its weights), in a fraction of the calls, and without copying what lies between them.

    Args:
        layers: In an order in which each comes after what it reads.
        reads: The first row that each layer reads: those of the input come first, then those of
            each layer in turn. The input may be read by several layers, every other row that is
            not of the result by one.
        results: How many layers at the end give the result.

    Raises:
        SparseTrainingError: A layer reads rows of several others, or of one after it, a row is
            read twice or not at all, the numbers of layers do not fit, or a layout is not columns.
    """

    def __init__(
        self, layers: Sequence[SparseLinear], reads: Sequence[int], results: int = 1
    ) -> None:
        if any(layer.layout != "columns" for layer in layers):
            raise SparseTrainingError("layers of layout 'rows'; expected 'columns' to fuse them.")
        self._layers = tuple(layers)
        self._inputs = layers[0].in_features
        self._places, self._extent, self._aligned = _placed(self._layers, reads, results)
        self._pass: CompiledPass | None = None

    def __call__(self, x: Tensor) -> Tensor | None:
        """``(inputs, rows)`` to the outputs of the layers of the result, one below the other.

        Returns:
            ``(results, rows)``; None where the layers are to be called one by one: one is not
            sparse and compiled, or wants its dense gradient, the input needs a gradient, or it is
            none that they take.
        """
        weights = [_weights(layer) for layer in self._layers]
        if x.requires_grad or x.dim() != 2 or len(x) != self._inputs or not x.is_cpu:
            return None
        for layer, (weight, _) in zip(self._layers, weights, strict=True):
            if x.dtype is not weight.dtype or not _served(layer, weight):
                return None
            if weight.dim() == 3 and not self._aligned:
                return None
        if not torch.is_grad_enabled():
            y, _ = self.compiled_pass().forward(x.contiguous(), weights, keep=False)
            return y
        flat = [tensor for pair in weights for tensor in pair]
        product: Tensor = FusedProduct.apply(x, self, *flat)  # type: ignore[no-untyped-call]
        return product

    def compiled_pass(self) -> CompiledPass:
        """The pass over the structures that the layers have now."""
        indices = [layer.index() for layer in self._layers]
        if self._pass is None or not self._pass.reads(indices):
            blocks = [_weights(layer)[0].dim() == 3 for layer in self._layers]
            shapes = [layer.shape for layer in self._layers]
            kept = list(zip(indices, shapes, blocks, strict=True))
            self._pass = CompiledPass(kept, self._places, self._extent)
        return self._pass

    def __getstate__(self) -> dict[str, Any]:
        """All but the pass, which holds addresses of the layers that are copied."""
        return {**vars(self), "_pass": None}


class FusedProduct(torch.autograd.Function):
    """See :class:`FusedLayers`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, fused: FusedLayers, *weights: Tensor | None) -> Tensor:
        """Multiply; keeps the tiles of input and outputs."""
        made = fused.compiled_pass()
        y, tiles = made.forward(x.contiguous(), _pairs(weights), keep=True)
        ctx.made = made
        ctx.save_for_backward(tiles, *weights)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of weights and biases."""
        tiles, *weights = ctx.saved_tensors
        return None, None, *ctx.made.backward(tiles, gradients[0].contiguous(), _pairs(weights))


def _weights(layer: SparseLinear) -> tuple[Tensor, Tensor | None]:
    held = layer._parameters  # attributes of a module take long to find
    weight = held["weight"]
    assert weight is not None
    return weight, held.get("bias")


def _served(layer: SparseLinear, weight: Tensor) -> bool:
    """Whether kernels multiply this layer."""
    if layer.wants_gradient or layer.structure is None or layer.backend != "compiled":
        return False
    return weight.dim() != 2 or (layer.structure.full and layer.out_features <= FEW_OUTPUTS)


def _pairs(weights: Sequence[Any]) -> list[tuple[Tensor, Tensor | None]]:
    return list(zip(weights[::2], weights[1::2], strict=True))


def _placed(
    layers: Sequence[SparseLinear], reads: Sequence[int], results: int
) -> tuple[list[LayerPlace], PassExtent, bool]:
    """Where layers stand, rows of the pass, and whether blocks read nothing of their neighbours."""
    if len(reads) != len(layers) or not 1 <= results <= len(layers):
        raise SparseTrainingError(
            f"{len(layers)} layers, {len(reads)} first rows and {results} results; expected a row "
            "for each layer, and at least one of them as result."
        )
    sizes = [layers[0].in_features, *(layer.out_features for layer in layers)]
    firsts = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    whole = [-(-size // BLOCK) * BLOCK for size in sizes]
    rounded = [sum(whole[:i]) for i in range(len(whole) + 1)]
    inner, read, aligned = firsts[len(sizes) - results], [0] * firsts[-1], True
    places = []
    for number, (layer, row) in enumerate(zip(layers, reads, strict=True)):
        wide = layer.in_features
        of = next((i for i in range(number + 1) if firsts[i] <= row < firsts[i + 1]), None)
        if of is None or row + wide > firsts[of + 1]:
            raise SparseTrainingError(
                f"layer {number} reads rows {row} to {row + wide - 1}; expected rows of the input "
                "or of one layer before it."
            )
        for i in range(row, row + wide):
            read[i] += 1
        at = row - firsts[of]
        ends = row + wide == firsts[of + 1] and at % BLOCK == 0
        aligned = aligned and (wide % BLOCK == 0 or ends)
        gives, result = rounded[number + 1], max(-1, firsts[number + 1] - inner)
        places.append(LayerPlace(rounded[of] + at, gives, result, layer.activation == "relu"))
    wrong = [i for i in range(sizes[0], firsts[-1]) if read[i] != (i < inner)]
    if wrong:
        raise SparseTrainingError(
            f"row {wrong[0]} is read {read[wrong[0]]} times; expected rows between the layers to "
            "be read once, and none of the result."
        )
    return places, PassExtent(sizes[0], rounded[-1], firsts[-1] - inner), aligned
