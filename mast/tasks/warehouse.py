"""The multi-robot warehouse (RWARE 2.0) as a PettingZoo world."""

from __future__ import annotations

import re
from functools import partial

from mast.errors import MastError
from mast.tasks.task import Task
from mast.tasks.tuple_world import TupleWorld
from mpe_marl import AnyWorlds

PLACE = re.compile(r"rware-(tiny|small|medium|large)-(\d{1,2})ag(-easy|-hard)?")


def warehouse_task(name: str) -> Task:
    """The task ``rware-SIZE-Nag``, ``rware-SIZE-Nag-easy`` or ``rware-SIZE-Nag-hard``.

    Raises:
        MastError: No such warehouse, or rware is not installed.
    """
    if PLACE.fullmatch(name) is None:
        raise MastError(
            f"task {name!r}: expected rware-SIZE-Nag, with -easy or -hard if wanted, of size tiny, "
            "small, medium or large, such as rware-tiny-2ag."
        )
    world = Warehouse(f"{name}-v2")
    make = partial(AnyWorlds, partial(Warehouse, f"{name}-v2"))
    return Task(name, world.length, make, "sum", at_once=32)


class Warehouse(TupleWorld):
    """Robots that bring the shelves that are asked for, and take them back.

    ## Action Space
    ``Discrete(5)``: none, forward, left, right, load or unload.

    ## Observation Space
    The robot itself and the 3 x 3 places around it, 71 numbers.

    ## Rewards
    1 for a shelf that is brought, to the robot that brings it.

    ## Episode End
    Truncated after 500 steps.

    ## Arguments
    ``place``: a name that rware registers.
    """

    def __init__(self, place: str) -> None:
        super().__init__(place, "rware", "rware", "robot")
        self.length = int(self.inner.max_steps)
