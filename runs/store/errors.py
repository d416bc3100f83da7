"""What can go wrong with a store."""

from __future__ import annotations


class StoreError(ValueError):
    """A store that cannot be opened, read or written, or a run that it does not hold."""


class ClaimLostError(StoreError):
    """Another process took over the run that this one was writing."""
