"""Several processes of one training, and what FSDP is told."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed
from torch.nn.parallel import DistributedDataParallel

from sparse_training import (
    MaskSchedule,
    ModelSparsifier,
    SparseTrainingError,
    SparsityConfig,
    sparsify,
)
from tests.sparse_training.nets import perceptron

UPDATES = 11


def masked_model(seed: int = 5, **schedule: Any) -> tuple[torch.nn.Sequential, ModelSparsifier]:
    """A model of one draw; `seed` draws its masks."""
    model = perceptron()
    config = SparsityConfig(0.7, every=3)
    return model, sparsify(model, config, schedule=MaskSchedule(end=9, **schedule), seed=seed)


def batch(update: int, rank: int) -> Tensor:
    return torch.randn(10, 16, generator=torch.Generator().manual_seed(10 * update + rank))


def learn(call: torch.nn.Module, ranks: range, masks: ModelSparsifier) -> None:
    """Train on the batches of some processes, whose gradients are averaged."""
    optimizer = torch.optim.AdamW(masks.model.parameters(), lr=0.01)
    masks.follow(optimizer)
    for update in range(UPDATES):
        optimizer.zero_grad()
        for rank in ranks:
            call(batch(update, rank)).square().sum().div(len(ranks)).backward()
        optimizer.step()


def trained(rank: int, folder: str) -> None:
    """One of two processes; it writes what it learnt."""
    group = {"init_method": f"file://{folder}/meeting", "rank": rank, "world_size": 2}
    distributed.init_process_group("gloo", **group)
    model, masks = masked_model()
    learn(DistributedDataParallel(model), range(rank, rank + 1), masks)
    errors = []
    for other in ({"seed": 5 + rank}, {"first_sparsity": 0.2, "reach": 6}):
        model, changed = masked_model(**other)
        with pytest.raises(SparseTrainingError) as error:
            changed.follow(torch.optim.SGD(model.parameters(), 0.1))
        errors.append(str(error.value))
    state = {"model": masks.model.state_dict(), "bits": _bits(masks), "errors": errors}
    torch.save(state, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


def _second(_: int, folder: str) -> None:
    Path(folder, "begun").touch()
    trained(1, folder)


def _bits(masks: ModelSparsifier) -> dict[str, Tensor]:
    return {n: torch.from_numpy(bits) for n, bits in masks.state_dict()["bits"].items()}


def test_two_processes_are_one_with_the_sum_of_their_gradients(tmp_path: Path) -> None:
    other = torch.multiprocessing.spawn(_second, (str(tmp_path),), nprocs=1, join=False)
    while not (tmp_path / "begun").exists():
        time.sleep(0.02)  # a process that waits at the meeting does not sleep
    trained(0, str(tmp_path))
    while not other.join():
        pass
    model, masks = masked_model()
    first = _bits(masks)
    learn(model, range(2), masks)
    assert masks.steps == 3
    assert any(not torch.equal(bits, first[name]) for name, bits in _bits(masks).items())
    for rank in range(2):
        found = torch.load(tmp_path / f"{rank}.pt")
        for name, bits in _bits(masks).items():
            assert torch.equal(found["bits"][name], bits)
        for name, value in model.state_dict().items():
            assert torch.equal(found["model"][name], value), name
        assert "masks differ between processes" in found["errors"][0]
        assert "Leave first_sparsity out" in found["errors"][1]


@pytest.mark.parametrize("version", [1, 2])
def test_fsdp_is_refused(version: int, tmp_path: Path) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    model, _ = masked_model()
    meeting = f"file://{tmp_path}/meeting"
    distributed.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
    wrap: dict[int, Callable[[], object]] = {
        1: lambda: FullyShardedDataParallel(model, device_id=torch.device("cpu")),
        2: lambda: fully_shard(model, mesh=init_device_mesh("cpu", (1,))),
    }
    try:
        with pytest.raises(SparseTrainingError, match="FSDP shards dense weights; expected Distr"):
            wrap[version]()
    finally:
        distributed.destroy_process_group()
