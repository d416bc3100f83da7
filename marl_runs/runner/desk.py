"""The desk: hands out claimed runs, and writes what comes back into the store."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from marl_runs.runner.context import Ended, Event, Metrics, Progress, Rewind
from marl_runs.runner.experiment import Experiment
from marl_runs.runner.progress import Reporter
from marl_runs.runner.work import Job
from marl_runs.stop import StopFlag
from marl_runs.store.blobs import Chunk
from marl_runs.store.errors import ClaimLostError
from marl_runs.store.records import ClaimState, Ending, RunIdentity, RunStatus
from marl_runs.store.store import Store

ASK_S = 1.0
"""How often it is asked whether another process is over with a run [s]."""


@dataclass
class RunSummary:
    """What became of the experiments; each name is in one list, and `keys` has all of them.

    Attributes:
        finished: Done now.
        kept: Finished before, or by another process meanwhile; nothing was done here.
        busy: Still being done by another process when this one was stopped.
        failed: Names with their error.
        interrupted: Stopped by the person.
        keys: Key of every experiment in the store, in the order they were given.
        stopped: Whether the person asked to stop.
    """

    finished: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    stopped: bool = False


@dataclass(frozen=True)
class Planned:
    """An experiment that is not over.

    Args:
        place: Its place among all.
        experiment: What to do.
        identity: Which run it is.
    """

    place: int
    experiment: Experiment
    identity: RunIdentity


class StoreDesk:
    """The one place that hands out jobs and takes in events.

    A run that another process does is waited for: it is kept when that process finishes it, and
    done here when that process ends without.

    Args:
        experiments: What to do.
        store: Where it is recorded; only the desk writes it.
        reporter: Tells the person.
        retries: How often a run is done again after its worker was lost.
        on_end: Called with every experiment that finished or was interrupted here.
    """

    def __init__(
        self,
        experiments: Sequence[Experiment],
        store: Store,
        reporter: Reporter,
        retries: int,
        on_end: Callable[[Experiment], None],
    ) -> None:
        self._store, self._reporter = store, reporter
        self._retries, self._on_end = retries, on_end
        self._waiting = deque(
            Planned(place, experiment, experiment.identity())
            for place, experiment in enumerate(experiments)
        )
        self.summary = RunSummary(keys=[item.identity.key for item in self._waiting])
        self._open = {item.identity.key: item.place for item in reversed(self._waiting)}
        self._elsewhere: deque[Planned] = deque()
        self._asked = 0.0
        self._again: deque[Job] = deque()
        self._active: dict[int, Job] = {}
        self.flag = StopFlag()
        reporter.total(len(experiments))

    @property
    def stopping(self) -> bool:
        """Whether the person asked to stop."""
        return bool(self.flag)

    @property
    def unsettled(self) -> bool:
        """Whether there may be a job later: another process does a run, or one must come first."""
        return bool(self._waiting or self._elsewhere or self._again)

    def tell_stop(self) -> None:
        """Say that the request to stop has arrived."""
        self._reporter.note("Stopping: keeping what was recorded. Press Ctrl-C again to end now.")

    def next_job(self) -> Job | None:
        """A job that nobody else does, or None when there is none now."""
        if self._again:
            job = self._again.popleft()
            self._active[job.run_id] = job
            return job
        return self._claim_one_of(self._waiting) or self._ask_again()

    def _claim_one_of(self, planned: deque[Planned]) -> Job | None:
        """The first run that can be claimed; those before it leave `planned`."""
        place = 0
        while place < len(planned):
            item = planned[place]
            if self._must_wait(item):
                place += 1
                continue
            del planned[place]
            continues = item.experiment.continues
            claim = self._store.claim(item.identity, keep_metrics=continues)
            if claim.state is ClaimState.CLAIMED:
                job = Job(claim.run_id, item.identity.key, item.experiment, self._store.files)
                self._active[job.run_id] = job
                if claim.unlike:
                    self._reporter.note(claim.unlike)
                self._reporter.started(item.experiment)
                return job
            if claim.state is ClaimState.BUSY:
                self._elsewhere.append(item)
                continue
            self.summary.kept.append(item.experiment.name)
            self._reporter.skipped(item.experiment, "finished")
            self._open.pop(item.identity.key, None)
        return None

    def _must_wait(self, item: Planned) -> bool:
        """Whether an earlier experiment that it takes over from is not over."""
        return any(self._open.get(key, item.place) < item.place for key in item.experiment.after)

    def _ask_again(self) -> Job | None:
        """Look after the runs of other processes, now and then."""
        if not self._elsewhere or time.monotonic() - self._asked < ASK_S:
            return None
        if not self._asked:
            self._reporter.note(f"waiting for {len(self._elsewhere)} of another process")
        self._asked = time.monotonic()
        planned, self._elsewhere = self._elsewhere, deque()
        job = self._claim_one_of(planned)
        self._elsewhere.extend(planned)
        return job

    def handle(self, job: Job, event: Event) -> bool:
        """Take in an event of a job; False: the job is void, stop it."""
        if job.run_id not in self._active:
            return False
        try:
            self._take_in(job, event)
        except ClaimLostError as error:
            self._close(job)
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
        self._close(job)
        if ended.outcome == "failed":
            self._fail(job.experiment, ended)
            return
        done = ended.outcome == "finished"
        (self.summary.finished if done else self.summary.interrupted).append(job.experiment.name)
        self._reporter.ended(job.experiment, ended)
        self._on_end(job.experiment)

    def _close(self, job: Job) -> None:
        """The job is over."""
        del self._active[job.run_id]
        self._open.pop(job.key, None)

    def _fail(self, experiment: Experiment, ended: Ended) -> None:
        self.summary.failed.append((experiment.name, ended.error or "unknown"))
        self._reporter.ended(experiment, ended)

    def lost(self, job: Job, reason: str) -> None:
        """The worker is gone before the job ended: it will be done again."""
        if job.run_id not in self._active:
            return
        if self.stopping:
            self.handle(job, Ended("interrupted", -1, None, 0.0, 0.0))
            return
        if job.tries >= self._retries:
            error = f"{reason}, {job.tries + 1} times"
            self.handle(job, Ended("failed", -1, None, 0.0, 0.0, error=error))
            return
        del self._active[job.run_id]
        self._reporter.note(f"again     {job.experiment.name}: {reason}")
        self._store.restart(job.run_id, keep_metrics=job.experiment.continues)
        self._again.append(replace(job, tries=job.tries + 1))

    def close(self) -> None:
        """Settle what is still open after a stop."""
        for job in [*self._again, *self._active.values()]:
            self._active[job.run_id] = job
            self.handle(job, Ended("interrupted", -1, None, 0.0, 0.0))
        self._again.clear()
        self.summary.busy += [item.experiment.name for item in self._elsewhere]
        self.summary.stopped = self.stopping
