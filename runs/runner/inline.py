"""Jobs in this very process, one after the other."""

from __future__ import annotations

from runs.runner.context import Event
from runs.runner.work import Desk, Job, execute


def run_inline(desk: Desk) -> None:
    """Do all jobs of the desk here."""
    while not desk.stopping and (job := desk.next_job()) is not None:
        _run_one(desk, job)


def _run_one(desk: Desk, job: Job) -> None:
    void = False

    def emit(event: Event) -> None:
        nonlocal void
        void = not desk.handle(job, event) or void

    execute(job, emit, lambda: desk.stopping or void)
