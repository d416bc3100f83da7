"""Stored searches as one self-contained HTML page."""

from mapper.report.page import render, write
from mapper.report.sources import ReportError, Source, from_folder, from_store

__all__ = ["ReportError", "Source", "from_folder", "from_store", "render", "write"]
