"""Sparse attention patterns: which keys a query sees, and two ways to compute them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
