"""Worlds that are not ours: found by the module and the function that makes one."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

from common import working_folder_modules
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


def imported(world: str) -> Callable[[], Any]:
    """The function that makes a world.

    Args:
        world: ``package.module:function``.

    Raises:
        MpeError: The module cannot be imported, or has no such function.
    """
    check_place(world)
    module, _, name = world.partition(":")
    try:
        with working_folder_modules():
            make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise MpeError(
            f"world {world!r} cannot be imported ({error}); expected module:function, "
            "of an installed package or of the working folder."
        ) from None
    if not callable(make):
        raise MpeError(f"world {world!r} is no function; expected module:function.")
    return make  # type: ignore[no-any-return]
