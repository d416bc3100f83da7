"""Lower bounds of chains of any depth: a way of spreading units, then tiles level by level."""
