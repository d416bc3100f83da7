"""Lower bounds of the exact model's costs over sets of mappings (see docs/bounds.md)."""

from cost_models.exact.bounds.exact_bounds import ExactBounds, bounded
from cost_models.exact.bounds.problem_facts import Asked

__all__ = ["Asked", "ExactBounds", "bounded"]
