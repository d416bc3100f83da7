"""Compiled code that follows its sources.

Numba keys a cached function by its own file alone, so machine code that was compiled from several
files would go stale when another of them changes. A kernel's entry point therefore is a closure
over the stamp of all its sources: the value of a closure variable is part of the cache key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def source_stamp(files: Iterable[str | Path]) -> int:
    """A number that changes when the content of any of the files does."""
    digest = hashlib.blake2b(digest_size=7)
    for file in files:
        digest.update(Path(file).read_bytes())
    return int.from_bytes(digest.digest(), "big")
