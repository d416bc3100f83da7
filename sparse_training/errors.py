"""Typed errors: what was given, what was expected, what to do about it."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Real

from marl_common import not_known


class SparseTrainingError(ValueError):
    """A value this package cannot work with; the message says what, expected and fix."""


def check_name(what: str, given: str, known: Collection[str]) -> str:
    """Return a name that is one of the known.

    Raises:
        SparseTrainingError: It is not.
    """
    if given not in known:
        raise SparseTrainingError(not_known(what, given, known))
    return given


def check_share(name: str, value: float) -> float:
    """Return a number of [0, 1].

    Raises:
        SparseTrainingError: It is outside.
    """
    if not 0 <= value <= 1:
        raise SparseTrainingError(f"{name}={value}: expected a number from 0 to 1.")
    return float(value)


def check_sparsity(value: float) -> float:
    """Return a sparsity of [0, 1).

    Raises:
        SparseTrainingError: It is outside.
    """
    if not isinstance(value, Real) or not 0 <= value < 1:
        raise SparseTrainingError(
            f"sparsity={value!r}: expected a number from 0 (dense) to below 1; 0.9 keeps a tenth "
            "of the weights."
        )
    return float(value)
