"""The exact model: closed-form counts that equal an execution of the loop nest."""

from cost_models.exact.model import ExactModel

__all__ = ["ExactModel"]
