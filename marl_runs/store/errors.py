"""What can go wrong with a store."""

from __future__ import annotations


class StoreError(ValueError):
    """A store that cannot be opened or read as asked, or a run that it does not hold."""


class ClaimLostError(StoreError):
    """Another process took over the run that this one was writing."""


class StoreFault(RuntimeError):  # noqa: N818 - a fault of the place, not of what was asked
    """A store that cannot be written to any more: the disk is full, or the database went away."""
