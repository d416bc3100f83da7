"""Searchers behind one interface, one a file."""
