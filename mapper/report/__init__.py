"""Stored searches as one self-contained HTML page."""
