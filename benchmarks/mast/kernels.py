"""A layer's forward and backward pass: kept weights alone against torch's dense product.

    python -m benchmarks mast.kernels --out docs/data/sparse-kernels.csv
    python -m benchmarks mast.kernels --sizes 128x128x2400 --sparsities 0.9

One thread, its processor time, the fastest of the repeats, in which all kinds take turns. A pass is
what training does: the product, then the gradients of input and weight by autograd. *Calls* is
such a pass that computes nothing, and *moves* one of a layer that keeps a single weight: it reads
and writes all activations, which no sparsity saves. Sizes are outputs x inputs x rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.frame import Table, in_turns
from sparse_training import SparseLinear, Sparsifier, SparsityConfig, Structure

SIZES = (
    "64x64x800", "64x64x2400", "128x128x800", "128x128x2400", "256x256x800", "256x256x2400",
    "512x128x4096", "128x512x4096",
)  # fmt: skip
Pass = Callable[[], object]


def layer_pass(layer: SparseLinear, x: Tensor, above: Tensor) -> Pass:
    """One forward and backward pass."""
    return lambda: torch.autograd.grad(layer(x), (x, layer.weight), above)


class Nothing(torch.autograd.Function):
    """Hands out tensors that are there already, called as the compiled products are."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, values: Tensor, bias: None, made: Tensor) -> Tensor:
        """Save what a product saves."""
        ctx.save_for_backward(x, values, bias)
        return made.view_as(made)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Two gradients of the right shapes."""
        x, values, _ = ctx.saved_tensors
        return x, values, None, None


def calls_pass(layer: SparseLinear, x: Tensor, above: Tensor) -> Pass:
    """The calls of :func:`layer_pass` without its products."""
    apply: Any = Nothing.apply
    weight = layer.weight
    return lambda: torch.autograd.grad(apply(x, weight, None, above), (x, weight), above)


def sparse_layer(outputs: int, inputs: int, sparsity: float, unit: Any) -> SparseLinear:
    """A compiled layer of a drawn structure."""
    layer = SparseLinear(inputs, outputs, bias=False, layout="columns", backend="compiled")
    config = SparsityConfig(sparsity, rule="uniform", unit=unit)
    Sparsifier({"layer": layer}, config, seed=0).attach()
    return layer


def moves_pass(layer: SparseLinear, x: Tensor, above: Tensor) -> Pass:
    """A pass of a layer of this shape that keeps one weight."""
    one = SparseLinear(*layer.shape[::-1], bias=False, layout="columns", backend="compiled")
    one.set_structure(Structure(layer.shape, "free", np.zeros(1, dtype=np.int64)))
    return layer_pass(one, x, above)


def csr_pass(layer: SparseLinear, x: Tensor) -> Pass:
    """Torch's own sparse product, forward; it has no gradient at the kept weights alone."""
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
    matrix = layer.dense().to_sparse_csr()
    return lambda: matrix @ x


def measure(given: Any, layer: str, rows: int, sparsity: float) -> tuple[str, ...]:
    """A layer at a sparsity."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    outputs, inputs = map(int, layer.split(" x "))
    x, above = torch.randn(inputs, rows, requires_grad=True), torch.randn(outputs, rows)
    weight, fixed = torch.randn(outputs, inputs), x.detach()
    layers = {"dense": SparseLinear(inputs, outputs, bias=False, layout="columns")}
    for unit in UNITS:
        layers[unit] = sparse_layer(outputs, inputs, sparsity, unit)
    passes = {name: layer_pass(one, x, above) for name, one in layers.items()}
    passes["calls"] = calls_pass(layers["free"], x, above)
    passes["moves"] = moves_pass(layers["free"], x, above)
    passes |= {"mm": lambda: weight @ fixed, "csr": csr_pass(layers["free"], fixed)}
    for one in passes.values():
        one()
    times = in_turns(passes, seconds=given.seconds, clock=time.thread_time)
    best = {name: min(taken) for name, taken in times.items()}
    ratios = [(best["dense"], best[unit]) for unit in UNITS] + [(best["mm"], best["csr"])]
    shown = (f"{1e3 * best[name]:.3f}" for name in TIMED)
    return *shown, *(f"{slow / fast:.2f}" for slow, fast in ratios)


def keys(given: Any) -> Iterator[tuple[str, int, float]]:
    """Layers and rows at all sparsities."""
    for size, sparsity in product(given.sizes, given.sparsities):
        outputs, inputs, rows = size.split("x")
        yield f"{outputs} x {inputs}", int(rows), sparsity


UNITS = ("free", "block4")
TIMED = ("dense", *UNITS, "calls", "moves")
TABLE = Table(
    __doc__,
    (
        *("layer", "rows", "sparsity", *(f"{name} ms" for name in TIMED)),
        *(*(f"{unit} times" for unit in UNITS), "torch CSR forward times"),
    ),
    keys,
    measure,
    options={
        "sizes": list(SIZES),
        "sparsities": [0.8, 0.9, 0.95],
        "seconds": (4.0, "of each size and sparsity"),
    },
    quick={"seconds": 0.05},
)
