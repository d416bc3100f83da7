"""Reading the data files of this package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def table(name: str) -> NDArray[Any]:
    """The rows of a data file by column; lines that begin with # are its source."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return np.genfromtxt(lines, delimiter=",", names=True, dtype=None, encoding="utf-8")
