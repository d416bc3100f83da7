"""A layer's forward and backward pass: kept weights alone against torch's dense product.

    python benchmarks/mast/kernels.py --csv docs/data/sparse-kernels.csv
    python benchmarks/mast/kernels.py --sizes 128x128x2400 --sparsities 0.9

One thread, its processor time, the fastest of the repeats, in which all kinds take turns. A pass is
what training does: the product, then the gradients of input and weight by autograd. *Calls* is
such a pass that computes nothing, and *moves* one of a layer that keeps a single weight: it reads
and writes all activations, which no sparsity saves. Sizes are outputs x inputs x rows.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from marl_common import atomic_write
from marl_runs import print_rows
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


def times_of(passes: dict[str, Pass], seconds: float) -> dict[str, float]:
    """Fastest time of each pass [s]; they take turns until each had its share of the seconds."""
    best = dict.fromkeys(passes, float("inf"))
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        for name, one in passes.items():
            start = time.thread_time()
            one()
            best[name] = min(best[name], time.thread_time() - start)
    return best


def measure(size: str, sparsities: list[float], args: argparse.Namespace) -> list[dict[str, Any]]:
    """One row a sparsity."""
    outputs, inputs, rows = (int(part) for part in size.split("x"))
    torch.manual_seed(0)
    x, above = torch.randn(inputs, rows, requires_grad=True), torch.randn(outputs, rows)
    weight, fixed = torch.randn(outputs, inputs), x.detach()
    found = []
    for sparsity in sparsities:
        layers = {"dense": SparseLinear(inputs, outputs, bias=False, layout="columns")}
        for unit in ("free", "block4"):
            layers[unit] = sparse_layer(outputs, inputs, sparsity, unit)
        passes = {name: layer_pass(layer, x, above) for name, layer in layers.items()}
        passes["calls"] = calls_pass(layers["free"], x, above)
        passes["moves"] = moves_pass(layers["free"], x, above)
        passes |= {"mm": lambda: weight @ fixed, "csr": csr_pass(layers["free"], fixed)}
        for one in passes.values():
            one()
        best = times_of(passes, args.seconds)
        found.append(
            {"layer": f"{outputs} x {inputs}", "rows": rows, "sparsity": sparsity}
            | {f"{name} ms": f"{1e3 * best[name]:.3f}" for name in (*layers, "calls", "moves")}
            | {f"{unit} times": f"{best['dense'] / best[unit]:.2f}" for unit in ("free", "block4")}
            | {"torch CSR forward times": f"{best['mm'] / best['csr']:.2f}"}
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--sparsities", nargs="+", type=float, default=[0.8, 0.9, 0.95])
    parser.add_argument("--seconds", type=float, default=4.0, help="of each size and sparsity")
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = [row for size in args.sizes for row in measure(size, args.sparsities, args)]
    print_rows("A layer forward and backward, processor time of one thread", rows)
    if args.csv:
        with atomic_write(args.csv) as draft, draft.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
