"""Metrics of a training run for a board that draws them while it runs."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from mpe_marl.errors import MpeError

KINDS = ("tensorboard",)


def check_place(text: str) -> Path:
    """The folder of ``tensorboard:FOLDER``.

    Raises:
        MpeError: It is no such text, or tensorboardX is not installed.
    """
    kind, _, folder = text.partition(":")
    if kind not in KINDS or not folder:
        raise MpeError(f"--log: got {text!r}, expected tensorboard:FOLDER.")
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        raise MpeError(
            "--log tensorboard needs tensorboardX; pip install 'marl-mapper[mpe]'."
        ) from None
    return Path(folder)


class MetricBoard:
    """Writes figures to a folder that TensorBoard reads; without a place it writes nothing.

    Args:
        place: ``tensorboard:FOLDER``, or None.
        run: What the run is called there.
    """

    def __init__(self, place: str | None, run: str) -> None:
        self._writer = None
        if place is not None:
            folder = check_place(place) / run.replace("/", "-").replace(" ", "_")
            from tensorboardX import SummaryWriter

            self._writer = SummaryWriter(str(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, name: str, value: float, step: int) -> None:
        """Write one figure."""
        if self._writer is not None:
            self._writer.add_scalar(name, value, step)
