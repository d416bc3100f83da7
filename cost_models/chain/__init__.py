"""Accelerators and mappings of any number of levels."""
