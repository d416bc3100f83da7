"""Jobs over a Ray cluster: one streaming task a job, whose events flow back to this process."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from marl_runs.ray_connection import ray_session
from marl_runs.runner.context import Ended, Event
from marl_runs.runner.work import ONE_THREAD, POLL_S, Job, execute

if TYPE_CHECKING:
    from marl_runs.runner.desk import StoreDesk


def run_on_ray(desk: StoreDesk, address: str, workers: int | None = None) -> None:
    """Do all jobs of the desk on a Ray cluster.

    Args:
        desk: Hands out jobs and takes in events; the store is only written from this process.
        address: ``auto``, ``HOST:PORT``, or ``local`` to start a cluster on this machine.
        workers: Jobs at the same time; None takes the cluster's processors.

    Raises:
        RayMissingError: Ray is not installed.
        RayConnectionError: No cluster takes us in at `address`.
    """
    with ray_session(address, workers or 1) as ray:
        workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        # A lost task is given back to the desk instead of to Ray's own retries, because the samples
        # it had already sent must be dropped first.
        task = ray.remote(num_cpus=1, max_retries=0, runtime_env={"env_vars": ONE_THREAD})(_stream)
        active: dict[Any, Job] = {}
        while True:
            while not desk.stopping and len(active) < workers and (job := desk.next_job()):
                active[task.options(num_returns="streaming").remote(job)] = job
            if not active:
                if desk.stopping or not desk.unsettled:
                    return
                time.sleep(POLL_S)
                continue
            ready, _ = ray.wait(list(active), num_returns=1, timeout=POLL_S)
            for generator in ready:
                if not _take_in(ray, desk, generator, active[generator]):
                    del active[generator]
            if desk.stopping:
                _cancel(ray, desk, active)


def _take_in(ray: Any, desk: StoreDesk, generator: Any, job: Job) -> bool:
    """Handle the next event of a task; False when the task is over."""
    try:
        event: Event = ray.get(next(generator))
    except StopIteration:
        return False
    except ray.exceptions.RayError as error:
        desk.lost(job, f"its Ray worker was lost: {type(error).__name__}")
        return False
    valid = desk.handle(job, event)
    if not valid:
        ray.cancel(generator)
    return valid and not isinstance(event, Ended)


def _cancel(ray: Any, desk: StoreDesk, active: dict[Any, Job]) -> None:
    """End the tasks; what they had sent so far is kept."""
    for generator, job in list(active.items()):
        ray.cancel(generator)
        desk.handle(job, Ended("interrupted", -1, None, 0.0, 0.0))
        del active[generator]


def _stream(job: Job) -> Iterator[Event]:
    """The task: the experiment runs in a thread, its events are this generator's items."""
    events: queue.Queue[Event] = queue.Queue(maxsize=64)
    stop = threading.Event()

    def emit(event: Event) -> None:
        while not stop.is_set():  # a cancelled task takes no more events
            try:
                events.put(event, timeout=POLL_S)
                break
            except queue.Full:
                continue

    threading.Thread(target=execute, args=(job, emit, stop.is_set), daemon=True).start()
    try:
        while True:
            event = events.get()
            yield event
            if isinstance(event, Ended):
                return
    finally:
        stop.set()
