"""The problem: mapping spaces, objectives, sample counting, environments."""
