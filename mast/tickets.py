"""Lottery tickets: training again with a mask that stays.

Four tickets: the run's last mask with a new start (``final``) and with the weights that the run
began with (``original``), the last mask of plain RigL (``rigl``, which is trained first where the
store has no such run), and a random mask (``random``). Targets are the run's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from marl_runs import Context, Experiment, Store, kept_run
from mast.config import MastConfig
from mast.errors import MastError
from mast.experiment import ValueTraining
from mast.kept import KINDS, learnt

if TYPE_CHECKING:
    from mast.trainer import MastTrainer

TICKETS = ("final", "original", "rigl", "random")


@dataclass(frozen=True)
class TicketTraining(ValueTraining):
    """Training of a static network whose mask comes from another run.

    Attributes:
        ticket: Name in :data:`TICKETS`.
        source: Key of the run whose mask it takes; empty: the mask is random.
    """

    kind: ClassVar[str] = "mast-ticket"
    ticket: str = "final"
    source: str = ""

    @property
    def name(self) -> str:
        """Task, algorithm, ticket and seed."""
        c = self.config
        return f"{c.task} {c.algorithm} ticket {self.ticket} {c.sparsity:g} seed {self.seed}"

    @property
    def after(self) -> Sequence[str]:
        """The run whose mask it takes."""
        return [self.source] if self.source else []

    def spec(self) -> Mapping[str, Any]:
        """See :meth:`Experiment.spec`."""
        return {**super().spec(), "ticket": self.ticket, "source": self.source}

    def trainer(self, context: Context) -> MastTrainer:
        """The trainer at its start, with the ticket's mask."""
        trainer = super().trainer(context)
        if self.source:
            folder = context.folder_of(self.source)
            assert folder is not None
            _, state = learnt(folder)
            trainer.learner.take_masks(state["learner"]["masks"])
        return trainer


def ticket_runs(store: Store, text: str, seeds: Sequence[int], episodes: int) -> list[Experiment]:
    """All tickets of a run, and plain RigL where it is still to be trained.

    Args:
        store: Where the run is.
        text: Number of the run, or how its key begins.
        seeds: Seeds of the tickets; the original start is that of the run's own.
        episodes: Greedy episodes of an evaluation.

    Raises:
        MastError: The run is dense.
    """
    run = kept_run(store, text, KINDS)
    config = MastConfig.of(run.spec["config"])
    if not config.targets.sparse:
        raise MastError(f"run {text!r} is dense and has no mask; expected a sparse arm.")
    targets = "+" if config.targets.parts else ""
    static = replace(config, arm=f"static{targets}", growth=None)
    rigl = ValueTraining(
        replace(config, arm="rigl", without=(), growth=None), run.seed, run.budget, episodes
    )
    made: list[Experiment] = [rigl]
    sources = {"final": run.key, "original": run.key, "rigl": rigl.identity().key, "random": ""}
    for ticket in TICKETS:
        for seed in [run.seed] if ticket == "original" else [s + NEW_START for s in seeds]:
            made.append(
                TicketTraining(
                    static, seed, run.budget, episodes, ticket=ticket, source=sources[ticket]
                )
            )
    return made


NEW_START = 1_000
"""Added to a ticket's seed, so that it does not begin with the run's own weights."""
