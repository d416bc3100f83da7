"""A square layer in training, samples first: `SparseLinear`, `nn.Linear`, torch's sparse tensors.

    python benchmarks/sparse_layer.py --csv docs/data/sparse-layer.csv
    python benchmarks/sparse_layer.py --units 256 --rows 512 --sparsities 0.9

A step is forward, backward (input and weight) and Adam, of one thread; its processor time is the
fastest of the repeats, in which all kinds take turns, so that what else the machine does meets all
of them; *median* columns are of the same repeats. *Columns* is layout ``columns`` with its input
features first already. Torch's CSR tensor has a step by SGD, which no optimiser of torch does for
it. 2:4 is torch's `to_sparse_semi_structured`, which keeps half of the weights; its column says so
where torch refuses the device.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.sparse import to_sparse_semi_structured

from marl_common import atomic_write
from marl_runs import print_rows
from sparse_training import Layout, SparseLinear, Sparsifier, SparsityConfig, Unit

Step = Callable[[], object]
LR = 1e-3


def step_of(layer: torch.nn.Module, x: Tensor, above: Tensor) -> Step:
    """Forward, backward and Adam."""
    given, optimizer = x.clone().requires_grad_(), torch.optim.Adam(layer.parameters(), LR)

    def step() -> None:
        optimizer.zero_grad()
        layer(given).backward(above)
        optimizer.step()

    return step


def sparse_layer(units: int, sparsity: float, unit: Unit, layout: Layout) -> SparseLinear:
    """A compiled layer of a drawn structure."""
    layer = SparseLinear(units, units, layout=layout, backend="compiled")
    Sparsifier({"layer": layer}, SparsityConfig(sparsity, "uniform", unit)).attach()
    return layer


def csr_step(layer: SparseLinear, x: Tensor, above: Tensor) -> Step:
    """The same of torch's compressed rows, whose gradient torch masks."""
    weight = layer.dense().to_sparse_csr().requires_grad_()
    bias = torch.zeros(layer.out_features, 1, requires_grad=True)
    given, bias_step = x.clone().requires_grad_(), torch.optim.SGD([bias], LR)

    def step() -> None:
        weight.grad = None
        bias_step.zero_grad()
        (torch.sparse.mm(weight, given.t()) + bias).t().backward(above)
        bias_step.step()
        with torch.no_grad():
            weight.values().sub_(weight.grad.values(), alpha=LR)  # type: ignore[union-attr]

    return step


def semi_structured_step(layer: SparseLinear, x: Tensor, above: Tensor) -> Step | None:
    """The same with a fixed 2:4 tensor of torch; None where torch refuses the device."""
    weight = layer.dense() * torch.tensor([0.0, 0.0, 1.0, 1.0]).tile(layer.in_features // 4)
    try:
        held = to_sparse_semi_structured(weight)
    except RuntimeError:
        return None
    given = x.clone().requires_grad_()
    return lambda: linear(given, held).backward(above)


def times_of(steps: dict[str, Step], seconds: float) -> dict[str, list[float]]:
    """Processor times of each step [s]; they take turns until all had their share together."""
    for step in steps.values():
        step()
    found: dict[str, list[float]] = {name: [] for name in steps}
    until = time.thread_time() + seconds
    while time.thread_time() < until or len(next(iter(found.values()))) < 5:
        for name, step in steps.items():
            start = time.thread_time()
            step()
            found[name].append(time.thread_time() - start)
    return found


def measure(units: int, rows: int, sparsity: float, args: argparse.Namespace) -> dict[str, Any]:
    """One row of the table."""
    torch.manual_seed(0)
    x, above = torch.randn(rows, units), torch.randn(rows, units)
    free = sparse_layer(units, sparsity, "free", "rows")
    block4 = sparse_layer(units, sparsity, "block4", "rows")
    steps = {
        "dense": step_of(torch.nn.Linear(units, units), x, above),
        "free": step_of(free, x, above),
        "block4": step_of(block4, x, above),
        "columns": step_of(
            sparse_layer(units, sparsity, "free", "columns"), x.t().contiguous(),
            above.t().contiguous(),
        ),
    }  # fmt: skip
    if not args.no_csr:
        steps["CSR"] = csr_step(free, x, above)
    semi = semi_structured_step(free, x, above)
    if semi is not None:
        steps["2:4"] = semi
    found = times_of(steps, args.seconds)
    least = {name: min(times) for name, times in found.items()}
    middle = {name: median(times) for name, times in found.items()}
    kinds = [name for name in steps if name != "dense"]
    return (
        {"units": units, "rows": rows, "sparsity": sparsity}
        | {f"{name} ms": f"{1e3 * seconds:.3f}" for name, seconds in least.items()}
        | {f"{name} times": f"{least['dense'] / least[name]:.2f}" for name in kinds}
        | {f"{name} median times": f"{middle['dense'] / middle[name]:.2f}" for name in kinds[:2]}
        | ({} if "2:4" in steps else {"2:4 times": "refused"})
    )


def main() -> None:
    """Measure all sizes and sparsities."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", nargs="+", type=int, default=[64, 128, 256, 512, 1024])
    parser.add_argument("--rows", nargs="+", type=int, default=[512, 1024, 2048, 4096])
    parser.add_argument("--sparsities", nargs="+", type=float, default=[0.5, 0.8, 0.9, 0.95])
    parser.add_argument("--seconds", type=float, default=3.0, help="processor time of a row")
    parser.add_argument("--no-csr", action="store_true", help="leave torch's sparse tensors out")
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
    found = [
        measure(units, rows, sparsity, args)
        for units in args.units
        for rows in args.rows
        for sparsity in args.sparsities
    ]
    print_rows("A layer in training, processor time of one thread", found)
    if args.csv is not None:
        with atomic_write(args.csv) as draft, draft.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
