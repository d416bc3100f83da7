"""One step of an exported team beside dense ones: NumPy's products, and torch's.

    python -m benchmarks mast.acting

One thread, processor time; all take turns in one process, so that another's load cancels. An
exported team multiplies its kept weights with no PyTorch; a dense team of equal widths is three
products with `numpy.matmul` or `torch.nn.functional.linear`, whichever is faster. `counted` is how
many times fewer operations the kept weights are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from torch.nn.functional import linear

from benchmarks.frame import Table, in_turns
from marl_runs import make_generator
from mast.algorithms import make_value_learner
from mast.config import MastConfig
from mast.exporting import SparsePolicy
from mast.tasks import TeamWorlds, find_task

SPARSITIES = (0.9, 0.95)
Step = Callable[[], Any]


def dense_steps(policy: SparsePolicy, obs: np.ndarray[Any, Any]) -> dict[str, Step]:
    """A dense team of the same widths, twice: features first with NumPy, rows first with torch."""
    rng, x = make_generator(1), obs.reshape(len(obs), -1)
    layers = [policy.nets[0][name] for name in ("first", "second", "values")]
    weights = [rng.standard_normal((len(k.ends), k.inputs), dtype=np.float32) for k in layers]
    biases = [layer.bias for layer in layers]
    rows = torch.from_numpy(np.ascontiguousarray(x.T))
    pairs = [
        (torch.from_numpy(w), torch.from_numpy(b)) for w, b in zip(weights, biases, strict=True)
    ]

    def by_numpy() -> Any:
        y = x
        for place, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            y = weight @ y + bias[:, None]
            if place < 2:
                np.maximum(y, 0, out=y)
        return y

    @torch.no_grad()
    def by_torch() -> Any:
        y = rows
        for place, (weight, bias) in enumerate(pairs):
            y = linear(y, weight, bias)
            if place < 2:
                y = y.relu_()
        return y

    return {"numpy": by_numpy, "torch": by_torch}


def measure(given: Any, task: str, hidden: int, worlds: int) -> list[tuple[Any, ...]]:
    """One row a sparsity."""
    torch.set_num_threads(1)
    shape = TeamWorlds(find_task(task), 1).shape
    base = MastConfig(task=task, hidden=hidden, backend="compiled")
    sparse = {}
    for s in SPARSITIES:  # teams at their start: time does not depend on what was learnt
        config = MastConfig.of({**base.plain(), "sparsity": s})
        sparse[s] = SparsePolicy.of(make_value_learner(config, shape, total=1))
    size = (shape.obs_dim + shape.n_agents, shape.n_agents, worlds)
    obs = make_generator(0).standard_normal(size, dtype=np.float32)
    steps: dict[Any, Step] = dict(dense_steps(sparse[0.9], obs))
    steps |= {s: (lambda policy=policy: policy.values(obs)) for s, policy in sparse.items()}
    in_a_row = max(1, 400 // worlds)
    works = {name: (lambda step=step: [step() for _ in range(in_a_row)])
             for name, step in steps.items()}  # fmt: skip
    taken = in_turns(works, given.repeats + 1)  # the first compiles
    seconds = {name: np.array(values[1:]) / in_a_row for name, values in taken.items()}
    median = {name: float(np.median(values)) for name, values in seconds.items()}
    dense = min(("numpy", "torch"), key=lambda name: median[name])
    whole = sum(k.inputs * len(k.ends) for k in sparse[0.9].nets[0].values())
    return [
        (
            *(s, dense, f"{1e6 * median[dense]:.6g}", f"{1e6 * median[s]:.6g}"),
            f"{np.median(seconds[dense] / seconds[s]):.6g}",
            f"{whole / sum(len(k.values) for k in policy.nets[0].values()):.6g}",
        )
        for s, policy in sparse.items()
    ]


TABLE = Table(
    __doc__,
    (
        *("task", "hidden", "worlds", "sparsity", "dense_by", "dense_us", "sparse_us"),
        *("times_faster", "counted"),
    ),
    lambda given: product([given.task], given.hidden, given.worlds),
    measure,
    "mast-acting.csv",
    {
        "task": "tag-3",
        "hidden": [64, 256],
        "worlds": [1, 32, 1024],
        "repeats": (20, "turns of each"),
    },
    {"repeats": 1},
)
