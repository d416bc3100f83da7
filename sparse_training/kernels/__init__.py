"""Products of the kept weights, compiled for the CPU."""
