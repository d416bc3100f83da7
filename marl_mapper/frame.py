"""Rows as a table of pandas, which is no dependency of the library's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marl_mapper.options import LibraryError

Frame = Any
"""A `pandas.DataFrame`."""


def frame_of(rows: Sequence[Mapping[str, object]]) -> Frame:
    """A table whose columns are the rows' names.

    Raises:
        LibraryError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise LibraryError(
            "to_frame needs the package 'pandas'; install it with: pip install 'marl-mapper[frame]'"
        ) from None
    return pandas.DataFrame(list(rows))
