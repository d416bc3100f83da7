"""Typed errors: what was given, what was expected, what to do about it."""


class MastError(ValueError):
    """A value this package cannot work with; the message says what, expected and fix."""
