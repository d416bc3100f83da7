"""Hostile calls of `layers.from_torch`: no modules, wrong inputs, products that are not read."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import layers
from layers import ImportingError
from tests.hostile.calls import Row

TRACE = r"torch\.export cannot trace it \({}"


def call(name: str, module: Callable[[], Any], inputs: Callable[[], Any], says: str) -> Row:
    return Row(name, lambda: layers.from_torch(module(), inputs()), ImportingError, says)


def shaped(*shapes: Sequence[int]) -> Callable[[], Any]:
    """Zeros of these shapes, made when the row is called."""

    def make() -> tuple[Any, ...]:
        import torch

        return tuple(torch.zeros(shape) for shape in shapes)

    return make


def linear() -> Any:
    import torch

    return torch.nn.Linear(4, 4)


def of(name: str, *sizes: Any, **options: Any) -> Callable[[], Any]:
    """A module of torch.nn."""

    def make() -> Any:
        import torch

        return getattr(torch.nn, name)(*sizes, **options)

    return make


def doing(function: Callable[..., Any]) -> Callable[[], Any]:
    """A module whose forward pass is a function of torch and its inputs."""

    def make() -> Any:
        import torch

        class Doing(torch.nn.Module):
            def forward(self, *inputs: Any) -> Any:
                return function(torch, *inputs)

        return Doing()

    return make


def fails(error: Exception) -> Callable[[], Any]:
    def fail(_torch: Any, *_inputs: Any) -> Any:
        raise error

    return doing(fail)


NO_MODULES = [
    call(f"module {name}", lambda given=given: given, shaped((2, 4)), "expected a torch.nn.Module")
    for name, given in (
        ("None", None), ("a name", "resnet18"), ("a function", print), ("fields", {"weight": 1}),
    )
]  # fmt: skip
INPUTS = [
    *(
        call(f"inputs {given!r}", linear, lambda given=given: given, "expected a tuple")
        for given in (None, "abc", {})
    ),
    call("inputs: one tensor", linear, lambda: shaped((2, 4))()[0], "got a Tensor, expected a"),
    *(
        call(f"inputs {name}", linear, inputs, TRACE.format(error))
        for name, inputs, error in (
            ("of another width", shaped((2, 5)), "RuntimeError"),
            ("of text", lambda: ("a\nb",), ""),
            ("of objects", lambda: (object(),), ""),
        )
    ),
    call("inputs none", linear, tuple, r"got 0, expected those of Linear.forward\(input"),
    call("inputs too many", linear, shaped((2, 4), (1,)), r"got 2, expected those of Linear"),
    call("no rows", linear, shaped((0, 4)), "M=0 is not a positive integer"),
    call("taps beyond the image", of("Conv2d", 3, 4, 9), shaped((1, 3, 8, 8)), TRACE.format("")),
    call("a compiled script", lambda: __import__("torch").jit.script(linear()), shaped((2, 4)),
         TRACE.format("ValueError")),
    call("it fails", fails(ZeroDivisionError("no")), shaped((1,)), TRACE.format("ZeroDiv")),
    call("it fails with lines and colours", fails(ValueError("a\x1b[31m\nb")), shaped((1,)),
         r"ValueError: a\\x1b\[31m\)"),
    call("a branch on values", doing(lambda _, x: x @ x if x.sum() > 0 else x), shaped((3, 3)),
         "without branches on their values"),
]  # fmt: skip
UNREAD = [
    call(name, doing(function), shaped(*shapes), "can be mapped.*; write it with matmul")
    for name, function, shapes in (
        ("addmv", lambda torch, x, y, z: torch.addmv(x, y, z), ((2,), (2, 3), (3,))),
        ("inner", lambda torch, x, y: torch.inner(x, y), ((2, 3), (4, 3))),
        ("tensordot", lambda torch, x, y: torch.tensordot(x, y, 1), ((2, 3), (3, 4))),
        ("multi_dot", lambda torch, *xs: torch.linalg.multi_dot(xs), ((2, 3), (3, 4), (4, 5))),
        ("matrix_power", lambda torch, x: torch.matrix_power(x, 3), ((3, 3),)),
        ("sparse product", lambda torch, x: torch.sparse.mm(x.to_sparse(), x), ((3, 3),)),
    )
]
OTHERS = [
    call("bilinear", of("Bilinear", 3, 4, 5), shaped((2, 3), (2, 4)), "write it with matmul"),
    call("LSTMCell", of("LSTMCell", 4, 4), shaped((1, 4)), "a recurrent layer's steps"),
    call("a conditional part",
         doing(lambda torch, x: torch.cond(x.sum() > 0, lambda x: x @ x, lambda x: x * 2, (x,))),
         shaped((3, 3)), "a branch or a loop"),
    call("three axes", of("Conv3d", 2, 3, 3), shaped((1, 2, 5, 5, 5)), "over 3 axes"),
    call("dilated and transposed", of("ConvTranspose2d", 2, 3, 3, dilation=2),
         shaped((1, 2, 5, 5)), "a dilated transposed convolution"),
    call("complex numbers", doing(lambda _, x: x.cfloat() @ x.cfloat()), shaped((3, 3)),
         "of complex numbers"),
    *(
        call(f"einsum {equation}", doing(lambda torch, *xs, e=equation: torch.einsum(e, *xs)),
             shaped(*shapes), "expected two|diagonal|expected distinct")
        for equation, shapes in (
            ("ij->ji", ((2, 3),)), ("ii,ij->j", ((3, 3), (3, 4))),
        )
    ),
    call("only ReLU", of("ReLU"), shaped((2, 4)), "expected a model with convolutions"),
]  # fmt: skip
FILES = [
    Row("no model", lambda: layers.from_onnx("gone.onnx"), ImportingError, "gone.onnx: not found"),
    Row("no config", lambda: layers.from_huggingface("c.json"), ImportingError, "c.json: not f"),
]
ROWS = [*NO_MODULES, *INPUTS, *UNREAD, *OTHERS, *FILES] if find_spec("torch") else []
