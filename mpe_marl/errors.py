"""Typed errors: what was given, what was expected, what to do about it."""


class MpeError(ValueError):
    """A value this package cannot work with; the message says what, expected and fix."""


class ReplayMemoryError(MpeError):
    """A replay store that fits neither in memory nor on the disk it was pointed at."""
