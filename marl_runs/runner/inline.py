"""Jobs in this very process, one after the other."""

from __future__ import annotations

import time

from marl_runs.runner.context import Event
from marl_runs.runner.desk import StoreDesk
from marl_runs.runner.work import POLL_S, Job, execute


def run_inline(desk: StoreDesk) -> None:
    """Do all jobs of the desk here."""
    while not desk.stopping:
        job = desk.next_job()
        if job is not None:
            _run_one(desk, job)
        elif desk.unsettled:
            time.sleep(POLL_S)
        else:
            return


def _run_one(desk: StoreDesk, job: Job) -> None:
    void = False

    def emit(event: Event) -> None:
        nonlocal void
        void = not desk.handle(job, event) or void

    execute(job, emit, lambda: desk.stopping or void)
