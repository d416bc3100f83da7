"""What a run keeps in its folder.

``final.pt``: all that was learnt. ``config.yaml``: the whole configuration. Teams:
``policy.safetensors`` at the end, ``best.safetensors`` of the best evaluation, and if asked
``at-STEPS.safetensors`` of each.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from marl_common import write_text
from marl_runs import CheckpointFormat, Store, kept_run
from mast.config import MastConfig
from mast.errors import MastError
from mast.exporting import SparsePolicy
from mast.settings import settings_text

if TYPE_CHECKING:
    from mast.trainer import MastTrainer

KINDS = ("mast", "mast-ticket")
"""Kinds of runs that keep a team."""
FINAL, POLICY, BEST, CONFIG = "final.pt", "policy.safetensors", "best.safetensors", "config.yaml"
FORMAT = CheckpointFormat("value-based training", 2)
LEARNT = CheckpointFormat("a trained team", 1)
"""What ``final.pt`` holds: ``config``, ``seed``, ``total`` and the ``learner``'s state."""


def keep(trainer: MastTrainer, folder: Path) -> None:
    """Write what was learnt."""
    state = {"learner": trainer.learner.state_dict(), "config": trainer.config.plain()}
    LEARNT.save(folder / FINAL, {**state, "seed": trainer.seed, "total": trainer.total})
    SparsePolicy.of(trainer.learner).save(folder / POLICY)
    write_text(folder / CONFIG, settings_text(trainer.config))


def keep_team(trainer: MastTrainer, folder: Path, keep_all: bool) -> None:
    """Write the team that was just evaluated, if it is the best or all are kept."""
    (*before, (steps, value)) = trainer.progress.evaluations
    if keep_all:
        SparsePolicy.of(trainer.learner).save(folder / f"at-{steps}.safetensors")
    if all(value > earlier for _, earlier in before):
        SparsePolicy.of(trainer.learner).save(folder / BEST)


def team_file(folder: Path, which: str) -> Path:
    """The file of a team: ``last``, ``best``, or the steps of an evaluation.

    Raises:
        MastError: The run has not kept it.
    """
    path = folder / {"last": POLICY, "best": BEST}.get(which, f"at-{which}.safetensors")
    if not path.exists():
        found = [file.stem.removeprefix("at-") for file in folder.glob("at-*.safetensors")]
        kept = sorted(found, key=int)
        best = ["best"] if (folder / BEST).exists() else []
        raise MastError(
            f"--which {which}: the run has not kept it; expected one of "
            f"{', '.join(['last', *best, *kept])}. `mast train --keep-all` keeps each evaluation's."
        )
    return path


def kept_team(store: str, run: str, which: str) -> SparsePolicy:
    """The team of a finished run of a store.

    Args:
        store: The store.
        run: The run's number, or how its key begins.
        which: See :func:`team_file`.

    Raises:
        StoreError: There is no such run.
        MastError: It has not kept this team.
    """
    with Store.open(store, create=False) as opened:
        folder = opened.folder(kept_run(opened, run, KINDS).key)
    return SparsePolicy.load(team_file(folder, which))


def learnt(folder: Path) -> tuple[MastConfig, dict[str, Any]]:
    """The configuration of a finished run, and what its ``final.pt`` holds.

    Raises:
        CheckpointError: It cannot be read.
    """
    state = LEARNT.load(folder / FINAL)
    return MastConfig.of(state["config"]), state
