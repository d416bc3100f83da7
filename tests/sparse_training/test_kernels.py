"""Compiled products against autograd, and both backends over whole runs."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_training import (
    SparseLinear,
    Sparsifier,
    SparsityConfig,
    Structure,
    layer_flops,
)
from sparse_training.operators import plan_of, product, product_gradients
from sparse_training.values import Form, gather, moved, scatter
from tests.sparse_training.nets import Run, refuses

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
DTYPES = st.sampled_from(list(TOLERANCE))
SIZES = st.tuples(st.integers(1, 21), st.integers(1, 21), st.integers(1, 200))


def kept_units(data: st.DataObject, shape: tuple[int, int], unit: str) -> Structure:
    """Any structure of a shape, at least one unit of it kept."""
    whole = Structure.whole(shape, unit)
    chosen = data.draw(st.lists(st.booleans(), min_size=whole.units, max_size=whole.units))
    mask = torch.tensor(chosen)
    mask[data.draw(st.integers(0, whole.units - 1))] = True
    return Structure(shape, whole.unit, torch.nonzero(mask).reshape(-1).numpy())


def sparse_layer(
    data: st.DataObject, inputs: int, outputs: int, dtype: torch.dtype, seed: int
) -> SparseLinear:
    layer = SparseLinear(
        inputs, outputs, bias=data.draw(st.booleans()),
        activation=data.draw(st.sampled_from([None, "relu"])), layout="columns", backend="compiled",
        dense_above=2.0, generator=torch.Generator().manual_seed(seed), dtype=dtype,
    )  # fmt: skip
    unit = data.draw(st.sampled_from(["free", "block4"]))
    layer.set_structure(kept_units(data, (outputs, inputs), unit))
    return layer


@settings(max_examples=40, deadline=None)
@given(SIZES, DTYPES, st.integers(0, 99), st.data())
def test_products_are_those_of_autograd(sizes, dtype, seed, data):
    outputs, inputs, rows = sizes
    layer = sparse_layer(data, inputs, outputs, dtype, seed)
    assert layer.packed
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(inputs, rows, generator=generator, dtype=dtype, requires_grad=True)
    above = torch.randn(outputs, rows, generator=generator, dtype=dtype)
    y = layer(x)
    found = torch.autograd.grad(y, [x, *layer.parameters()], above)

    weight = layer.dense().requires_grad_()
    dense = weight @ x
    if layer.bias is not None:
        dense = dense + layer.bias.unsqueeze(1)
    # of sums near 0 the backends may disagree on the sign: the ReLU of ours decides for both
    dense = torch.where(y > 0, dense, 0) if layer.activation else dense
    others = [] if layer.bias is None else [layer.bias]
    expected = list(torch.autograd.grad(dense, [x, weight, *others], above))
    expected[1] = gather(expected[1], layer.structure)
    assert torch.allclose(y, dense, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    for a, b in zip(found, expected, strict=True):
        assert torch.allclose(a, b, rtol=TOLERANCE[dtype], atol=10 * TOLERANCE[dtype])


@pytest.mark.parametrize(
    ("unit", "dtype", "growth", "state"),
    [
        ("free", torch.float32, "rigl", "local"), ("block4", torch.float64, "mixed", "keep"),
        ("free", torch.float64, "set", "reset"), ("block4", torch.float32, "rigl", "local:4"),
    ],
)  # fmt: skip
def test_backends_give_the_same_run(unit: str, dtype: torch.dtype, growth: str, state: str) -> None:
    runs = [
        Run(backend, dtype, unit=unit, growth=growth, optimizer_state=state)
        for backend in ("masked", "compiled")
    ]
    losses = [torch.tensor(run.updates(0, 24)) for run in runs]
    assert torch.allclose(*losses, rtol=10 * TOLERANCE[dtype], atol=0)
    for mine, theirs in zip(runs[0].net.layers, runs[1].net.layers, strict=True):
        assert theirs.packed or theirs.structure.full
        assert mine.structure.same_as(theirs.structure)
        dense = mine.dense(), theirs.dense()
        assert torch.allclose(*dense, rtol=0, atol=10 * TOLERANCE[dtype])


def test_compiled_layers_hold_the_kept_values_alone() -> None:
    run = Run("compiled", unit="free", sparsity=0.8)
    run.updates(0, 6)
    for name, layer in run.sparsifier.layers.items():
        moments = run.optimizer.moments(layer.weight)
        kept = (run.sparsifier.counts()[name],)
        assert layer.weight.shape == moments.first.shape == moments.second.shape == kept
        assert layer.dense_gradient is None


def test_a_switch_of_multiplication_does_not_change_the_run() -> None:
    """Above `dense_above` a compiled layer is written out; densities go up and down across it."""
    runs = [Run(backend, sparsity=0.0) for backend in ("masked", "compiled")]
    for layer in runs[1].net.layers:
        layer.dense_above = 0.5
    packed = []
    for number, sparsity in enumerate((0.3, 0.7, 0.8, 0.2, 0.0)):
        for inner in range(3):
            losses = [run.update(3 * number + inner, sparsity) for run in runs]
            assert losses[0] == pytest.approx(losses[1], rel=1e-11)
        packed.append([layer.packed for layer in runs[1].net.layers])
    assert packed[0] == packed[-1] == [False] * 3
    assert packed[2] == [True] * 3


@pytest.mark.parametrize("unit", ["free", "block4"])
def test_flops_are_the_products_that_are_executed(unit: str) -> None:
    """With ones everywhere each result counts the products that went into it."""
    rows, shape = 70, (10, 13)
    layer = SparseLinear(13, 10, bias=False, layout="columns", backend="compiled")
    sparsifier = Sparsifier({"a": layer}, SparsityConfig(0.6, unit=unit))
    sparsifier.attach()
    plan = plan_of(layer.index(), (10, 13), unit == "block4", False, False)
    values, x, above = torch.ones(layer.weight.shape), torch.ones(13, rows), torch.ones(10, rows)
    within = gather(torch.ones(shape), layer.structure)
    forward = product(x, within, None, plan).sum()
    for_x, for_values, _ = product_gradients(above, (x, within, None), plan, True, False)
    done = 2 * int(forward), 2 * int(for_x.sum() + for_values.sum())
    columns = layer_flops(layer, rows)
    assert (columns.theoretical.forward, columns.theoretical.backward) == done
    # what a block has beyond the edges is multiplied, too
    assert columns.executed.forward == 2 * values.numel() * rows
    assert layer_flops(layer, rows, reads_data=True).theoretical.total == 2 * done[0]
    topology = layer_flops(layer, rows, topology=True)
    assert topology.theoretical.total == sum(done) + 2 * (130 - layer.structure.weights) * rows
    assert topology.executed.topology == 2 * 130 * rows


def test_masked_flops_are_those_that_torch_counts() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    layer = SparseLinear(13, 10, layout="columns")
    Sparsifier({"a": layer}, SparsityConfig(0.5)).attach()
    with FlopCounterMode(display=False) as counter:
        layer(torch.randn(13, 6, requires_grad=True)).sum().backward()
    assert layer_flops(layer, 6).executed.total == counter.get_total_flops()


@pytest.mark.parametrize("unit", ["free", "block4"])
def test_numbers_follow_a_structure(unit: str) -> None:
    dense = torch.arange(1.0, 8 * 8 + 1).reshape(8, 8)
    whole = Structure.whole((8, 8), unit)
    one, two = (Structure((8, 8), whole.unit, whole.kept[part]) for part in (slice(1, 4), [0, 2]))
    values = moved(dense, Form(whole, False), Form(one, True))
    assert torch.equal(scatter(values, one), dense * torch.from_numpy(one.mask))
    both = torch.from_numpy(one.mask & two.mask)
    only = torch.from_numpy(two.mask & ~one.mask)
    after = moved(values, Form(one, True), Form(two, False), born=-1.0)
    assert torch.equal(after, torch.where(both, dense, torch.where(only, -1.0, 0.0)))


def test_wrong_input() -> None:
    layer = SparseLinear(8, 8, layout="columns", backend="compiled")
    Sparsifier({"a": layer}, SparsityConfig(0.5)).attach()
    types = "input of torch.float64, weights of torch.float32; expected one type"
    refuses(types, layer, torch.zeros(8, 2, dtype=torch.float64))
    options = {"layout": "columns", "backend": "compiled"}
    refuses("on the CPU only", lambda: SparseLinear(8, 8, device="meta", **options))
    other, plain = SparseLinear(8, 8, **options), SparseLinear(8, 8, layout="columns")
    refuses("a checkpoint of another mask set", other.load_state_dict, layer.state_dict())
    refuses(r"expected \(8, 8\), 'masked'", plain.copy_from, layer)
