"""Searchers behind one interface, one a file."""

from baselines.searcher import (
    BaseSearcher,
    Capabilities,
    Searcher,
    SearcherError,
    SearchResult,
    load,
    names,
)

__all__ = [
    "BaseSearcher",
    "Capabilities",
    "SearchResult",
    "Searcher",
    "SearcherError",
    "load",
    "names",
]
