"""Work of one experiment, shared out to workers that stay: processes of this machine, or Ray's."""

from __future__ import annotations

import multiprocessing
import operator
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

from marl_runs.ray_connection import ray_session
from marl_runs.runner.work import ONE_THREAD, one_thread_environment

T = TypeVar("T")
R = TypeVar("R")
Hand = Callable[[Callable[[Any], Any], Any], Callable[[], tuple[Any, float]]]
"""Gives a worker a function and a task; what it returns waits for the result and the seconds."""


class Crew:
    """Workers that tasks are shared out to; by default this process alone.

    Task `i` of a list always goes to worker ``i % workers``, so that what a worker keeps from one
    list to the next is at hand.

    Args:
        hands: One a worker.

    Attributes:
        cpu_s: Processor time that the workers spent, without this process's own [s].
    """

    def __init__(self, hands: Sequence[Hand] = ()) -> None:
        self._hands = hands
        self.cpu_s = 0.0

    def share_out(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Begin all tasks; their results come in the order of the tasks.

        Args:
            function: Of a module, so that workers can import it.
            tasks: What travels to the workers.

        Raises:
            BrokenProcessPool: A worker process died; on Ray, its own error.
        """
        if not self._hands:
            return map(function, tasks)
        waiting = [self._hands[n % len(self._hands)](function, t) for n, t in enumerate(tasks)]
        return (self._taken(one) for one in waiting)

    def _taken(self, waiting: Callable[[], tuple[R, float]]) -> R:
        result, spent = waiting()
        self.cpu_s += spent
        return result


@contextmanager
def gathered(workers: int, ray_address: str | None = None) -> Iterator[Crew]:
    """A crew for the length of the block.

    Args:
        workers: 1 works in this process, more in that many others, of one thread each.
        ray_address: Work on this Ray cluster instead (``auto``, ``HOST:PORT`` or ``local``).

    Raises:
        RayMissingError: `ray_address` is given and Ray is not installed.
        RayConnectionError: No cluster takes us in there.
    """
    with ExitStack() as ends:
        if ray_address is not None:
            yield Crew(
                _of_ray(ends.enter_context(ray_session(ray_address, workers)), ends, workers)
            )
        elif workers > 1:
            yield Crew([_of_process(ends, one_thread_environment()) for _ in range(workers)])
        else:
            yield Crew()


def in_fresh_process(function: Callable[..., R], *args: Any) -> R:
    """Call a function of a module in a new interpreter, whose heap nothing has fragmented.

    Args:
        function: Found again there by its name.
        args: What it takes; pickled.

    Returns:
        What the function returned, pickled back; what it raised is raised here.
    """
    with ExitStack() as ends:
        crew = Crew([_of_process(ends, nullcontext())])
        (result,) = crew.share_out(operator.call, [partial(function, *args)])
        return result


def _of_process(ends: ExitStack, environment: AbstractContextManager[Any]) -> Hand:
    # an executor of its own for each worker: one of several gives a task to whoever is free
    context = multiprocessing.get_context("spawn")
    process = ProcessPoolExecutor(1, mp_context=context, initializer=_begin)
    ends.callback(process.shutdown, cancel_futures=True)
    with environment:
        process.submit(os.getpid)  # starts it

    def hand(function: Callable[[Any], Any], task: Any) -> Callable[[], tuple[Any, float]]:
        return process.submit(_timed, function, task).result

    return hand


def _of_ray(ray: Any, ends: ExitStack, workers: int) -> list[Hand]:
    actor = ray.remote(num_cpus=1, runtime_env={"env_vars": ONE_THREAD})(_Worker)
    members = [actor.remote() for _ in range(workers)]
    for member in members:
        ends.callback(ray.kill, member)

    def hand(member: Any, function: Callable[[Any], Any], task: Any) -> Any:
        return partial(ray.get, member.do.remote(function, task))

    return [partial(hand, member) for member in members]


class _Worker:
    """A worker on Ray."""

    def do(self, function: Callable[[Any], Any], task: Any) -> tuple[Any, float]:
        """A task's result and the seconds it took."""
        return _timed(function, task)


def _timed(function: Callable[[T], R], task: T) -> tuple[R, float]:
    begin = time.process_time()
    return function(task), time.process_time() - begin


def _begin() -> None:
    """Leave Ctrl-C to the owner, and end when the owner is gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    owner = multiprocessing.parent_process()
    assert owner is not None

    def follow() -> None:
        owner.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
