"""One experiment in this process, of which nothing is kept."""

from __future__ import annotations

import tempfile
from pathlib import Path

from marl_runs.runner.context import Context, Ended, Event, Progress
from marl_runs.runner.display import choose_reporter
from marl_runs.runner.experiment import Experiment
from marl_runs.runner.progress import Reporter
from marl_runs.runner.safe_reporter import safely
from marl_runs.runner.work import attempt
from marl_runs.stop import StopFlag, catch_interrupt


def run_alone(
    experiment: Experiment, reporter: Reporter | None = None
) -> tuple[Ended, BaseException | None]:
    """Do one experiment here and now, without a store.

    Ctrl-C ends it as :func:`marl_runs.run_all` would; whatever it has so far is its result.

    Args:
        experiment: What to do.
        reporter: Default: a line on a terminal, lines elsewhere, on standard error.

    Returns:
        How it ended, and the exception if it failed.

    Raises:
        KeyboardInterrupt: A second Ctrl-C came before it could stop.
    """
    stop = StopFlag()
    display = safely(reporter or choose_reporter(1))
    with display as shown, tempfile.TemporaryDirectory() as folder:

        def emit(event: Event) -> None:
            if isinstance(event, Progress):
                shown.moved(experiment, event)

        context = Context(
            emit,
            lambda: bool(stop),
            Path(folder) / "run",
            saves_first=experiment.continues,
            keeps_samples=False,
        )
        shown.total(1)
        shown.started(experiment)
        with catch_interrupt(stop, lambda: shown.note("Stopping. Press Ctrl-C again to end now.")):
            ended, failure = attempt(experiment, context, prepare=False)
        shown.ended(experiment, ended)
    return ended, failure
