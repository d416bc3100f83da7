"""NumPy generators as plain numbers, for checkpoints that hold tensors only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORDS = range(8)  # of 16 bits in a 128-bit number


def make_generator(*entropy: int) -> np.random.Generator:
    """A generator that follows from the given numbers alone."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(list(entropy))))


def pack_generator(generator: np.random.Generator) -> NDArray[np.int64]:
    """``(18,)`` numbers that hold the state of a PCG64 generator."""
    state = generator.bit_generator.state
    inner = state["state"]
    words = [int(inner[k]) >> (16 * p) & 0xFFFF for k in ("state", "inc") for p in _WORDS]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.int64)


def unpack_generator(generator: np.random.Generator, words: NDArray[np.int64]) -> None:
    """Set a PCG64 generator to what :func:`pack_generator` gave."""
    numbers = [int(w) for w in words]
    state, inc = (sum(w << (16 * p) for p, w in zip(_WORDS, part, strict=True))
                  for part in (numbers[:8], numbers[8:16]))  # fmt: skip
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": numbers[16],
        "uinteger": numbers[17],
    }
