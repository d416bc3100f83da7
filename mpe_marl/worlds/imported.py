"""Worlds that are not ours: found by the module and the function that makes one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from marl_common import named
from mpe_marl.errors import MpeError

PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def check_place(world: str) -> None:
    """Make sure that a text is ``package.module:function``.

    Raises:
        MpeError: It is not.
    """
    if not PLACE.fullmatch(world):
        raise MpeError(
            f"world {world!r} is not known; expected one of this package's, such as simple_tag, or "
            "package.module:function of a function that makes a PettingZoo ParallelEnv."
        )


def _makes(make: Callable[..., object]) -> bool:
    """Whether something can be a function that makes a world: it is looked at, not called."""
    if inspect.isbuiltin(make):
        return False
    if isinstance(make, type):
        from pettingzoo import ParallelEnv

        return issubclass(make, ParallelEnv)
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in parameters)


def imported(world: str) -> Callable[[], Any]:
    """The function that makes a world.

    Args:
        world: ``package.module:function``.

    Raises:
        MpeError: The module cannot be imported, or has no such function.
    """
    check_place(world)
    try:
        make: Callable[[], Any] = named(world)
    except (ImportError, AttributeError) as error:
        raise MpeError(
            f"world {world!r} cannot be imported ({error}); expected module:function, "
            "of an installed package or of the working folder."
        ) from None
    if not callable(make):
        raise MpeError(f"world {world!r} is no function; expected module:function.")
    if not _makes(make):
        raise MpeError(
            f"world {world!r} makes no world: it is built in, or needs arguments; expected a "
            "Python function that makes a PettingZoo ParallelEnv."
        )
    return make
