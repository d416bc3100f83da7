"""Exploration of designs: a network on many chips, and those that no other one beats."""
