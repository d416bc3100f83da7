"""Experiments, whatever they are about: running, storing and comparing them."""
