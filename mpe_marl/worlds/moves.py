"""The moves of a particle: what an action that is no word means."""

ACT_DIM = 5
"""No action, left, right, down, up."""
