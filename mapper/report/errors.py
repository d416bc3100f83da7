"""The error of reports."""

from __future__ import annotations


class ReportError(ValueError):
    """A report that cannot be made: nothing to show, or a file that is none of ours."""
