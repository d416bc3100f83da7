"""What importers raise."""

from __future__ import annotations

from layers.layer import LayerError


class ImportingError(LayerError):
    """A model that cannot be read, or one with nothing to map."""


class ContradictionError(LayerError):
    """An operator whose attributes or operands contradict each other: the model is damaged."""
