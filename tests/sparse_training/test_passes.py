"""Layers in one pass against the same layers one by one."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_training import FusedLayers, SparseLinear, Structure
from tests.sparse_training.nets import refuses
from tests.sparse_training.test_kernels import DTYPES, sparse_layer


def same(found: torch.Tensor, expected: torch.Tensor, layers: list[SparseLinear]) -> None:
    """Values, and gradients of all parameters, to the bit."""
    assert torch.equal(found, expected)
    above = torch.randn_like(expected)
    parameters = [parameter for layer in layers for parameter in layer.parameters()]
    ours = torch.autograd.grad(found, parameters, above)
    theirs = torch.autograd.grad(expected, parameters, above)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one, other)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 21), min_size=2, max_size=5), st.integers(1, 150), DTYPES, st.data())
def test_a_chain_gives_what_its_layers_give(sizes, rows, dtype, data):
    layers = [
        sparse_layer(data, inputs, outputs, dtype, seed)
        for seed, (inputs, outputs) in enumerate(pairwise(sizes))
    ]
    fused = FusedLayers(layers, [sum(sizes[:i]) for i in range(len(layers))])
    x = torch.randn(sizes[0], rows, dtype=dtype)
    expected = x
    for layer in layers:
        expected = layer(expected)
    found = fused(x)
    assert found is not None
    with torch.no_grad():
        assert torch.equal(fused(x), expected)
    same(found, expected, layers)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 3), st.integers(1, 3), st.integers(1, 150), DTYPES, st.data()
)
def test_layers_may_read_parts_of_another_and_give_the_result_together(
    inputs, left, right, rows, dtype, data
):
    left, right = 4 * left, 4 * right
    hidden = sparse_layer(data, inputs, left + right, dtype, 0)
    ends = [
        sparse_layer(data, wide, outputs, dtype, 1 + outputs)
        for wide, outputs in ((left, 6), (inputs, 3), (right, 5))
    ]
    fused = FusedLayers([hidden, *ends], [0, inputs, 0, inputs + left], results=3)
    x = torch.randn(inputs, rows, dtype=dtype)
    first, last = torch.split(hidden(x), [left, right])
    expected = torch.cat([ends[0](first), ends[1](x), ends[2](last)])
    same(fused(x), expected, [hidden, *ends])


def chain(*sizes: int) -> list[SparseLinear]:
    """Compiled layers of single weights, the first of each row kept."""
    layers = []
    for inputs, outputs in pairwise(sizes):
        layer = SparseLinear(inputs, outputs, layout="columns", backend="compiled")
        kept = torch.arange(0, inputs * outputs, inputs).numpy()
        layer.set_structure(Structure((outputs, inputs), "free", kept))
        layers.append(layer)
    return layers


def test_a_layer_of_all_its_weights_is_served_where_it_has_few_outputs() -> None:
    layers = [*chain(6, 12), SparseLinear(12, 3, layout="columns", backend="compiled")]
    fused, x = FusedLayers(layers, [0, 6]), torch.randn(6, 70)
    assert fused(x) is None, "dense from the start"
    layers[1].set_structure(Structure.whole((3, 12), "block4"))
    assert not layers[1].packed
    found, expected = fused(x), layers[1](layers[0](x))
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(y.sum(), layers[1].weight)[0] for y in (found, expected))
    torch.testing.assert_close(ours, theirs)


def test_what_is_to_be_done_one_by_one() -> None:
    layers, x = chain(4, 8, 2), torch.randn(4, 5)
    fused = FusedLayers(layers, [0, 4])
    assert fused(x) is not None
    assert fused(x.clone().requires_grad_()) is None
    for other in (torch.randn(5, 4), torch.randn(4, 5, 1), torch.randn(4, 5).double()):
        assert fused(other) is None
    layers[0].want_gradient(True)
    assert fused(x) is None
    layers[0].want_gradient(False)
    assert FusedLayers([SparseLinear(4, 8, layout="columns"), layers[1]], [0, 4])(x) is None


@pytest.mark.parametrize(("unit", "together"), [("block4", False), ("free", True)])
def test_blocks_that_would_read_their_neighbours_are_done_one_by_one(unit, together):
    layers = [
        SparseLinear(*sizes, layout="columns", backend="compiled", dense_above=2.0)
        for sizes in ((4, 8), (6, 3), (2, 3))
    ]
    for layer in layers:
        layer.set_structure(Structure.whole(layer.shape, unit))
    fused = FusedLayers(layers, [0, 4, 10], results=2)
    assert (fused(torch.randn(4, 5)) is not None) == together


def test_a_pass_follows_the_structures() -> None:
    layers, x = chain(4, 8, 2), torch.randn(4, 5)
    fused = FusedLayers(layers, [0, 4])
    fused(x)
    layers[0].set_structure(Structure.whole((8, 4), "free"))
    layers[0].set_structure(Structure((8, 4), "free", torch.arange(0, 32, 3).numpy()))
    assert torch.equal(fused(x), layers[1](layers[0](x)))


def test_layers_that_do_not_fit_are_refused() -> None:
    for reads, results, says in (
        ((0, 3, 12), 1, "layer 1 reads rows 3"),
        ((0, 12, 4), 1, "layer 1 reads rows 12"),
        ((0, 0, 12), 1, "read"),
        ((0, 4, 12), 2, "row 12 is read 1 times"),
        ((0, 4), 1, "3 layers, 2 first rows"),
        ((0, 4, 12), 0, "0 results"),
    ):
        refuses(says, FusedLayers, chain(4, 8, 4, 2), reads, results)
