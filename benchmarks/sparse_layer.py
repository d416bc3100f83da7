"""A square layer in training, samples first: `SparseLinear`, `nn.Linear`, torch's sparse tensors.

    python -m benchmarks sparse_layer --seconds 1
    python -m benchmarks sparse_layer --units 256 --rows 512 --sparsities 0.9 --out FILE

A step is forward, backward (input and weight) and Adam, of one thread; its processor time is the
fastest of the repeats, in which all kinds take turns, so that what else the machine does meets all
of them; *median* columns are of the same repeats. *Columns* is layout ``columns`` with its input
features first already. Torch's CSR tensor has a step by SGD, which no optimiser of torch does for
it. 2:4 is torch's `to_sparse_semi_structured`, which keeps half of the weights; its column says so
where torch refuses the device.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.sparse import to_sparse_semi_structured

from benchmarks.frame import Table, in_turns
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


def measure(given: Any, units: int, rows: int, sparsity: float) -> tuple[str, ...]:
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
        "CSR": csr_step(free, x, above),
    }  # fmt: skip
    semi = semi_structured_step(free, x, above)
    if semi is not None:
        steps["2:4"] = semi
    for step in steps.values():
        step()
    found = in_turns(steps, 5, given.seconds, time.thread_time)
    least = {name: min(times) for name, times in found.items()}
    middle = {name: median(times) for name, times in found.items()}
    return (
        *(f"{1e3 * least[name]:.3f}" for name in KINDS),
        *(f"{least['dense'] / least[name]:.2f}" for name in KINDS[1:]),
        *(f"{middle['dense'] / middle[name]:.2f}" for name in KINDS[1:3]),
        f"{least['dense'] / least['2:4']:.2f}" if semi else "refused",
    )


def keys(given: Any) -> Iterator[tuple[int, int, float]]:
    """All sizes and sparsities."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
    yield from product(given.units, given.rows, given.sparsities)


KINDS = ("dense", "free", "block4", "columns", "CSR")
TABLE = Table(
    __doc__,
    (
        *("units", "rows", "sparsity", *(f"{name} ms" for name in KINDS)),
        *(f"{name} times" for name in KINDS[1:]),
        *(f"{name} median times" for name in KINDS[1:3]),
        "2:4 times",
    ),
    keys,
    measure,
    "sparse-layer.csv",
    {
        "units": [64, 128, 256, 512, 1024],
        "rows": [512, 1024, 2048, 4096],
        "sparsities": [0.5, 0.8, 0.9, 0.95],
        "seconds": (3.0, "processor time of a row"),
    },
    {"seconds": 0.01},
)
