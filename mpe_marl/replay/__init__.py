"""Replay: how transitions are laid out, apart from the law that draws them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
