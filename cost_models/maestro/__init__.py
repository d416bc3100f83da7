"""A port of MAESTRO's analysis, and the guard in front of it."""
