"""The training loop: batches, phases, topology steps; every state of it can be kept."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from common import FloatArray
from mst.config import PretrainConfig
from mst.data import Corpus, Sampler
from mst.errors import MstError, NotFiniteError
from mst.flops import BY_GRADIENT, Counted, Work, attention_of, schedule_of, update_work
from mst.model import SparseGpt
from mst.phases import TopologyMoment
from mst.switching import apply_to
from runs import usable_device
from sparse_training import SparseAdam, Sparsifier, SparsityConfig

LOOK_EVERY = 50
"""Updates after which losses on a GPU are looked at: each look waits for it."""


class Pretrainer:
    """Trains one model.

    Args:
        config: The settings.
        seed: Seeds weights, masks, growth and batches.
        updates: Length of the run.
        corpus: The text.
        above: Layer -> density from which on the compiled backend multiplies it dense; others
            change over when full.

    Attributes:
        model: The model.
        sparsifier: Its masks; None in a dense run.
        done: Updates so far.
        work: Operations so far.
        cpu_s: Processor time of the updates so far [s].
    """

    def __init__(
        self,
        config: PretrainConfig,
        seed: int,
        updates: int,
        corpus: Corpus,
        above: Mapping[str, float] | None = None,
    ) -> None:
        self.config, self.seed, self.updates = config, seed, updates
        self._corpus = corpus
        shape, sparse = config.shape, config.sparse
        self.device = usable_device(config.device)
        self.schedule = schedule_of(config, updates)
        self._moments = {moment.update: moment for moment in self.schedule.moments()}
        self.model = SparseGpt(
            shape, seed, mask_head=sparse.mask_head, backend=config.backend, device=self.device
        )
        self._above = dict(above or {})
        apply_to(self.model.sparse_layers(), self._above)
        self.sparsifier = self._masks(seed)
        self.optimizer = self._adam()
        text = corpus.texts["train"]
        self._sampler = Sampler(text, shape.context, config.batch, seed, self.device)
        self._losses = torch.full((updates,), math.nan, device=self.device)
        self._looked = 0
        self.done, self.work, self.cpu_s = 0, Counted(), 0.0
        self.density = self.schedule.first_density
        self._before_rise: dict[str, Any] | None = None

    def _masks(self, seed: int) -> Sparsifier | None:
        sparse = self.config.sparse
        if not sparse.phases:
            return None
        settings = SparsityConfig(
            sparsity=1 - self.schedule.first_density,
            rule=sparse.rule,
            unit=sparse.unit,
            growth=sparse.growth,
            optimizer_state=self._state_law(),
        )
        masks = Sparsifier(self.model.sparse_layers(), settings, seed=seed)
        masks.attach()
        return masks

    def _state_law(self) -> str:
        return "keep" if self.config.sparse.faithful else self.config.sparse.optimizer_state

    def _adam(self) -> SparseAdam:
        """AdamW whose decay takes matrices alone; sparse weights are a group of their own."""
        adam = self.config.adam
        sparse = [layer.weight for layer in self.model.sparse_layers().values()]
        chosen = {id(weight) for weight in sparse}
        others = [p for p in self.model.parameters() if id(p) not in chosen]
        groups = [
            {"params": sparse, "weight_decay": adam.weight_decay},
            {"params": [p for p in others if p.dim() > 1], "weight_decay": adam.weight_decay},
            {"params": [p for p in others if p.dim() == 1], "weight_decay": 0.0},
        ]
        return SparseAdam(
            groups, lr=adam.lr, betas=adam.betas, clip=adam.clip, state=self._state_law()
        )

    def lr(self, update: int) -> float:
        """Learning rate of an update: a linear rise, then a fall to its floor by its law."""
        adam = self.config.adam
        rise = max(1, round(adam.warm_up * self.updates))
        if update < rise:
            return adam.lr * (update + 1) / rise
        if adam.law == "trapezoid":
            falling = max(1, round(adam.decay * self.updates))
            high = min(1.0, (self.updates - update) / (falling + 1))
        else:
            share = (update - rise) / max(1, self.updates - rise)
            high = (1 + math.cos(math.pi * share)) / 2
        return adam.lr * (adam.floor + (1 - adam.floor) * high)

    def step(self) -> None:
        """One update, and the topology step that comes with it.

        Raises:
            NotFiniteError: The loss is no number.
        """
        start = time.process_time()
        moment = self._moments.get(self.done)
        self._set_rates()
        if moment is not None and self.sparsifier is not None:
            self.sparsifier.want_gradients(self.config.sparse.growth in BY_GRADIENT)
        self._gradients()
        if moment is None or not self.config.sparse.faithful:
            self.optimizer.step()
        self._count(moment is not None)
        self.done += 1
        self._look(moment is not None)
        if moment is not None:
            self._move(moment)
        self.cpu_s += time.process_time() - start

    def _set_rates(self) -> None:
        rate = self.lr(self.done)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        scale = self.density**self.config.adam.by_density
        self.optimizer.param_groups[0]["lr"] = rate / scale

    def _gradients(self) -> None:
        """Gradients of the mean loss of a batch, in equal parts."""
        config = self.config
        attention = attention_of(config.sparse, self.schedule.phase_at(self.done))
        inputs, targets = self._sampler.batch(self.done)
        parts = config.batch // config.micro_batch
        self.optimizer.zero_grad()
        total = torch.zeros((), device=self.device)
        for start in range(0, config.batch, config.micro_batch):
            part = slice(start, start + config.micro_batch)
            loss = self.model.loss(inputs[part], targets[part], attention) / parts
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        self._losses[self.done] = total

    def _count(self, topology: bool) -> None:
        phase = self.schedule.phase_at(self.done)
        above = tuple(self._above.items())
        self.work += update_work(self.config, self.density, phase, topology, above)

    def _move(self, moment: TopologyMoment) -> None:
        assert self.sparsifier is not None
        if moment.density > self.density and self._before_rise is None:
            self._before_rise = self.sparsifier.state_dict()
        self.sparsifier.step(moment.drop, self.optimizer, 1 - moment.density)
        self.density = moment.density

    @property
    def sparsest(self) -> dict[str, Any] | None:
        """State of the masks before density first rose, or else now; None in a dense run."""
        if self._before_rise is not None or self.sparsifier is None:
            return self._before_rise
        return self.sparsifier.state_dict()

    def _look(self, now: bool) -> None:
        """Fail on a loss that is no number; a GPU is asked only now and then."""
        due = self.device.type == "cpu" or now or self.done == self.updates
        if not due and self.done - self._looked < LOOK_EVERY:
            return
        new = self._losses[self._looked : self.done]
        good = torch.isfinite(new)
        if not bool(good.all()):
            update = self._looked + int((~good).nonzero()[0, 0])
            raise NotFiniteError(
                f"update {update}: the loss is {float(self._losses[update])}, expected a number "
                f"(learning rate {self.lr(update):.3g}, density {self.density:.3g}); the run has "
                "failed. Lower --lr"
            )
        self._looked = self.done

    @property
    def losses(self) -> FloatArray:
        """``(done,)`` mean loss of each update so far [nat/byte]."""
        found: FloatArray = self._losses[: self.done].double().cpu().numpy()
        return found

    def state_dict(self) -> dict[str, Any]:
        """The whole run: model, masks, optimiser and counts."""
        return {
            "config": self.config.plain(),
            "model": self.model.state_dict(),
            "masks": None if self.sparsifier is None else self.sparsifier.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "losses": self._losses,
            "above": self._above,
            "before_rise": self._before_rise,
            "run": {
                "done": self.done,
                "density": self.density,
                "cpu_s": self.cpu_s,
                "theory": vars(self.work.theory),
                "executed": vars(self.work.executed),
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave.

        Raises:
            MstError: It is of another model.
        """
        theirs = PretrainConfig.of(state["config"])
        if theirs.shape != self.config.shape:
            raise MstError(
                f"checkpoint: is of a model {theirs.shape}, expected {self.config.shape}; go on "
                "with the settings that it began with"
            )
        self._above = dict(state["above"])
        apply_to(self.model.sparse_layers(), self._above)
        if self.sparsifier is not None:
            self.sparsifier.load_state_dict(state["masks"])
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self._losses.copy_(state["losses"])
        self._before_rise = state["before_rise"]
        run = state["run"]
        self.done = self._looked = int(run["done"])
        self.density, self.cpu_s = float(run["density"]), float(run["cpu_s"])
        self.work = Counted(Work(**run["theory"]), Work(**run["executed"]))


def loss_rise(losses: FloatArray, moments: list[TopologyMoment], over: int = 10) -> float:
    """Mean rise of the losses behind topology steps above those before [nat/byte].

    Args:
        losses: ``(N,)`` losses of updates.
        moments: Topology steps.
        over: Losses on each side.

    Returns:
        The mean over steps that have so many on both sides; nan where none has.
    """
    rises = [
        losses[m.update + 1 : m.update + 1 + over].mean()
        - losses[m.update + 1 - over : m.update + 1].mean()
        for m in moments
        if over <= m.update + 1 <= len(losses) - over
    ]
    return float(np.mean(rises)) if rises else math.nan
