"""One action space for layers with and without batch and groups."""

import numpy as np
import pytest

import layers
from cost_models import Accelerator, ModelCapabilities, Symmetry
from maestro_env import BatchedProblem, MapSpace, Problem
from maestro_env.build import network_worlds
from maestro_env.sequence import SharedSpace
from tests.fake_model import FakeModel

EDGE = Accelerator.preset("edge")
LAYERS = [
    layers.parse(text)
    for text in (
        "gemm:M=16,N=12,K=8",
        "gemm:M=16,N=12,K=8,batch=6",
        "ngconv:K=4,C=3,Y=9,X=9,R=3,S=3,groups=4,N=3",
    )
]


@pytest.mark.parametrize("orders", ["priority", "permutation"])
def test_every_layer_reads_the_shared_actions(orders: str) -> None:
    spaces = [MapSpace(layer, EDGE, orders=orders) for layer in LAYERS]
    shared = SharedSpace(spaces)
    assert set(shared.names) == set().union(*(space.names for space in spaces))
    actions = np.random.default_rng(0).integers(0, shared.nvec, (300, len(shared.nvec)))
    for number, space in enumerate(spaces):
        own = shared.translate(actions, number)
        assert len(np.unique(own[:, space.index("cluster_size")])) > 5
        assert (space.check(own) == own).all()
        masks = shared.masks(tuple(np.ones(n, np.int8) for n in space.nvec), number)
        assert [len(mask) for mask in masks] == shared.nvec.tolist()
        assert all(mask.any() for mask in masks)
        for name, mask in zip(shared.names, masks, strict=True):
            assert name in space.names or mask.tolist() == [1] + [0] * (len(mask) - 1)


def test_a_network_of_them_is_stepped_together() -> None:
    model = FakeModel()
    model.capabilities = ModelCapabilities(Symmetry.NEST, repeated="")
    batched = BatchedProblem([Problem(layer, EDGE, "latency", model) for layer in LAYERS], 4)
    batched.reset()
    rng = np.random.default_rng(1)
    for _ in LAYERS:
        rewards = batched.step(rng.integers(0, batched.nvec, (4, len(batched.nvec))))[1]
        assert (rewards > 0).all()


def test_layers_that_differ_in_rows_that_maestro_counts_have_their_own_figures() -> None:
    sequence = [layers.parse(f"conv:K=8,C=8,Y={n},X={n},R=1,S=1,stride=2") for n in (8, 7)]
    worlds = network_worlds(1, sequence, accelerator="archgym", cost_model="maestro")
    assert [problem.layer.given_y for problem in worlds.problems] == [8, 7]
