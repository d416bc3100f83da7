"""What the two levels of a mapping, and the buffers that they fill, are called."""

LEVELS = ("outer", "inner")
"""The levels of a mapping: over clusters, and over the PEs of a cluster."""

BUFFERS = ("L2", "L1")
"""The buffer that holds each level's tiles: the shared one, and a PE's own."""
