"""Runs experiments (anything with a budget and a seed) and records them in a store."""
