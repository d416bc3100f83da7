"""Pursuit of SISL (Gupta et al. 2017), which PettingZoo brings."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from mast.errors import MastError
from mast.tasks.task import Task
from mpe_marl import AnyWorlds

LENGTH = 500


def pursuit_task(name: str) -> Task:
    """The task ``pursuit-N``: N pursuers, all of whom earn the same.

    Raises:
        MastError: No such number of pursuers, or an optional library is not installed.
    """
    found = re.fullmatch(r"pursuit-(\d{1,2})", name)
    if found is None or int(found[1]) < 1:
        raise MastError(f"task {name!r}: expected pursuit-N with 1 to 99 pursuers.")
    return Task(
        name, LENGTH, partial(AnyWorlds, partial(_world, int(found[1]))), "mean", at_once=32
    )


def _world(pursuers: int) -> Any:
    try:
        from pettingzoo.sisl import pursuit_v5
    except ImportError as error:
        raise MastError(
            f"pursuit needs {error.name}, which is not installed; install it with: "
            "pip install 'pettingzoo[sisl]'"
        ) from None
    return pursuit_v5.parallel_env(max_cycles=LENGTH, n_pursuers=pursuers, shared_reward=True)
