"""What every floor above may use: files read and written safely, suggestions, quantities, text.

Everything that other packages use is a name of this package; `__init__.pyi` says in which module it
lives, and that module is imported when the name is first used.
"""

import os

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

if os.environ.get("MAPPER_PURE", "0") not in ("", "0"):
    from marl_common.kernel_source import prefer_sources

    prefer_sources()
