"""Lower bounds of the exact model's costs over sets of mappings (see docs/bounds.md)."""

from cost_models.exact.bounds.exact_bounds import ExactBounds, bounded

__all__ = ["ExactBounds", "bounded"]
