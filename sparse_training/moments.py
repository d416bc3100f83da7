"""What Adam keeps of a weight: moments, when it was born, and what gone weights have left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from marl_common import FloatArray, IntArray
from sparse_training.values import Form, gather, moved, scatter


@dataclass
class Remains:
    """Moments of units that are gone, for the law ``keep``: with no gradient they only decay.

    Attributes:
        units: Numbers of the units, ascending.
        first: Their first moments when they went.
        second: Their second moments.
        gone: ``(units,)`` steps when they went.
    """

    units: IntArray
    first: Tensor
    second: Tensor
    gone: IntArray


@dataclass
class Moments:
    """Adam's state of one parameter.

    Attributes:
        first: First moments, shaped as the parameter.
        second: Second moments.
        step: Steps so far.
        births: Steps at which weights were born, ascending; 0 are those of the start.
        cohort: Which of the births each weight is of; None while all are of the start.
        remains: Moments of gone units; None where they are not kept.
    """

    first: Tensor
    second: Tensor
    step: int = 0
    births: list[int] = field(default_factory=lambda: [0])
    cohort: Tensor | None = None
    remains: Remains | None = None

    @classmethod
    def of(cls, parameter: Tensor) -> Moments:
        """The state before the first step."""
        return cls(torch.zeros_like(parameter), torch.zeros_like(parameter))

    def corrections(self, group: dict[str, Any]) -> FloatArray:
        """What this step multiplies and divides by, for each birth: weights begin at 0 moments.

        Args:
            group: Settings of the optimiser; `warm_up` counts steps in which new weights' rate
                rises.

        Returns:
            ``(cohorts, 2)``: the step size ``lr / (1 - b1^t)``, and the root of ``1 - b2^t``.
        """
        births = np.array(self.births, dtype=np.float64)
        ages = self.step - births
        b1, b2 = group["betas"]
        rates = group["lr"] / -np.expm1(ages * math.log(b1)) if b1 else group["lr"] + 0 * ages
        if group["warm_up"]:
            rates = np.where(births > 0, rates * np.minimum(ages / group["warm_up"], 1), rates)
        roots = np.sqrt(-np.expm1(ages * math.log(b2))) if b2 else np.ones_like(ages)
        return np.stack([rates, roots], axis=1)

    def move(self, before: Form, after: Form, law: str, betas: tuple[float, float]) -> None:
        """Follow a parameter to another structure.

        Args:
            before: Form of the parameter so far.
            after: Its form from now on.
            law: ``"local"`` (new weights have moments 0 and count their own steps), ``"reset"``
                (moments 0, the common count) or ``"keep"`` (moments go on decaying while a weight
                is gone).
            betas: Decay of the two moments a step.
        """
        old = (self.first, self.second)
        self.first = moved(self.first, before, after)
        self.second = moved(self.second, before, after)
        if law == "keep":
            self._keep_remains(old, before, after, betas)
        elif law == "local":
            self._note_births(before, after)

    def _note_births(self, before: Form, after: Form) -> None:
        births = [*self.births, self.step]
        if self.cohort is None:
            self.cohort = torch.zeros(before.shape, dtype=torch.int32, device=self.first.device)
        found = moved(self.cohort, before, after, born=len(births) - 1)
        # cohorts that nothing is left of are forgotten
        used, again = torch.unique(found, return_inverse=True)
        self.births = [births[int(place)] for place in used]
        self.cohort = again.to(torch.int32)
        if self.births == [0]:
            self.cohort = None

    def _keep_remains(
        self, old: tuple[Tensor, Tensor], before: Form, after: Form, betas: tuple[float, float]
    ) -> None:
        """Put the moments of units that go aside, and hand those of units that return back."""
        first, second = (
            tensor if before.packed else gather(tensor, before.structure) for tensor in old
        )
        kept = self.remains
        went = before.structure.found_in(after.structure) < 0
        at = torch.from_numpy(np.flatnonzero(went)).to(first.device)
        units, gone = before.structure.kept[went], np.full(int(went.sum()), self.step)
        first, second = first[at], second[at]
        if kept is not None:
            back = np.isin(kept.units, after.structure.kept)
            self._give_back(kept, back, after, betas)
            stay = torch.from_numpy(np.flatnonzero(~back)).to(first.device)
            units = np.concatenate([kept.units[~back], units])
            gone = np.concatenate([kept.gone[~back], gone])
            first = torch.cat([kept.first[stay], first])
            second = torch.cat([kept.second[stay], second])
        order = np.argsort(units, kind="stable")
        places = torch.from_numpy(order).to(first.device)
        self.remains = Remains(units[order], first[places], second[places], gone[order])

    def _give_back(self, kept: Remains, back: Any, after: Form, betas: tuple[float, float]) -> None:
        away = torch.from_numpy(self.step - kept.gone[back]).to(self.first)
        places = np.searchsorted(after.structure.kept, kept.units[back])
        at = torch.from_numpy(places).to(self.first.device)
        chosen = torch.from_numpy(np.flatnonzero(back)).to(self.first.device)
        for name, beta in zip(("first", "second"), betas, strict=True):
            held = getattr(self, name)
            values = held if after.packed else gather(held, after.structure)
            remains = getattr(kept, name)[chosen]
            decay = (beta**away).reshape(-1, *[1] * (remains.dim() - 1))
            values[at] = remains * decay
            setattr(self, name, values if after.packed else scatter(values, after.structure))

    def state_dict(self) -> dict[str, Any]:
        """Tensors, arrays and numbers; those of a live optimiser, not copies."""
        kept = self.remains
        return {
            "first": self.first,
            "second": self.second,
            "step": self.step,
            "births": list(self.births),
            "cohort": self.cohort,
            "remains": None if kept is None else dict(vars(kept)),
        }

    @classmethod
    def of_state(cls, state: dict[str, Any], like: Tensor) -> Moments:
        """The moments that :meth:`state_dict` described, copied to where `like` is."""
        kept, cohort = state["remains"], state["cohort"]
        return cls(
            state["first"].to(like, copy=True),
            state["second"].to(like, copy=True),
            int(state["step"]),
            [int(birth) for birth in state["births"]],
            None if cohort is None else cohort.to(like.device, copy=True),
            None if kept is None else _remains_of(kept, like),
        )


def _remains_of(state: dict[str, Any], like: Tensor) -> Remains:
    return Remains(
        np.array(state["units"]),
        state["first"].to(like, copy=True),
        state["second"].to(like, copy=True),
        np.array(state["gone"]),
    )
