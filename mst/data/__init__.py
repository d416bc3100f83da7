"""Text to train on: Python sources of installed packages, split, listed and sampled."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
