"""The exact model: closed-form counts that equal an execution of the loop nest."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
