"""Saving a long experiment each minute and when it is stopped, and going on from there."""

from __future__ import annotations

import time
from typing import Any, Protocol

from marl_runs.checkpoint import CheckpointFormat
from marl_runs.runner.context import Context, StopRun

EVERY_S = 60.0
"""A running experiment is saved this often [s]."""
FILE = "checkpoint.pt"


class Resumable(Protocol):
    """Something whose whole state can be taken and given back."""

    def state_dict(self) -> dict[str, Any]:
        """The state, see :data:`marl_runs.checkpoint.State`."""

    def load_state_dict(self, state: dict[str, Any]) -> object:
        """Take back what :meth:`state_dict` gave."""


class Autosave:
    """Keeps a checkpoint of a running experiment in its folder.

    The experiment sets ``continues = True`` and calls :meth:`resume` before its first step,
    :meth:`tick` after each step and :meth:`finish` after the last. A run that is killed loses a
    minute at most; one that is stopped loses nothing.

    Args:
        context: The running experiment's.
        subject: What is saved.
        form: The checkpoint's form.
    """

    def __init__(self, context: Context, subject: Resumable, form: CheckpointFormat) -> None:
        self._context, self._subject, self._form = context, subject, form
        self._saved = time.monotonic()
        self.path = context.folder / FILE

    def resume(self) -> bool:
        """Take the state of the checkpoint, if there is one; whether there was.

        The experiment then calls ``context.rewind`` with the step it is at.

        Raises:
            CheckpointError: The checkpoint does not fit.
        """
        if not self.path.exists():
            return False
        self._form.restore(self.path, self._subject.load_state_dict)
        return True

    def tick(self) -> None:
        """Save if it is time to.

        Raises:
            StopRun: The person asked to stop; the state is saved.
        """
        stopping = self._context.stopping
        if stopping or time.monotonic() - self._saved > EVERY_S:
            self._form.save(self.path, self._subject.state_dict())
            self._saved = time.monotonic()
        if stopping:
            raise StopRun

    def finish(self) -> None:
        """The experiment is over: its checkpoint goes."""
        self.path.unlink(missing_ok=True)
