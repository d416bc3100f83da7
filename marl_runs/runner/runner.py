"""The runner: many experiments, in this process, over worker processes or on a Ray cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from marl_runs.runner.desk import RunSummary, StoreDesk
from marl_runs.runner.display import choose_reporter
from marl_runs.runner.experiment import Experiment
from marl_runs.runner.progress import Reporter
from marl_runs.runner.safe_reporter import safely
from marl_runs.stop import catch_interrupt
from marl_runs.store.errors import StoreError, StoreFault
from marl_runs.store.store import Store

BEAT_S = 20.0
RETRIES = 2


def run_all(
    experiments: Sequence[Experiment],
    store: Store,
    *,
    workers: int = 1,
    ray_address: str | None = None,
    reporter: Reporter | None = None,
    retries: int = RETRIES,
    on_end: Callable[[Experiment], None] = lambda experiment: None,
) -> RunSummary:
    """Do all experiments that are not finished in the store; the same call resumes.

    The results do not depend on the number of workers, their order, or interruptions: every run
    follows from its spec and seed. A run that fails is recorded with its error and the others go
    on; one that another process does is waited for. Ctrl-C keeps every finished run and what the
    running ones recorded.

    Args:
        experiments: What to do, in this order; one comes after those it takes over from.
        store: Where runs are claimed and recorded.
        workers: 1 works in this process; more start that many processes of one thread each (the
            script that calls needs its ``if __name__ == "__main__"`` guard).
        ray_address: Work on this Ray cluster instead (``auto``, ``HOST:PORT`` or ``local``).
        reporter: Default: bars on a terminal, lines elsewhere, on standard error.
        retries: How often a run is done again after its worker was lost.
        on_end: Called with every experiment that finished or was interrupted here, after the
            store has it.

    Raises:
        StoreError: The store cannot be written.
        StoreFault: The disk is full, or the database went away; the claims are given up.
        RayMissingError: `ray_address` is given and Ray is not installed.
    """
    with safely(reporter or choose_reporter(len(experiments))) as shown:
        desk = StoreDesk(experiments, store, shown, retries, on_end)
        try:
            with catch_interrupt(desk.flag, desk.tell_stop), _heartbeat(store):
                _work(desk, workers, ray_address)
            desk.close()
        except BaseException:
            store.let_go()
            raise
    return desk.summary


def _work(desk: StoreDesk, workers: int, ray_address: str | None) -> None:
    if ray_address is not None:
        from marl_runs.runner.ray_workers import run_on_ray

        run_on_ray(desk, ray_address, workers if workers > 1 else None)
    elif workers > 1:
        from marl_runs.runner.processes import run_processes

        run_processes(desk, workers)
    else:
        from marl_runs.runner.inline import run_inline

        run_inline(desk)


@contextmanager
def _heartbeat(store: Store) -> Iterator[None]:
    """Refresh this process's claims in the background, for other machines to see."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_S):
            try:
                store.beat()
            except (StoreError, StoreFault):
                continue  # the next write of the main thread reports it

    thread = threading.Thread(target=beat, daemon=True)
    if store.location != ":memory:":
        thread.start()
    try:
        yield
    finally:
        over.set()
        if thread.is_alive():
            thread.join()
