"""The library: the best mapping of a layer or a model on an accelerator, in one call.

It stands above all other packages and computes nothing itself. What it offers is a name of this
package; `__init__.pyi` says in which module it lives, and that module is imported when the name is
first used.
"""

from marl_common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
