"""What the learners of this process begin with: the policies' space, and torch's determinism."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from maestro_env import Problem
from mapper.clustering.assignment import Assignment
from mapper.marl.policies import Space
from marl_common import IntArray


def policy_space(problem: Problem, assignment: Assignment, columns: IntArray) -> Space:
    """Parameters with a choice, and their agents; in the order of the columns."""
    space = problem.space
    owner = np.empty(len(columns), np.int64)
    names = [space.names[column] for column in columns]
    for agent, members in enumerate(assignment.columns(names)):
        owner[members] = agent
    ordinal = np.array([space.parameters[c].ordinal for c in columns], dtype=np.bool_)
    return Space(space.nvec[columns], ordinal, owner)


@contextmanager
def reproducible() -> Iterator[None]:
    """One thread and deterministic kernels: the order of float sums is fixed."""
    threads = torch.get_num_threads()
    # Not use_deterministic_algorithms: it imports torch's compiler, a second of every search.
    strict = torch.get_deterministic_debug_mode()
    torch.set_num_threads(1)
    torch.set_deterministic_debug_mode("error")
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(strict)
