"""A reporter that never ends a run: the terminal may go away while it writes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import cast

from marl_runs.runner.progress import Reporter


@contextlib.contextmanager
def safely(reporter: Reporter) -> Iterator[Reporter]:
    """Begin and end a reporter; what it cannot write is dropped.

    Args:
        reporter: Tells the person how it goes.
    """
    safe = _SafeReporter(reporter)
    safe.__getattr__("__enter__")()
    try:
        yield cast(Reporter, safe)
    finally:
        safe.__getattr__("__exit__")(None, None, None)


class _SafeReporter:
    """Hands every call on to a reporter, and drops the errors of its stream."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._reporter, name)

        def call(*arguments: object) -> None:
            with contextlib.suppress(OSError):
                method(*arguments)

        return call
