"""The skeleton of a training experiment: go on from a checkpoint, report, save each minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from marl_runs.autosave import Autosave, Resumable
from marl_runs.checkpoint import CheckpointFormat
from marl_runs.metric_boards import MetricBoard
from marl_runs.runner.context import Context
from marl_runs.runner.experiment import Experiment


class TrainingSession:
    """A training run while it runs.

    Attributes:
        context: Where it reports to.
        tick: To be called after each step: saves when it is time to, and stops when asked to.
    """

    def __init__(self, context: Context, board: MetricBoard, tick: Callable[[], None]) -> None:
        self.context, self.tick, self._board = context, tick, board

    def send(self, figures: Mapping[str, float], at: int, best: float) -> None:
        """Send figures to the store and the board.

        Args:
            figures: Name -> value.
            at: How much of the budget is used.
            best: What the store minimises.
        """
        for name, value in figures.items():
            self.context.metric(name, float(value), at)
            self._board.add(name, float(value), at)
        self.context.progress(at, best)


@contextmanager
def training_session(
    experiment: Experiment,
    context: Context,
    trainer: Resumable,
    form: CheckpointFormat,
    done: Callable[[], int],
) -> Iterator[TrainingSession]:
    """Train within the block, from the checkpoint on where there is one; then the checkpoint goes.

    Args:
        experiment: The run; its `log` names a board, or is None.
        context: What the runner gives it.
        trainer: What is saved.
        form: Form of its checkpoint.
        done: How much of the budget the trainer has used.

    Raises:
        CheckpointError: The checkpoint does not fit.
        BoardError: The board cannot be written.
    """
    autosave = Autosave(context, trainer, form)
    if autosave.resume():
        context.rewind(done())
    log: str | None = getattr(experiment, "log", None)
    with MetricBoard(log, f"{experiment.name} {experiment.identity().key[:8]}") as board:
        yield TrainingSession(context, board, autosave.tick)
    autosave.finish()
