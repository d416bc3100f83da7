"""All tasks by name."""

from __future__ import annotations

import re
from functools import partial
from types import MappingProxyType

from marl_common import named, suggest
from mast.errors import MastError
from mast.tasks.task import Task
from mpe_marl import BatchEnv, BatchWorlds, imported, make_spec

TASKS = ("spread-3", "spread-6", "tag-3")
"""Tasks of the short schedule; the first is a control, which tiny networks solve."""
LONG_TASKS = ("lbf-8x8-2p-2f-coop", "rware-tiny-2ag", "pursuit-8", "smax-3m", "smax-2s3z")
"""Tasks that need an extra and a long schedule."""
SUITES = MappingProxyType(
    {
        "lbf": "mast.tasks.foraging:foraging_task",
        "rware": "mast.tasks.warehouse:warehouse_task",
        "pursuit": "mast.tasks.pursuit:pursuit_task",
        "smax": "mast.tasks.smax:smax_task",
    }
)
"""Suites by how their tasks' names begin, each with ``module:function`` of a name."""
MOST_AGENTS = 100
"""An observation grows with the agents."""


def find_task(name: str, length: int = 100) -> Task:
    """A task by its name: a particle world, one of another suite, or ``module:function``.

    Args:
        name: The name.
        length: Steps after which episodes of an imported world are cut.

    Raises:
        MastError: No such task, or its extra is not installed.
        MpeError: An imported world cannot be found.
    """
    if found := re.fullmatch(r"(spread|tag)-(\d{1,3})", name):
        return _particles(name, found[1], int(found[2]))
    if ":" in name:
        from mpe_marl import AnyWorlds

        return Task(name, length, partial(AnyWorlds, imported(name)), at_once=32)
    if (suite := SUITES.get(name.partition("-")[0])) and "-" in name:
        task: Task = named(suite)(name)
        return task
    known = (*TASKS, *LONG_TASKS)
    raise MastError(
        f"task {name!r} is not known; expected spread-N or tag-N with N agents, one of "
        f"{', '.join(LONG_TASKS)}, or module:function of a function that makes a PettingZoo "
        f"ParallelEnv.{suggest(name, known)}"
    )


def _particles(name: str, kind: str, n_agents: int) -> Task:
    """Compiled particle worlds; agents that bump in spread earn less: the team earns the mean."""
    if not 1 <= n_agents <= MOST_AGENTS:
        raise MastError(f"task {name!r}: expected 1 to {MOST_AGENTS} agents.")
    spec = make_spec(f"simple_{kind}", n_agents)

    def endless(n_worlds: int, steps: int) -> BatchEnv:
        return BatchWorlds(make_spec(f"simple_{kind}", n_agents, episode_length=steps), n_worlds)

    team = "mean" if kind == "spread" else None
    return Task(name, spec.episode_length, partial(BatchWorlds, spec), team, endless)
