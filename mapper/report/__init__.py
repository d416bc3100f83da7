"""Stored searches as one self-contained HTML page."""

from mapper.report.errors import ReportError
from mapper.report.networks import NETWORK, NetworkShapes, write_network
from mapper.report.page import render, write
from mapper.report.sources import Source, from_folder, from_store

__all__ = [
    "NETWORK",
    "NetworkShapes",
    "ReportError",
    "Source",
    "from_folder",
    "from_store",
    "render",
    "write",
    "write_network",
]
