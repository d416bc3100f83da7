"""Layouts: rows are what columns are, number by number, and what `torch.nn.Linear` takes."""

import copy
import pickle
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from sparse_training import SparseLinear, Sparsifier, SparsityConfig, Structure
from tests.sparse_training.nets import refuses
from tests.sparse_training.test_kernels import DTYPES, SIZES, kept_units

LAYERS = Path(__file__).parents[1] / "fixtures" / "v0_2" / "layers.safetensors"


def packed_layer(layout: str = "rows", unit: str = "free", **options: object) -> SparseLinear:
    """A layer of 12 x 20 weights, a half of which is kept."""
    layer = SparseLinear(20, 12, layout=layout, backend="compiled", **options)
    config = SparsityConfig(0.5, unit=unit)
    Sparsifier({"layer": layer}, config, seed=1).attach()
    return layer


@settings(max_examples=40, deadline=None)
@given(SIZES, st.sampled_from(["free", "block4"]), DTYPES, st.booleans(), st.data())
def test_rows_are_columns_to_the_bit(sizes, unit, dtype, relu, data):
    outputs, inputs, rows = (3 * sizes[0], 3 * sizes[1], sizes[2])
    structure = kept_units(data, (outputs, inputs), unit)
    layers = [
        SparseLinear(
            inputs, outputs, layout=layout, activation="relu" if relu else None,
            backend="compiled", dense_above=2.0, dtype=dtype,
        )
        for layout in ("rows", "columns")
    ]  # fmt: skip
    layers[0].set_structure(structure)
    layers[1].copy_from(layers[0])
    x = torch.randn(rows, inputs, dtype=dtype, requires_grad=True)
    above = torch.randn(rows, outputs, dtype=dtype)
    given_rows, given_columns = layers[0](x), layers[1](x.t()).t()
    assert torch.equal(given_rows, given_columns)
    found = torch.autograd.grad(given_rows, [x, *layers[0].parameters()], above)
    expected = torch.autograd.grad(given_columns, [x, *layers[1].parameters()], above)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("shape", [(20,), (0, 20), (2, 3, 20), (2, 0, 3, 20)])
@pytest.mark.parametrize("packed", [True, False])
def test_any_leading_dimensions(shape: tuple[int, ...], packed: bool) -> None:
    layer = packed_layer() if packed else SparseLinear(20, 12)
    x = torch.randn(shape, requires_grad=True)
    y = layer(x)
    expected = torch.nn.functional.linear(x, layer.dense(), layer.bias)
    torch.testing.assert_close(y, expected, rtol=1e-5, atol=1e-6)
    above = torch.randn(y.shape)
    mine, theirs = (torch.autograd.grad(one, x, above)[0] for one in (y, expected))
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def test_an_input_that_is_no_array_of_its_own() -> None:
    layer, wide = packed_layer(), torch.randn(6, 40)
    assert torch.equal(layer(wide[:, ::2]), layer(wide[:, ::2].contiguous()))


def test_a_dense_layer_is_a_linear_one() -> None:
    """Same weights of one seed, same outputs and gradients, and what autocast makes of them."""
    torch.manual_seed(3)
    plain = torch.nn.Linear(9, 4)
    layer, x = SparseLinear(9, 4), torch.randn(2, 5, 9)
    layer.load_state_dict(plain.state_dict())
    assert torch.equal(layer(x), plain(x))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(layer(x), plain(x))


@pytest.mark.parametrize("unit", ["free", "block4"])
def test_states_of_0_2_load_strictly(unit: str) -> None:
    kept = load_file(LAYERS)
    layer = SparseLinear(16, 24, layout="columns", activation="relu", backend="compiled")
    masks = Sparsifier({"layer": layer}, SparsityConfig(0.75, unit=unit))
    masks.attach()
    state = {**masks.state_dict(), "bits": {"layer": kept[f"{unit}/bits"].numpy()}}
    masks.load_state_dict(state)
    own = {name: kept[f"{unit}.{name}"] for name in ("weight", "bias")}
    layer.load_state_dict(own, strict=True)
    assert set(layer.state_dict()) == set(own)
    y = layer(kept[f"{unit}/x"])
    torch.testing.assert_close(y, kept[f"{unit}/y"], rtol=1e-6, atol=1e-6)


def test_a_pickled_layer_without_a_layout_has_columns() -> None:
    layer = packed_layer("columns")
    state = {name: value for name, value in vars(layer).items() if name != "layout"}
    old = SparseLinear.__new__(SparseLinear)
    old.__setstate__(state)
    x = torch.randn(20, 3)
    assert old.layout == "columns"
    assert torch.equal(old(x), layer(x))
    assert pickle.loads(pickle.dumps(packed_layer())).layout == "rows"


def test_a_copy_stands_alone() -> None:
    """It keeps its structure, and its gradients, when the original gets another one."""
    layer, x = packed_layer(), torch.randn(4, 20)
    twin, before = copy.deepcopy(layer), layer(x)
    layer.set_structure(Structure((12, 20), "free", torch.arange(10).numpy()))
    assert torch.equal(twin(x), before)
    twin(x).sum().backward()
    assert twin.weight.grad is not None
    assert layer.weight.grad is None


def test_a_square_layer_without_a_layout_warns() -> None:
    with pytest.warns(FutureWarning, match="8 x 8 weights without a layout: rows"):
        assert SparseLinear(8, 8).layout == "rows"
    with warnings.catch_warnings(action="error"):
        for layout in ("rows", "columns"):
            SparseLinear(8, 8, layout=layout)
        SparseLinear(8, 9)


def test_wrong_input() -> None:
    layer, meta = packed_layer(), torch.zeros(3, 20, device="meta")
    refuses(r"expected \(\.\.\., 20\)\. Transpose it, or", layer, torch.zeros(20, 3))
    refuses("features come first.*layout 'rows'", packed_layer("columns"), torch.zeros(3, 20))
    refuses("input of torch.bfloat16, weights of torch.f", layer, torch.zeros(3, 20).bfloat16())
    for backend in ("compiled", "masked"):
        layer.backend = backend
        refuses("input on meta, weights on cpu", layer, meta)
    narrow = {"backend": "compiled", "dtype": torch.bfloat16}
    refuses("weights of torch.bfloat16; expected float32", lambda: SparseLinear(4, 5, **narrow))
    refuses("layout 'row' is not known.*'rows'", lambda: SparseLinear(4, 5, layout="row"))
