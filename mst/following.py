"""The trainer of a process that follows another: equal to the leader's in all but its parts."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from mst.checkpoints import FORMAT
from mst.config import PretrainConfig
from mst.data import Corpus
from mst.team import ProcessTeam, meet
from mst.trainer import Pretrainer


def job_of(trainer_settings: PretrainConfig, **others: Any) -> dict[str, Any]:
    """What a follower needs, as JSON values.

    Args:
        trainer_settings: Settings of the run.
        others: ``seed``, ``updates``, ``corpus``, ``above``, ``threads``, and ``checkpoint``, a
            path or None.
    """
    return {"config": trainer_settings.plain(), **others}


def follower(job: Mapping[str, Any], team: ProcessTeam) -> Pretrainer:
    """The trainer of a follower, at the update where its leader is."""
    torch.set_num_threads(job["threads"])
    config = PretrainConfig.of(job["config"])
    corpus = Corpus.open(Path(job["corpus"]))
    trainer = Pretrainer(config, job["seed"], job["updates"], corpus, job["above"], team)
    if job["checkpoint"] is not None:
        FORMAT.restore(job["checkpoint"], trainer.load_state_dict)
    return trainer


def follow(written: str, rank: int) -> None:
    """Take part in a run until its leader is done; the program of the other processes.

    Args:
        written: File of the job.
        rank: Which process this is.
    """
    job = json.loads(Path(written).read_text("utf-8"))
    meet(job["meeting"], rank, job["size"])
    team = ProcessTeam(rank, job["size"])
    try:
        trainer = follower(job, team)
        team.wait()
        while team.go_on(True):
            trainer.step()
    except RuntimeError as error:
        sys.exit(f"process {rank} of the run: {str(error).splitlines()[0]}")
    finally:
        distributed.destroy_process_group()
