"""What a finished run keeps: ``final.pt``, all that was learnt, and ``policy.safetensors``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mast.config import MastConfig
from mast.errors import MastError
from mast.exporting import SparsePolicy
from runs import CheckpointFormat, RunStatus, Store

if TYPE_CHECKING:
    from mast.trainer import MastTrainer

FINAL, POLICY = "final.pt", "policy.safetensors"
FORMAT = CheckpointFormat("value-based training", 2)
LEARNT = CheckpointFormat("a trained team", 1)
"""What ``final.pt`` holds: ``config``, ``seed``, ``total`` and the ``learner``'s state."""


def keep(trainer: MastTrainer, folder: Path) -> None:
    """Write what was learnt."""
    state = {"learner": trainer.learner.state_dict(), "config": trainer.config.plain()}
    LEARNT.save(folder / FINAL, {**state, "seed": trainer.seed, "total": trainer.total})
    SparsePolicy.of(trainer.learner).save(folder / POLICY)


def finished_run(store: Store, text: str) -> Any:
    """A finished run of ``mast train``, by its number or the start of its key.

    Raises:
        StoreError: There is no such run.
        MastError: It is another kind of run, or not finished.
    """
    found = store.run(text)
    if found.kind not in ("mast", "mast-ticket") or found.status is not RunStatus.FINISHED:
        raise MastError(
            f"run {text!r} is a {found.kind} run, {found.standing}; expected a finished run of "
            "`mast train`. The same command continues it."
        )
    return found


def learnt(folder: Path) -> tuple[MastConfig, dict[str, Any]]:
    """The configuration of a finished run, and what its ``final.pt`` holds.

    Raises:
        CheckpointError: It cannot be read.
    """
    state = LEARNT.load(folder / FINAL)
    return MastConfig.of(state["config"]), state
