"""Metrics of a run for a board that draws them while it runs: TensorBoard or MLflow."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Self

NEEDS = {"tensorboard": "tensorboardX", "mlflow": "mlflow"}
"""Kinds of boards, and the library that each needs."""
EXPERIMENT = "marl-mapper"
"""What runs belong to in MLflow."""
Writer = tuple[Callable[[str, float, int], object], Callable[[], object]]
"""How a figure is written, and how the board is closed."""


class BoardError(ValueError):
    """A board that is not known or not installed, or whose folder cannot be written."""


def check_board(text: str) -> tuple[str, Path]:
    """Kind and folder of ``tensorboard:FOLDER`` or ``mlflow:FOLDER``.

    Raises:
        BoardError: It is no such text, or the library is not installed.
    """
    kind, _, folder = text.partition(":")
    if kind not in NEEDS or not folder:
        raise BoardError(f"--log: got {text!r}, expected tensorboard:FOLDER or mlflow:FOLDER")
    if find_spec(NEEDS[kind]) is None:
        raise BoardError(
            f"--log {kind} needs {NEEDS[kind]}, which is not installed; install it with: "
            "pip install 'marl-mapper[log]'"
        )
    return kind, Path(folder)


class MetricBoard:
    """Writes figures to a folder that TensorBoard or MLflow reads; without a place, nothing.

    Args:
        place: ``tensorboard:FOLDER``, ``mlflow:FOLDER`` or None.
        run: What the run is called there.

    Raises:
        BoardError: See :func:`check_board`.
    """

    def __init__(self, place: str | None, run: str) -> None:
        self._writer: Writer | None = None
        if place is not None:
            kind, folder = check_board(place)
            self._writer = (_tensorboard if kind == "tensorboard" else _mlflow)(folder, run)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer[1]()

    def add(self, name: str, value: float, step: int) -> None:
        """Write one figure."""
        if self._writer is not None:
            self._writer[0](name, float(value), int(step))


def _tensorboard(folder: Path, run: str) -> Writer:
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(str(folder / run.replace("/", "-").replace(" ", "_")))
    return writer.add_scalar, writer.close


def _mlflow(folder: Path, run: str) -> Writer:
    """A run of its own in the database of the folder; a name is only what MLflow shows."""
    from mlflow.tracking import MlflowClient

    folder.mkdir(parents=True, exist_ok=True)
    client = MlflowClient(tracking_uri=f"sqlite:///{folder.absolute() / 'mlflow.db'}")
    known = client.get_experiment_by_name(EXPERIMENT)
    experiment = known.experiment_id if known else client.create_experiment(EXPERIMENT)
    number = client.create_run(experiment, run_name=run).info.run_id

    def add(name: str, value: float, step: int) -> None:
        client.log_metric(number, name, value, int(time.time() * 1000), step)

    return add, lambda: client.set_terminated(number)
