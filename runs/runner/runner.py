"""The runner: many experiments, in this process, over worker processes or on a Ray cluster."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from runs.runner import progress as reporters
from runs.runner.context import Ended, Event, Metrics, Progress, Rewind
from runs.runner.experiment import Experiment
from runs.runner.work import Job
from runs.stop import StopFlag, catch_interrupt
from runs.store.blobs import Chunk
from runs.store.errors import ClaimLostError, StoreError
from runs.store.records import ClaimState, Ending, RunStatus
from runs.store.store import Store

BEAT_S = 20.0
RETRIES = 2


@dataclass
class RunSummary:
    """What became of the experiments; each name is in one list, and `keys` has all of them.

    Attributes:
        finished: Done now.
        kept: Finished before; nothing was done.
        busy: Being done by another process.
        failed: Names with their error.
        interrupted: Stopped by the person.
        keys: Key of every experiment in the store, in the order they were given.
    """

    finished: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    stopped: bool = False


def run_all(
    experiments: Sequence[Experiment],
    store: Store,
    *,
    workers: int = 1,
    ray_address: str | None = None,
    reporter: reporters.Reporter | None = None,
    retries: int = RETRIES,
) -> RunSummary:
    """Do all experiments that are not finished in the store; the same call resumes.

    The results do not depend on the number of workers, their order, or interruptions: every run
    follows from its spec and seed. A run that fails is recorded with its error and the others go
    on. Ctrl-C keeps every finished run and what the running ones recorded.

    Args:
        experiments: What to do, in this order.
        store: Where runs are claimed and recorded.
        workers: 1 works in this process; more start that many processes of one thread each (the
            script that calls needs its ``if __name__ == "__main__"`` guard).
        ray_address: Work on this Ray cluster instead (``auto``, ``HOST:PORT`` or ``local``).
        reporter: Default: bars on a terminal, lines elsewhere, on standard error.
        retries: How often a run is done again after its worker was lost.

    Raises:
        StoreError: The store cannot be written.
        RayMissingError: `ray_address` is given and Ray is not installed.
    """
    with reporter or reporters.choose_reporter() as shown:
        desk = _Desk(experiments, store, shown, retries)
        with catch_interrupt(desk.flag, desk.tell_stop), _heartbeat(store):
            if ray_address is not None:
                from runs.runner.ray_workers import run_on_ray

                run_on_ray(desk, ray_address, workers if workers > 1 else None)
            elif workers > 1:
                from runs.runner.processes import run_processes

                run_processes(desk, workers)
            else:
                from runs.runner.inline import run_inline

                run_inline(desk)
        desk.close()
    return desk.summary


class _Desk:
    """Hands out claimed runs and writes what comes back; see :class:`runs.runner.work.Desk`."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        store: Store,
        reporter: reporters.Reporter,
        retries: int,
    ) -> None:
        self._store = store
        self._reporter = reporter
        self._retries = retries
        self._waiting = deque(experiments)
        self._again: deque[Job] = deque()
        self._active: dict[int, Job] = {}
        self.flag = StopFlag()
        self.summary = RunSummary(keys=[e.identity().key for e in experiments])
        reporter.total(len(experiments))

    @property
    def stopping(self) -> bool:
        return bool(self.flag)

    def tell_stop(self) -> None:
        self._reporter.note("Stopping: keeping what was recorded. Press Ctrl-C again to end now.")

    def next_job(self) -> Job | None:
        if self._again:
            job = self._again.popleft()
            self._active[job.run_id] = job
            return job
        while self._waiting:
            experiment = self._waiting.popleft()
            identity = experiment.identity()
            claim = self._store.claim(identity, keep_metrics=experiment.continues)
            if claim.state is ClaimState.CLAIMED:
                job = Job(claim.run_id, experiment, self._store.folder(identity.key))
                self._active[job.run_id] = job
                self._reporter.started(experiment)
                return job
            kept = claim.state is ClaimState.FINISHED
            (self.summary.kept if kept else self.summary.busy).append(experiment.name)
            self._reporter.skipped(experiment, "finished" if kept else "under way elsewhere")
        return None

    def handle(self, job: Job, event: Event) -> bool:
        if job.run_id not in self._active:
            return False
        try:
            self._take_in(job, event)
        except ClaimLostError as error:
            del self._active[job.run_id]
            self._fail(job.experiment, Ended("failed", 0, None, 0.0, 0.0, error=str(error)))
            return False
        return True

    def _take_in(self, job: Job, event: Event) -> None:
        if isinstance(event, Progress):
            self._reporter.moved(job.experiment, event)
        elif isinstance(event, Chunk):
            self._store.append(job.run_id, event)
        elif isinstance(event, Metrics):
            self._store.add_metrics(job.run_id, event.rows)
        elif isinstance(event, Rewind):
            self._store.rewind(job.run_id, event.step)
        else:
            self._end(job, event)

    def _end(self, job: Job, ended: Ended) -> None:
        if ended.samples < 0:  # cut off: what arrived so far is all there is
            recorded = self._store.run(job.run_id)
            ended = replace(ended, samples=recorded.samples, best=recorded.best_value)
        error = ended.error if ended.trace is None else f"{ended.error}\n\n{ended.trace}"
        self._store.end(
            job.run_id,
            Ending(
                status=RunStatus(ended.outcome),
                samples=ended.samples,
                best_value=ended.best,
                wall_s=ended.wall_s,
                cpu_s=ended.cpu_s,
                result=ended.result or None,
                error=error,
            ),
        )
        del self._active[job.run_id]
        if ended.outcome == "failed":
            self._fail(job.experiment, ended)
            return
        done = ended.outcome == "finished"
        (self.summary.finished if done else self.summary.interrupted).append(job.experiment.name)
        self._reporter.ended(job.experiment, ended)

    def _fail(self, experiment: Experiment, ended: Ended) -> None:
        self.summary.failed.append((experiment.name, ended.error or "unknown"))
        self._reporter.ended(experiment, ended)

    def lost(self, job: Job, reason: str) -> None:
        if self._active.pop(job.run_id, None) is None:
            return
        if self.stopping:
            self._active[job.run_id] = job
            self.handle(job, Ended("interrupted", -1, None, 0.0, 0.0))
            return
        if job.tries >= self._retries:
            self._active[job.run_id] = job
            error = f"{reason}, {job.tries + 1} times"
            self.handle(job, Ended("failed", -1, None, 0.0, 0.0, error=error))
            return
        self._reporter.note(f"again     {job.experiment.name}: {reason}")
        self._store.restart(job.run_id, keep_metrics=job.experiment.continues)
        self._again.append(replace(job, tries=job.tries + 1))

    def close(self) -> None:
        """Settle what is still open after a stop."""
        for job in [*self._again, *self._active.values()]:
            self._active[job.run_id] = job
            self.handle(job, Ended("interrupted", -1, None, 0.0, 0.0))
        self._again.clear()
        self.summary.stopped = self.stopping


@contextmanager
def _heartbeat(store: Store) -> Iterator[None]:
    """Refresh this process's claims in the background, for other machines to see."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_S):
            try:
                store.beat()
            except StoreError:
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
