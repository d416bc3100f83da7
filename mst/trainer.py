"""The training loop: batches, phases, topology steps; every state of it can be kept."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from marl_common import FloatArray
from marl_runs import usable_device
from mst.attention import Attention
from mst.building import learning_rate, loss_of, make_masks, make_model, make_optimizer
from mst.config import PretrainConfig
from mst.data import Corpus, Sampler
from mst.errors import MstError, NotFiniteError
from mst.flops import attention_of, schedule_of, update_work
from mst.phases import TopologyMoment
from mst.switching import apply_to
from mst.team import ALONE, ProcessTeam
from mst.work import Counted, Work

LOOK_EVERY = 50
"""Updates after which losses on a GPU are looked at: each look waits for it."""


class Pretrainer:
    """Trains one model; :meth:`step` is the loop of nanoGPT's `train.py` with masks that move.

    Args:
        config: The settings.
        seed: Seeds weights, masks, growth and batches.
        updates: Length of the run.
        corpus: The text.
        above: Layer -> density from which on the compiled backend multiplies it dense; others
            change over when full.
        team: The processes that share each batch.

    Attributes:
        model: The model.
        sparsifier: Its masks; None in a dense run.
        done: Updates so far.
        work: Operations so far.
        cpu_s: Processor time of the updates so far, of all processes [s].
    """

    def __init__(
        self,
        config: PretrainConfig,
        seed: int,
        updates: int,
        corpus: Corpus,
        above: Mapping[str, float] | None = None,
        team: ProcessTeam = ALONE,
    ) -> None:
        self.config, self.seed, self.updates, self.team = config, seed, updates, team
        self.device = usable_device(config.device)
        self.schedule = schedule_of(config, updates)
        self._moments = {moment.update: moment for moment in self.schedule.moments()}
        self.density = self.schedule.first_density
        self.model = make_model(config, seed, self.device)
        self._above = dict(above or {})
        apply_to(self.model.sparse_layers(), self._above)
        self.sparsifier = make_masks(config, self.model, self.density, seed)
        self.optimizer = make_optimizer(config, self.model)
        self._loss = loss_of(self.model, config.compile)
        text = corpus.texts["train"]
        self._sampler = Sampler(text, config.shape.context, config.batch, seed, self.device)
        self._losses = torch.full((updates,), math.nan, device=self.device)
        self._looked = 0
        self.done, self.work, self.cpu_s = 0, Counted(), 0.0
        self._before_rise: dict[str, Any] | None = None

    def lr(self, update: int) -> float:
        """Learning rate of an update."""
        return learning_rate(self.config.adam, update, self.updates)

    def step(self) -> None:
        """One update, and the topology step that comes with it.

        Raises:
            NotFiniteError: The loss is no number.
        """
        start = time.process_time()
        sparse, update = self.config.sparse, self.done
        phase, moment = self.schedule.phase_at(update), self._moments.get(update)
        self._set_rates(self.lr(update))
        if moment is not None and self.sparsifier is not None:
            self.sparsifier.want_gradients(self.sparsifier.by_gradient)
        self.optimizer.zero_grad()
        self._losses[update] = self._gradients(update, attention_of(sparse, phase))
        if moment is None or not sparse.faithful:
            self.optimizer.step()  # clips, too
        above = tuple(self._above.items())
        self.work += update_work(self.config, self.density, phase, moment is not None, above)
        self.done += 1
        self._look(moment is not None)
        if moment is not None:
            self._move(moment)
        self.cpu_s += self.team.sum(time.process_time() - start)

    def _set_rates(self, rate: float) -> None:
        """One rate for all, divided by a power of the density for sparse layers."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.param_groups[0]["lr"] = rate / self.density**self.config.adam.by_density

    def _gradients(self, update: int, attention: Attention) -> torch.Tensor:
        """Gradients of the mean loss of a batch, added up over equal parts: that loss."""
        config, team = self.config, self.team
        inputs, targets = self._sampler.batch(update)
        parts = [
            slice(first, first + config.micro_batch)
            for first in range(0, config.batch, config.micro_batch)
        ]
        total = torch.zeros((), device=self.device)
        for part in parts[team.rank :: team.size]:
            with self._precision():
                loss = self._loss(inputs[part], targets[part], attention) / len(parts)
            loss.backward()
            total += loss.detach()
        return team.add_up(self.model, total)

    def _precision(self) -> AbstractContextManager[Any]:
        """What products are computed in."""
        if self.config.dtype == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

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
        """``(done,)`` mean loss of each update so far [nat/token]."""
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
