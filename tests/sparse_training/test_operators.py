"""Operators of torch: their rules, and programs that torch compiles and exports around them."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from sparse_training import MaskSchedule, SparseLinear, Sparsifier, SparsityConfig, sparsify
from tests.sparse_training.nets import perceptron, refuses

PRODUCT = torch.ops.sparse_training.product.default
GRADIENTS = torch.ops.sparse_training.product_gradients.default


def layer_of(unit: Any, dtype: torch.dtype = torch.float32, **options: Any) -> SparseLinear:
    """A layer of 12 x 20 weights, half of which are kept."""
    layer = SparseLinear(20, 12, backend="compiled", dtype=dtype, **options)
    Sparsifier({"layer": layer}, SparsityConfig(0.5, unit=unit), seed=2).attach()
    return layer


CASES = [
    ("free", torch.float32, True, True), ("block4", torch.float64, True, False),
    ("free", torch.float64, False, False), ("block4", torch.float32, False, True),
]  # fmt: skip
"""Arguments of both operators: units, types, layouts, with and without what is optional."""


@pytest.mark.parametrize(("unit", "dtype", "rows_first", "more"), CASES)
def test_opcheck(unit: str, dtype: torch.dtype, rows_first: bool, more: bool) -> None:
    layer = layer_of(unit, dtype)
    shape = (2, 3, 20) if rows_first and more else (5, 20) if rows_first else (20, 5)
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    probe = torch.zeros(12, 20, dtype=dtype, requires_grad=True) if more else None
    bias = layer.bias if more else None
    weights = layer.weight, bias, layer.index(), probe
    torch.library.opcheck(PRODUCT, (x, *weights, 12, more, rows_first))
    with torch.no_grad():
        y = PRODUCT(x, *weights, 12, more, rows_first)
    given = torch.randn_like(y), x.detach(), layer.weight.detach(), y if more else None
    torch.library.opcheck(GRADIENTS, (*given, layer.index(), True, more, rows_first))
    torch.library.opcheck(GRADIENTS, (*given, layer.index(), False, more, rows_first))


@pytest.mark.parametrize("unit", ["free", "block4"])
@pytest.mark.parametrize("rows_first", [True, False])
def test_the_operator_is_the_eager_product(unit: str, rows_first: bool) -> None:
    """And its gradients are those by finite differences."""
    layer = layer_of(unit, torch.float64, layout="rows" if rows_first else "columns")
    x = torch.randn((5, 20) if rows_first else (20, 5), dtype=torch.float64, requires_grad=True)
    probe = torch.zeros(12, 20, dtype=torch.float64, requires_grad=True)
    given: list[Tensor] = [x, layer.weight, layer.bias, probe]

    def product(x: Tensor, values: Tensor, bias: Tensor, probe: Tensor) -> Tensor:
        y: Tensor = PRODUCT(x, values, bias, layer.index(), probe, 12, False, rows_first)
        return y

    layer.want_gradient(True)
    ours, theirs = layer(x), product(*given)
    assert torch.equal(ours, theirs)
    above = torch.randn_like(ours)
    ours.backward(above)
    found = torch.autograd.grad(theirs, given, above)
    for one, other in zip([*given[:3], None], found, strict=True):
        assert torch.equal(layer.dense_gradient if one is None else one.grad, other)
    assert torch.autograd.gradcheck(lambda *some: product(*some, probe), given[:3])


def test_what_does_not_fit_is_refused() -> None:
    layer, x = layer_of("free"), torch.zeros(3, 20)
    weights, index, bias = layer.weight, layer.index(), torch.zeros(11)
    for says, *given in (
        ("expected one of 12 x 20 weights", x, weights, None, index[:-1]),
        ("expected 120 of float32 or", x, weights[1:], None, index),
        (r"bias of \(11,\) torch.float32; expected \(12,", x, weights, bias, index),
        (r"torch.float64; expected \(3, 20\) torch.float32", x.double(), weights, None, index),
    ):
        refuses(says, PRODUCT, *given, None, 12, False, True)
    slope = torch.autograd.grad(layer(x).square().sum(), layer.weight, create_graph=True)[0]
    refuses("no second derivative", slope.sum().backward)


def results(call: Callable[[Tensor], Tensor], model: torch.nn.Module, x: Tensor) -> list[Tensor]:
    """Outputs, and gradients of input and parameters."""
    given = x.clone().requires_grad_()
    y = call(given)
    return [y, *torch.autograd.grad(y.square().sum(), [given, *model.parameters()])]


def test_a_compiled_model_is_the_eager_one() -> None:
    """Of both backends: inductor, which is slow, translates one model for all numbers of rows."""
    torch._dynamo.reset()
    model = perceptron()
    model[0] = SparseLinear(16, 24, backend="compiled")
    model[2] = SparseLinear(24, 24, layout="rows")
    Sparsifier({"0": model[0], "2": model[2]}, SparsityConfig(0.7)).attach()
    program = torch.compile(model, fullgraph=True, dynamic=True)
    # trials of what this processor's vectors can do take most of the time
    with torch._inductor.config.patch("cpp.vec_isa_ok", False):
        for rows in (6, 33):
            x = torch.randn(rows, 16)
            ours, theirs = results(program, model, x), results(model, model, x)
            for one, other in zip(ours, theirs, strict=True):
                torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("growth", "backend", "first", "dynamic"),
    [
        ("rigl", "compiled", None, True), ("rigl", "compiled", 0.0, None),
        ("set", "compiled", 0.2, None), ("rigl", "masked", 0.2, True),
    ],
)  # fmt: skip
def test_topology_steps_recompile_at_most_once(growth, backend, first, dynamic):
    """A packed layer never, whatever its number of weights and with dense gradients or without."""
    from torch._dynamo.testing import CompileCounterWithBackend  # dear to import

    torch._dynamo.reset()
    model, generator = perceptron(), torch.Generator().manual_seed(0)
    config = SparsityConfig(0.7, growth=growth, every=3)
    schedule = MaskSchedule(end=30, first_sparsity=first, reach=0 if first is None else 18)
    masks = sparsify(model, config, schedule=schedule, backend=backend)
    optimizer = torch.optim.Adam(model.parameters())
    masks.follow(optimizer)
    counter = CompileCounterWithBackend("aot_eager")
    program = torch.compile(model, backend=counter, fullgraph=True, dynamic=dynamic)
    after_step, kept = [0], set()
    for update in range(24):
        x = torch.randn(8 + update if dynamic else 8, 16, generator=generator)
        optimizer.zero_grad()
        loss = program(x).square().mean()  # is there when the next one begins
        loss.backward()
        optimizer.step()
        after_step[-1] = counter.frame_count
        kept.add(tuple(masks.counts().values()))
        if masks.steps == len(after_step):
            after_step.append(counter.frame_count)
    assert masks.steps == 8
    assert len(kept) == (1 if first is None else 7)
    assert max(b - a for a, b in itertools.pairwise(after_step)) <= 1
    if backend == "compiled" and first != 0:
        assert after_step[-1] == 1
    torch.testing.assert_close(program(x), model(x), rtol=1e-6, atol=1e-6)


def test_compiled_before_attach_is_compiled_anew() -> None:
    torch._dynamo.reset()
    layer = SparseLinear(20, 12, backend="compiled")
    program, x = torch.compile(layer, backend="aot_eager", fullgraph=True), torch.randn(3, 20)
    torch.testing.assert_close(program(x), layer(x))
    Sparsifier({"layer": layer}, SparsityConfig(0.8)).attach()
    torch.testing.assert_close(program(x), torch.nn.functional.linear(x, layer.dense(), layer.bias))


@pytest.mark.parametrize("backend", ["compiled", "masked"])
def test_a_frozen_model_is_exported(backend: Any) -> None:
    model = perceptron()
    sparsify(model, 0.7, backend=backend)
    model.eval().requires_grad_(requires_grad=False)
    rows = torch.export.Dim("rows", min=1)
    program = torch.export.export(model, (torch.randn(6, 16),), dynamic_shapes=({0: rows},))
    names = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert names.count("sparse_training.product.default") == 2 * (backend == "compiled")
    for count in (1, 6, 50):
        x = torch.randn(count, 16, requires_grad=True)
        ours, theirs = program.module()(x), model(x)
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
        slopes = [torch.autograd.grad(y.square().sum(), x)[0] for y in (ours, theirs)]
        torch.testing.assert_close(*slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_autocast_multiplies_in_float32(compiled: bool) -> None:
    torch._dynamo.reset()
    layer, x = layer_of("free"), torch.randn(6, 20).bfloat16().requires_grad_()
    call = torch.compile(layer, backend="aot_eager", fullgraph=True) if compiled else layer
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = call(x)
    assert y.dtype == torch.float32
    assert torch.equal(y, layer(x.float()))
    y.sum().backward()
    assert x.grad.dtype == torch.bfloat16
    assert layer.weight.grad is not None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        weights = layer.weight, layer.bias, layer.index(), None
        assert torch.equal(PRODUCT(x, *weights, 12, False, True), y)
