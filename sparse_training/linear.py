"""A linear layer, features first, whose weight may be sparse."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from sparse_training.errors import SparseTrainingError, check_name
from sparse_training.kernels.compiled_index import CompiledIndex
from sparse_training.products import CompiledProduct, MaskedProduct, plain_product
from sparse_training.structure import Shape, Structure
from sparse_training.values import Form, moved, scatter

Backend = Literal["masked", "compiled"]
"""How sparse layers are multiplied: dense under a mask (any device), or the kept weights alone."""
BACKENDS: tuple[Backend, ...] = ("masked", "compiled")
ACTIVATIONS = ("relu",)


class SparseLinear(torch.nn.Module):
    """``act(W x + b)`` for ``(in_features, rows)`` inputs: a column is a sample.

    A new layer is dense, and multiplied by torch. A :class:`Sparsifier` gives it a structure; from
    then on only the kept weights count. Its weights begin as those of `torch.nn.Linear` do.

    Args:
        in_features: Inputs.
        out_features: Outputs.
        bias: Whether there is one; it is never sparse.
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
        self.in_features, self.out_features = in_features, out_features
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
        self.dense_gradient: Tensor | None = None
        self.wants_gradient = False
        self._mask: Tensor | None = None
        self._index: CompiledIndex | None = None
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
    def packed(self) -> bool:
        """Whether only the kept weights are held."""
        return self.weight.dim() != 2

    def forward(self, x: Tensor) -> Tensor:
        """``(in_features, rows)`` to ``(out_features, rows)``.

        Raises:
            SparseTrainingError: Another shape.
        """
        if x.dim() != 2 or x.shape[0] != self.in_features:
            raise SparseTrainingError(
                f"input of shape {tuple(x.shape)}; expected ({self.in_features}, rows): features "
                "come first. Transpose it."
            )
        held = self._parameters  # attributes of a module take longer to find than a small product
        weight, bias = held["weight"], held.get("bias")
        assert weight is not None
        product: Any = MaskedProduct
        if weight.dim() != 2:
            if not (x.is_cpu and x.dtype is weight.dtype):
                self._check_compiled(x, weight)
            if not torch.is_grad_enabled():  # spares the calls of a function of torch
                return self.index().forward(x.contiguous(), weight, bias, self.activation == "relu")
            product = CompiledProduct
        elif self.structure is None or (self.structure.full and not self.wants_gradient):
            return plain_product(x, weight, bias, self.activation)
        y: Tensor = product.apply(x, weight, bias, self)
        return y

    @torch.no_grad()
    def dense(self) -> Tensor:
        """``(O, I)``: the weight written out, without a gradient."""
        if self.structure is None or not self.packed:
            return self.weight.detach().clone()
        return scatter(self.weight.detach(), self.structure)

    def index(self) -> CompiledIndex:
        """What compiled kernels read of the structure; built when it is first used.

        A weight that is written out is one of single weights, all of which are kept.

        Raises:
            SparseTrainingError: The layer is dense.
        """
        if self._index is None:
            if self.structure is None:
                raise SparseTrainingError("a dense layer has no index; attach a Sparsifier first.")
            written_out = Structure.whole(self.shape, "free")
            self._index = CompiledIndex(self.structure if self.packed else written_out)
        return self._index

    def mask(self) -> Tensor:
        """``(O, I)`` of 0 and 1, in the weight's type and on its device."""
        if self.structure is None:
            return torch.ones(self.shape, dtype=self.weight.dtype, device=self.weight.device)
        if self._mask is None:
            self._mask = torch.from_numpy(self.structure.mask)
        self._mask = self._mask.to(self.weight)
        return self._mask

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
        self.weight.data = moved(self.weight.data, before, after)
        self.weight.grad = None
        self.structure, self._mask, self._index = structure, None, None
        return before, after

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
            self._index = other._index
            self.dense_above = other.dense_above
            self.weight.data = torch.empty_like(other.weight.data)
        self.weight.copy_(other.weight)
        if self.bias is not None and other.bias is not None:
            self.bias.copy_(other.bias)

    def want_gradient(self, on: bool) -> None:
        """Add up the dense gradients of all backward passes from now on, or forget them."""
        self.wants_gradient, self.dense_gradient = on, None

    def note_gradient(self, gradient: Tensor) -> None:
        """Add a dense gradient where it is wanted."""
        if self.wants_gradient:
            if self.dense_gradient is None:
                self.dense_gradient = torch.zeros_like(gradient)
            self.dense_gradient += gradient

    def extra_repr(self) -> str:
        """Sizes and density, for `print`."""
        density = 1.0 if self.structure is None else self.structure.density
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}, backend={self.backend}, density={density:.3g}"
        )

    def _form_of(self, structure: Structure | None) -> Form:
        made = structure or Structure.whole(self.shape, "free")
        packed = self.backend == "compiled" and structure is not None
        return Form(made, packed and made.density < self.dense_above)

    def _check_backend(self) -> None:
        if self.backend == "compiled":
            self._check_compiled(self.weight, self.weight)

    @staticmethod
    def _check_compiled(x: Tensor, weight: Tensor) -> None:
        if not (x.is_cpu and weight.is_cpu):
            where = weight.device if x.is_cpu else x.device
            raise SparseTrainingError(
                f"backend 'compiled' on {where}: its kernels run on the CPU only. Use backend "
                "'masked', or move the network to the CPU."
            )
        if x.dtype != weight.dtype or x.dtype not in (torch.float32, torch.float64):
            raise SparseTrainingError(
                f"backend 'compiled' with {x.dtype} inputs and {weight.dtype} weights; "
                "expected float32 or float64, of both."
            )

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        given = state.get(prefix + "weight")
        if given is not None and given.shape != self.weight.shape:
            raise SparseTrainingError(
                f"{prefix}weight: holds {tuple(given.shape)} values, this layer's mask keeps "
                f"{tuple(self.weight.shape)}: a checkpoint of another mask set. Load the state of "
                "its Sparsifier first."
            )
        super()._load_from_state_dict(state, prefix, *rest)
