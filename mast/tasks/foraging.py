"""Level-based foraging (lbforaging 2.0) as a PettingZoo world."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from mast.errors import MastError
from mast.tasks.task import Task
from mast.tasks.tuple_world import TupleWorld
from mpe_marl import AnyWorlds

PLACE = re.compile(r"lbf-(\d{1,2})x\1-(\d)p-(\d)f(-coop)?")


def foraging_task(name: str) -> Task:
    """The task ``lbf-SxS-Pp-Ff`` or ``lbf-SxS-Pp-Ff-coop``: field, players, food.

    Raises:
        MastError: No such field, or lbforaging is not installed.
    """
    if PLACE.fullmatch(name) is None:
        raise MastError(
            f"task {name!r}: expected lbf-SxS-Pp-Ff or lbf-SxS-Pp-Ff-coop, such as "
            "lbf-8x8-2p-2f-coop."
        )
    place = f"Foraging-{name.removeprefix('lbf-')}-v3"
    world = Foraging(place)
    return Task(name, world.length, partial(AnyWorlds, partial(Foraging, place)), "sum", at_once=32)


class Foraging(TupleWorld):
    """One field.

    ## Action Space
    ``Discrete(6)``: none, north, south, west, east, load; masked to what is possible.

    ## Observation Space
    Place and level of all food and players, the agent itself first among these.

    ## Rewards
    A share of all food's levels for each loading, among those who took part; all food is 1 in sum.

    ## Episode End
    Terminated when no food is left, truncated after 50 steps.

    ## Arguments
    ``place``: a name that lbforaging registers.
    """

    def __init__(self, place: str) -> None:
        super().__init__(place, "lbforaging", "mast", "player")
        self.length = int(self.inner._max_episode_steps)

    def _solved(self) -> bool:
        return bool(self.inner.field.sum() == 0)

    def _infos(self) -> dict[str, dict[str, Any]]:
        n = int(self.inner.action_space[0].n)
        masks = [np.isin(np.arange(n), [a.value for a in self.inner._valid_actions[p]])
                 for p in self.inner.players]  # fmt: skip
        return {a: {"action_mask": m} for a, m in zip(self.possible_agents, masks, strict=True)}
