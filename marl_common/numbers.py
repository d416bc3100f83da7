"""Numbers that options of several programs go up to."""

LARGEST_SEED = 2**63 - 1
"""A store keeps no larger one."""
MOST_THREADS = 1024
"""Threads or processes that a command starts at most."""
