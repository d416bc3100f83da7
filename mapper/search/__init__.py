"""Searches: a problem and a method as plain values, the run of them, and what it found."""
