"""Where results may be written; asked before any work is done for them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path


class OutputError(ValueError):
    """A place that results cannot be written to."""


def check_writable(folder: Path, option: str = "--out") -> None:
    """Make sure, before a search begins, that its results can be written; leaves nothing behind.

    Args:
        folder: Where files will go; it need not exist.
        option: The option that names it, for messages.

    Raises:
        OutputError: The path is a file, or neither it nor its nearest parent can be written to.
    """
    nearest = folder.absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise OutputError(f"{option} {folder}: {nearest} is a file; expected a folder")
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".mapper-", dir=nearest))
    except OSError as error:
        raise OutputError(
            f"{option} {folder}: {nearest} cannot be written to ({error.strerror}); "
            "give another folder or change its permissions"
        ) from error


def folder_names(layers: Iterable[str], beside: Iterable[str]) -> dict[str, str]:
    """A folder's name for each layer of a network, no two alike, and none that of a file beside."""
    taken, found = {".", "..", *beside}, {}
    for layer in layers:
        name = wanted = re.sub(r"[^\w.-]+", "_", layer)
        number = 1
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        taken.add(name)
        found[layer] = name
    return found
