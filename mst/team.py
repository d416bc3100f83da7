"""Processes that share the batches of one run (gloo): each takes parts, and gradients add up."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from mst.errors import NotFiniteError, TeamError

if TYPE_CHECKING:
    from mst.model import SparseGpt

PATIENCE = timedelta(minutes=30)
"""How long a process waits for the others."""
PROGRAM = "from mst.following import follow; import sys; follow(sys.argv[1], int(sys.argv[2]))"
DIES_S = 3
"""Time that a process takes to end once its connection is gone [s]."""
LEAVES_S = 30
"""Time in which a process that was told to stop is over [s]."""


@dataclass(frozen=True)
class ProcessTeam:
    """A process among those of a run.

    Attributes:
        rank: Which it is; 0 leads.
        size: How many there are.
    """

    rank: int = 0
    size: int = 1

    def add_up(self, model: SparseGpt, loss: torch.Tensor) -> torch.Tensor:
        """Replace each process's gradients by the sum over all; the sum of the losses.

        Args:
            model: Its gradients are those of the process's own parts.
            loss: ``()``, of these parts.
        """
        if self.size == 1:
            return loss
        held = [p for p in model.parameters() if p.requires_grad]
        for parameter in held:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in held if p.grad is not None]
        flat = torch.cat([*(g.reshape(-1) for g in gradients), loss.reshape(1)])
        distributed.all_reduce(flat)
        place = 0
        for gradient in gradients:
            gradient.copy_(flat[place : place + gradient.numel()].view_as(gradient))
            place += gradient.numel()
        return flat[-1]

    def sum(self, value: float) -> float:
        """The sum of a number of each process."""
        if self.size == 1:
            return value
        held = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(held)
        return float(held)

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            distributed.barrier()

    def go_on(self, wanted: bool) -> bool:
        """Whether the leader wants another update; what others say does not count."""
        if self.size == 1:
            return wanted
        held = torch.tensor(int(wanted))
        distributed.broadcast(held, 0)
        return bool(held)


ALONE = ProcessTeam()
"""One process."""


@contextmanager
def team_of(size: int, job: Mapping[str, Any], folder: Path) -> Iterator[ProcessTeam]:
    """Start the other processes of a run, and lead them.

    Args:
        size: Processes, this one among them.
        job: What :func:`mst.following.follower` makes a trainer of, as JSON values.
        folder: Of the run; holds the job and the file by which processes meet.

    Raises:
        TeamError: A process could not start, or was lost.
    """
    if size == 1:
        yield ALONE
        return
    meeting = folder.resolve() / f"meeting-{uuid.uuid4().hex[:8]}"
    written = meeting.with_suffix(".json")
    written.write_text(json.dumps({**job, "size": size, "meeting": str(meeting)}), "utf-8")
    others = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(written), str(rank)], stdin=subprocess.DEVNULL
        )
        for rank in range(1, size)
    ]
    try:
        meet(str(meeting), 0, size)
        yield ProcessTeam(0, size)
    except NotFiniteError:
        raise
    except RuntimeError as error:
        if any(map(_failed, others)):
            raise TeamError(
                "a process of the run was lost; the same command goes on from the last checkpoint"
            ) from error
        raise
    finally:
        _part(others)
        for path in (meeting, written):
            path.unlink(missing_ok=True)


def _failed(other: subprocess.Popen[bytes]) -> bool:
    """Whether a process is over with an error, or is about to be."""
    try:
        return other.wait(DIES_S) != 0
    except subprocess.TimeoutExpired:
        return False


def _part(others: list[subprocess.Popen[bytes]]) -> None:
    """End the processes of this run, which notice that the leader is gone."""
    if distributed.is_initialized():
        distributed.destroy_process_group()
    for other in others:
        try:
            other.wait(LEAVES_S if other.poll() is None else 0)
        except subprocess.TimeoutExpired:
            other.kill()
            other.wait()


def meet(meeting: str, rank: int, size: int) -> None:
    """Wait for the other processes at a file of the run's folder."""
    distributed.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=rank, world_size=size, timeout=PATIENCE
    )
