"""A model's sparse layers while any optimiser of torch steps: masks and operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from zlib import crc32

import torch
from torch import distributed
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim import Optimizer
from torch.utils.flop_counter import FlopCounterMode

from sparse_training.errors import SparseTrainingError
from sparse_training.flops import FlopColumns, Flops, layer_flops
from sparse_training.linear import SparseLinear
from sparse_training.optimizers import SparseAdam, check_state
from sparse_training.schedules import MaskSchedule, cosine_drop
from sparse_training.sparsifier import Sparsifier, SparsityConfig


class ModelFlops(NamedTuple):
    """Operations of a whole model for one batch; backward passes count as two forward ones.

    Attributes:
        inference: Of a forward pass.
        training: Of a forward and a backward pass.
        dense: Of a forward pass of the same model with all of its weights.
    """

    inference: FlopColumns
    training: FlopColumns
    dense: int


class ModelSparsifier(Sparsifier):
    """The sparse layers of a model, as :func:`sparsify` gives them.

    Args:
        model: What has the layers.
        layers: By their names in it.
        config: How sparse, and how masks change.
        schedule: When they change; None: they stay as drawn.
        seed: Draws masks and random growth; the same on all processes.

    Attributes:
        left_dense: Layers that stay dense, and why.
        updates: Steps of the optimiser so far.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        layers: Mapping[str, SparseLinear],
        config: SparsityConfig,
        schedule: MaskSchedule | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(layers, config, seed=seed)
        if (
            schedule is not None
            and max(schedule.reach, 1) > schedule.end // config.every * config.every
        ):
            raise SparseTrainingError(
                f"schedule that ends at update {schedule.end} and reaches its sparsity at "
                f"{schedule.reach}; expected a topology step between, of one every "
                f"{config.every} updates."
            )
        self.model, self.schedule = model, schedule
        self.left_dense: dict[str, str] = {}
        self.updates = 0
        self._optimizer: Optimizer | None = None
        self._rows: dict[str, int] | None = None
        self._others = 0
        self._spent = FlopColumns()

    def follow(self, optimizer: Optimizer) -> None:
        """Change masks, and count, after each step of an optimiser from now on.

        Args:
            optimizer: Any of torch that steps all sparse weights, built after :func:`sparsify`.

        Raises:
            SparseTrainingError: It was built before, holds not all weights or state of another
                shape, another is followed, or masks differ between processes.
        """
        if self._optimizer is not None:
            raise SparseTrainingError("an optimiser is followed already; expected one.")
        held = {id(p) for group in optimizer.param_groups for p in group["params"]}
        for name, layer in self.layers.items():
            if id(layer.weight) not in held:
                raise SparseTrainingError(
                    f"{type(optimizer).__name__} does not hold the weight of {name!r}: it was "
                    "built for another model, or for some of the weights. Build it from "
                    "model.parameters() after sparsify."
                )
            if not isinstance(optimizer, SparseAdam):
                check_state(optimizer, optimizer.state.get(layer.weight, {}), layer.weight.shape)
        self._check_processes()
        self._optimizer = optimizer
        optimizer.register_step_post_hook(lambda *_: self._after_step())
        self._prepare()

    def _check_processes(self) -> None:
        """Refuse other masks, or weights whose number changes, in other processes."""
        if not (distributed.is_available() and distributed.is_initialized()):
            return
        if self.schedule is not None and self.schedule.first_sparsity is not None:
            raise SparseTrainingError(
                "first_sparsity with several processes: DistributedDataParallel needs as many "
                "weights throughout. Leave first_sparsity out."
            )
        mine = [crc32(structure.bits.tobytes()) for structure in self._structures().values()]
        sums: list[Any] = [None] * distributed.get_world_size()
        distributed.all_gather_object(sums, mine)
        if any(other != mine for other in sums):
            raise SparseTrainingError(
                "masks differ between processes; expected the same. Give sparsify one seed."
            )

    def _is_topology(self, update: int) -> bool:
        return self.schedule is not None and (
            update % self.config.every == 0 and update <= self.schedule.end
        )

    def _prepare(self) -> None:
        """Have dense gradients where the next update is followed by a topology step."""
        self.want_gradients(self.by_gradient and self._is_topology(self.updates + 1))

    def _after_step(self) -> None:
        self.updates += 1
        now = self._is_topology(self.updates)
        if self._rows is not None:
            self._spent += self._training(now and self.by_gradient)
        if now and self.schedule is not None:
            drop = cosine_drop(self.config.drop, self.updates, self.schedule.end + 1)
            sparsity = self.schedule.sparsity(self.config.sparsity, self.updates)
            self.step(drop, self._optimizer, sparsity)
        if now or self._is_topology(self.updates + 1):
            self._prepare()

    def count(self, *inputs: Any, **named: Any) -> ModelFlops:
        """Count the operations of one batch, by a forward pass; :attr:`spent` counts from then on.

        Matrix products, convolutions and attention count, as torch counts them; sparse layers by
        their kept weights.

        Args:
            inputs: What the model takes.
            named: The same by name.
        """
        rows = dict.fromkeys(self.layers, 0)

        def note(name: str) -> Any:
            def hook(layer: SparseLinear, given: tuple[torch.Tensor, ...]) -> None:
                rows[name] += given[0].numel() // layer.in_features

            return hook

        hooks = [one.register_forward_pre_hook(note(name)) for name, one in self.layers.items()]
        modes = {module: module.training for module in self.model.modules()}
        fast = torch.backends.mha.get_fastpath_enabled()  # fused attention goes uncounted
        try:
            self.model.eval()
            torch.backends.mha.set_fastpath_enabled(False)
            plain = sdpa_kernel(SDPBackend.MATH)
            with FlopCounterMode(display=False) as counter, torch.no_grad(), plain:
                self.model(*inputs, **named)
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            for hook in hooks:
                hook.remove()
            for module, mode in modes.items():
                module.training = mode
        seen = [layer for layer in self.layers if not self.layers[layer].packed]
        self._rows, found = rows, counter.get_total_flops()
        self._others = found - sum(self._of(name).executed.forward for name in seen)
        sizes = sum(2 * layer.weight_count * rows[name] for name, layer in self.layers.items())
        return ModelFlops(self._inference(), self._training(), self._others + sizes)

    @property
    def spent(self) -> FlopColumns:
        """Operations of all steps that were followed since :meth:`count`.

        Raises:
            SparseTrainingError: Nothing was counted.
        """
        if self._rows is None:
            raise SparseTrainingError("call count() with a batch first: it tells rows of layers.")
        return self._spent

    def _of(self, name: str, topology: bool = False) -> FlopColumns:
        assert self._rows is not None
        return layer_flops(self.layers[name], self._rows[name], topology=topology)

    def _inference(self) -> FlopColumns:
        others = Flops(self._others)
        total = sum(map(self._of, self.layers), FlopColumns(others, others))
        return FlopColumns(Flops(total.theoretical.forward), Flops(total.executed.forward))

    def _training(self, topology: bool = False) -> FlopColumns:
        others = Flops(self._others, 2 * self._others)
        found = (self._of(name, topology) for name in self.layers)
        return sum(found, FlopColumns(others, others))

    def state_dict(self) -> dict[str, Any]:
        """That of a :class:`Sparsifier`, and the updates so far."""
        return {**super().state_dict(), "updates": self.updates}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Give the layers the masks of a state; then load the model's, then the optimiser's.

        Raises:
            SparseTrainingError: The state is of other layers or units.
        """
        super().load_state_dict(state)
        self.updates = int(state.get("updates", 0))
        self._prepare()
