import copy
import math
from functools import partial

import numpy as np
import pytest
import torch

from sparse_training import SparseAdam, Structure
from tests.sparse_training.nets import Run, refuses


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_a_dense_run_is_one_of_torch(weight_decay: float) -> None:
    torch.manual_seed(0)
    mine = torch.nn.Linear(20, 10)
    theirs = copy.deepcopy(mine)
    a = SparseAdam(mine.parameters(), lr=0.01, clip=0.5, weight_decay=weight_decay)
    kind = torch.optim.AdamW if weight_decay else torch.optim.Adam
    b = kind(theirs.parameters(), lr=0.01, weight_decay=weight_decay)
    for _ in range(60):
        x = torch.randn(16, 20)
        for net in (mine, theirs):
            net.zero_grad()
            net(x).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        a.step()
        b.step()
    for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(p, q, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("state", "factor"), [("local", 1.0), ("reset", 3.162), ("local:10", 0.1)])
def test_first_step_of_a_new_weight(state: str, factor: float) -> None:
    """`local` moves it by lr, `reset` by 3.16 lr; a warm-up of 10 steps by a tenth."""
    run = Run(growth="set", optimizer_state=state, sparsity=0.6)
    for number in range(5001, 5001 + 3 * 20):
        run.update(number)
    for moments in run.optimizer._moments.values():
        moments.step += 200_000  # so old that the common count corrects nothing any more
        moments.births = [birth + 200_000 if birth else 0 for birth in moments.births]
    layer = run.net.layers[0]
    old = run.sparsifier.masks()["layer0"]
    run.sparsifier.step(0.4, run.optimizer)
    born = torch.from_numpy(run.sparsifier.masks()["layer0"] & ~old)
    assert born.any()
    before = layer.dense()
    run.update(0)
    moved = (layer.dense() - before)[born].abs()
    moved = moved[moved > 0]
    assert len(moved)
    assert moved.max().item() == pytest.approx(0.01 * factor, rel=1e-3)


def test_keep_gives_back_what_decay_has_left() -> None:
    run = Run(growth="set", optimizer_state="keep", sparsity=0.6)
    run.updates(0, 30)
    layer = run.sparsifier.layers["layer0"]
    moments = run.optimizer.moments(layer.weight)
    kept, at = moments.remains, 0
    unit, away = int(kept.units[at]), moments.step - int(kept.gone[at])
    first = kept.first[at].item() * 0.9**away
    structure = layer.structure
    chosen = Structure(structure.shape, "free", np.union1d(structure.kept, [unit]))
    run.optimizer.move(layer.weight, *layer.set_structure(chosen))
    assert moments.first.reshape(-1)[unit].item() == pytest.approx(first, rel=1e-12)
    assert unit not in moments.remains.units


def test_wrong_input() -> None:
    for message, options in (
        ("expected local, local:W", {"state": "lokal"}),
        ("expected local, local:W", {"state": "local:0"}),
        ("lr=-1.0: expected a number of at least 0", {"lr": -1.0}),
        ("lr=nan", {"lr": math.nan}),
        ("below 1", {"betas": (0.9, 1.0)}),
    ):
        weight = torch.nn.Parameter(torch.zeros(1))
        refuses(message, partial(SparseAdam, [weight], **options))
