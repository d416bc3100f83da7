"""A linear layer whose weight may be sparse."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NoReturn

import torch
from torch import Tensor, nested
from torch.compiler import is_compiling, is_exporting
from torch.nn.functional import linear

from sparse_training.errors import SparseTrainingError, check_name
from sparse_training.kernels.index import index_of
from sparse_training.kernels.vectors import VECTORS
from sparse_training.operators import OPERATOR, ProductPlan, multiply, plan_of, product
from sparse_training.structure import Shape, Structure
from sparse_training.values import Form, moved, scatter
from sparse_training.weights import rebind

Backend = Literal["masked", "compiled"]
"""How sparse layers are multiplied: dense under a mask (any device), or the kept weights alone."""
BACKENDS: tuple[Backend, ...] = ("masked", "compiled")
Layout = Literal["rows", "columns"]
"""How a layer reads samples: ``(..., features)`` as `torch.nn.Linear`, or ``(features, rows)``."""
LAYOUTS: tuple[Layout, ...] = ("rows", "columns")
ACTIVATIONS = ("relu",)
PLAIN = (Tensor, torch.nn.Parameter)
"""Tensors that hold numbers; others stand for some while a program is traced."""
SQUARE = (
    "layer of {0} x {0} weights without a layout: rows, (..., {0}), since 0.3; it was columns "
    "before. Name layout='rows' or 'columns'."
)


class SparseLinear(torch.nn.Module):
    """``act(W x + b)`` of ``(..., in_features)`` inputs, as `torch.nn.Linear`.

    A new layer is dense, and multiplied by torch. A :class:`Sparsifier` gives it a structure; from
    then on only the kept weights count. Its weights begin as those of `torch.nn.Linear` do.

    Args:
        in_features: Inputs.
        out_features: Outputs.
        bias: Whether there is one; it is never sparse.
        layout: ``"rows"`` where None; or ``"columns"``: ``(in_features, rows)``, a column is a
            sample. A square layer that names none warns: up to 0.2 it read columns.
        activation: None, or ``"relu"`` (fused).
        backend: ``"masked"`` or ``"compiled"`` (CPU only; holds the kept weights alone).
        generator: Draws the first weights; torch's own where None.
        dense_above: Density from which on a compiled layer is written out and multiplied dense.
        device: Where the weights are.
        dtype: Their type; compiled: float32 or float64.

    Attributes:
        weight: ``(O, I)``, or once a compiled layer is sparse its kept values: ``(k,)``, or
            ``(blocks, 4, 4)``. It stays the same parameter.
        bias: ``(O,)`` or None.

    Raises:
        SparseTrainingError: An unknown name, fewer than one input or output, or a compiled layer
            on another device than the CPU.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        bias: bool = True,
        layout: Layout | None = None,
        activation: str | None = None,
        backend: Backend = "masked",
        generator: torch.Generator | None = None,
        dense_above: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if min(in_features, out_features) < 1:
            raise SparseTrainingError(
                f"layer of {in_features} inputs and {out_features} outputs: expected at least one "
                "of each."
            )
        if activation is not None:
            check_name("activation", activation, ACTIVATIONS)
        if layout is None and in_features == out_features:
            warnings.warn(SQUARE.format(in_features), FutureWarning, stacklevel=2)
        self.in_features, self.out_features = in_features, out_features
        self.layout = check_name("layout", layout or "rows", LAYOUTS)
        self.activation = activation
        self.backend = check_name("backend", backend, BACKENDS)
        self.dense_above = dense_above
        shape = (out_features, in_features)
        self.weight = torch.nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.bias: torch.nn.Parameter | None = None
        if bias:
            self.bias = torch.nn.Parameter(torch.empty(out_features, device=device, dtype=dtype))
        self._check_backend()
        self.structure: Structure | None = None
        self._mask: Tensor | None = None
        self._index: Tensor | None = None
        self._plan: ProductPlan | None = None
        self._probe: Tensor | None = None
        self.wants_gradient = False
        # torch.compile takes shapes of what it finds in `_parameters` itself to be fixed
        self._traced_parameters = self._parameters
        if self.layout == "rows":
            self.register_forward_pre_hook(_keep_to_forward)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all weights anew, of a dense layer, by the law of `torch.nn.Linear`."""
        limit = self.in_features**-0.5
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                torch.nn.init.uniform_(parameter, -limit, limit, generator=generator)

    @property
    def shape(self) -> Shape:
        """Outputs and inputs."""
        return self.out_features, self.in_features

    @property
    def weight_count(self) -> int:
        """Weights, kept and others."""
        return self.out_features * self.in_features

    @property
    def packed(self) -> bool:
        """Whether only the kept weights are held."""
        return self.weight.dim() != 2

    def forward(self, x: Tensor) -> Tensor:
        """``(..., in_features)`` to ``(..., out_features)``, or the same by columns.

        Raises:
            SparseTrainingError: Another shape, type or device.
        """
        traced, rows_first = is_compiling(), self.layout == "rows"
        if rows_first and x.is_nested:
            return self._multiply_nested(x)
        # attributes of a module take longer to find than a small product
        held = self._traced_parameters if traced else self._parameters
        weight, bias = held["weight"], held.get("bias")
        assert weight is not None
        shape = x.shape
        fits = len(shape) > 0 if rows_first else len(shape) == 2
        if not fits or shape[-1 if rows_first else 0] != self.in_features:
            self._refuse(tuple(shape))
        if x.dtype is not weight.dtype or not x.is_cpu:
            x = self._fitting(x, weight)
        if weight.dim() == 2:
            return self._multiply_dense(x, weight, bias, rows_first)
        x = x.contiguous()
        if traced or type(x) not in PLAIN:
            learns = weight.requires_grad and not is_exporting()
            given = x, weight, bias, self.index(), self._probe if learns else None
            return OPERATOR(*given, self.out_features, self.activation == "relu", rows_first)
        plan = self._plan or self._make_plan()
        if not torch.is_grad_enabled():
            return product(x, weight, bias, plan)
        probe = self._probe if self.wants_gradient else None
        return multiply(x, weight, bias, probe, plan)

    def _multiply_nested(self, x: Tensor) -> Tensor:
        """Multiply all samples of a nested tensor at once."""
        if x.layout == torch.jagged:
            offsets = x.offsets()  # type: ignore[attr-defined]
            return nested.nested_tensor_from_jagged(self.forward(x.values()), offsets)
        parts = x.unbind()
        y = torch.split(self.forward(torch.cat(parts)), [len(part) for part in parts])
        return nested.as_nested_tensor(list(y))

    def _multiply_dense(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, rows_first: bool
    ) -> Tensor:
        """Multiply a weight that is written out, whose gradient is 0 where none is kept."""
        if self._mask is not None:
            weight = weight * self.mask()
        if self._probe is not None:
            weight = weight + self._probe
        if rows_first:
            y = linear(x, weight, bias)
        else:
            y = weight @ x if bias is None else torch.addmm(bias.unsqueeze(1), weight, x)
        return y.relu() if self.activation == "relu" else y

    def _refuse(self, shape: tuple[int, ...]) -> NoReturn:
        n, rows_first = self.in_features, self.layout == "rows"
        expected = f"(..., {n})" if rows_first else f"({n}, rows): features come first"
        raise SparseTrainingError(
            f"input of shape {shape}; expected {expected}. Transpose it, or use layout "
            f"{'columns' if rows_first else 'rows'!r}."
        )

    @staticmethod
    def _fitting(x: Tensor, weight: Tensor) -> Tensor:
        """The input in the weight's type, which autocast alone changes unasked."""
        if x.device != weight.device:
            raise SparseTrainingError(
                f"input on {x.device}, weights on {weight.device}; expected one device. Move one "
                "of them."
            )
        if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
            raise SparseTrainingError(
                f"input of {x.dtype}, weights of {weight.dtype}; expected one type. Convert one "
                "of them, or use torch.autocast."
            )
        return x.to(weight.dtype)

    @torch.no_grad()
    def dense(self) -> Tensor:
        """``(O, I)``: the weight written out, without a gradient."""
        if self.structure is None or not self.packed:
            return self.weight.detach().clone()
        return scatter(self.weight.detach(), self.structure)

    def index(self) -> Tensor:
        """What compiled kernels read of the structure.

        A weight that is written out is one of single weights, all of which are kept.

        Raises:
            SparseTrainingError: The layer is dense.
        """
        if self._index is None:
            if self.structure is None:
                raise SparseTrainingError("a dense layer has no index; attach a Sparsifier first.")
            written_out = Structure.whole(self.shape, "free")
            self._index = index_of(self.structure if self.packed else written_out)
        return self._index

    def _make_plan(self) -> ProductPlan:
        """How eager code multiplies; a copy makes its own, as plans hold addresses."""
        blocks, relu = self.weight.dim() == 3, self.activation == "relu"
        self._plan = plan_of(self.index(), self.shape, blocks, relu, self.layout == "rows")
        return self._plan

    def mask(self) -> Tensor:
        """``(O, I)`` of 0 and 1, in the weight's type and on its device."""
        weight, held = self.weight, self._mask
        if held is None:
            if self.structure is None or self.structure.full:
                return torch.ones(self.shape, dtype=weight.dtype, device=weight.device)
            return torch.from_numpy(self.structure.mask).to(weight)
        if held.dtype != weight.dtype or held.device != weight.device:
            self._mask = held = held.to(weight)
        return held

    @torch.no_grad()
    def set_structure(self, structure: Structure) -> tuple[Form, Form]:
        """Keep other units from now on; new ones begin at 0.

        Returns:
            How the weight lay in memory before, and how it does now.

        Raises:
            SparseTrainingError: A structure of another shape, or compiled on another device than
                the CPU.
        """
        if structure.shape != self.shape:
            raise SparseTrainingError(
                f"structure of {structure.shape[0]} x {structure.shape[1]} weights; expected "
                f"{self.out_features} x {self.in_features}."
            )
        self._check_backend()
        before, after = self.form(structure.unit), self._form_of(structure)
        values = moved(self.weight.data, before, after)
        rebind(self.weight, values, varies=after.packed and self.layout == "rows")
        self.structure, self._mask, self._index, self._plan = structure, None, None, None
        if not self.packed and not (structure.full and self.backend == "compiled"):
            self._mask = self.mask()
        self._prepare()
        return before, after

    def _prepare(self) -> None:
        """Make what programs that torch compiles read, and mark what changes its shape."""
        if self.packed:
            torch._dynamo.maybe_mark_dynamic(self.index(), 0)
        if not self.wants_gradient:
            self._make_probe()

    def form(self, unit: Any = "free") -> Form:
        """How the weight lies in memory; `unit` is that of a layer without a structure."""
        if self.structure is not None:
            return self._form_of(self.structure)
        return Form(Structure.whole(self.shape, unit), packed=False)

    @torch.no_grad()
    def copy_from(self, other: SparseLinear) -> None:
        """Take structure, weight and bias of another layer, as target networks do.

        Nothing is allocated where both share a structure already.

        Raises:
            SparseTrainingError: The other layer has another shape or backend, or a bias where this
                one has none.
        """
        same = self.shape == other.shape and (self.bias is None) == (other.bias is None)
        if not same or self.backend != other.backend:
            raise SparseTrainingError(
                f"layer of {other.shape}, backend {other.backend!r}; expected {self.shape}, "
                f"{self.backend!r}, and a bias in both or none."
            )
        if self.structure is not other.structure or self.weight.shape != other.weight.shape:
            self.structure, self._mask = other.structure, other._mask
            self._index, self._plan = other._index, None
            self.dense_above = other.dense_above
            varies = other.packed and self.layout == "rows"
            rebind(self.weight, torch.empty_like(other.weight.data), varies=varies)
            self._prepare()
        self.weight.copy_(other.weight)
        if self.bias is not None and other.bias is not None:
            self.bias.copy_(other.bias)

    @property
    def dense_gradient(self) -> Tensor | None:
        """``(O, I)`` sum of the dense gradients since they were wanted; None: there was none."""
        return self._probe.grad if self.wants_gradient and self._probe is not None else None

    def want_gradient(self, on: bool) -> None:
        """Add up the dense gradients of all backward passes from now on, or forget them."""
        self.wants_gradient = on
        self._make_probe()

    def _make_probe(self) -> None:
        """Make the tensor whose gradient is the dense one.

        A packed layer always has it, so that one compiled program serves, and sees by its rows
        whether the gradient is wanted.
        """
        self._probe = None
        if self.packed or self.wants_gradient:
            rows = self.out_features if self.wants_gradient else min(2, self.out_features)
            self._probe = self.weight.new_zeros(rows, self.in_features).requires_grad_()
        if self.packed:
            torch._dynamo.maybe_mark_dynamic(self._probe, 0)

    def extra_repr(self) -> str:
        """Sizes and density, for `print`."""
        density = 1.0 if self.structure is None else self.structure.density
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}, backend={self.backend}, density={density:.3g}"
        )

    def _form_of(self, structure: Structure) -> Form:
        packed = self.backend == "compiled" and structure.density < self.dense_above
        return Form(structure, packed)

    def _check_backend(self) -> None:
        if self.backend == "compiled":
            check_compiled(self.weight)

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        given = state.get(prefix + "weight")
        if given is not None and given.shape != self.weight.shape:
            raise SparseTrainingError(
                f"{prefix}weight: holds {tuple(given.shape)} values, this layer's mask keeps "
                f"{tuple(self.weight.shape)}: a checkpoint of another mask set. Load the state of "
                "its Sparsifier first."
            )
        super()._load_from_state_dict(state, prefix, *rest)

    @property
    def _is_fsdp_managed_module(self) -> bool:
        """What FSDP sets on all modules that it takes the weights of."""
        return False

    @_is_fsdp_managed_module.setter
    def _is_fsdp_managed_module(self, value: bool) -> None:
        raise SparseTrainingError(
            "FSDP shards dense weights; expected DistributedDataParallel, which sparse ones work "
            "with."
        )

    def __getstate__(self) -> dict[str, Any]:
        """All but the plan, which holds addresses of the layer that is copied."""
        return {**vars(self), "_plan": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read a pickled layer; one of 0.2, which had no layouts, has columns."""
        state = {"layout": "columns", "_probe": None, **state}
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._traced_parameters = self._parameters


def _keep_to_forward(layer: SparseLinear, given: Any) -> None:
    """A hook, for which torch's encoders in `eval()` do not read weights past a layer."""


def check_compiled(weight: Tensor) -> None:
    """Refuse a weight that kernels cannot multiply.

    Raises:
        SparseTrainingError: It is on another device than the CPU, or neither float32 nor float64.
    """
    if not weight.is_cpu:
        raise SparseTrainingError(
            f"backend 'compiled' on {weight.device}: its kernels run on the CPU only. Use backend "
            "'masked', or move the network to the CPU."
        )
    if weight.dtype not in VECTORS:
        raise SparseTrainingError(
            f"backend 'compiled' with weights of {weight.dtype}; expected float32 or float64."
        )
