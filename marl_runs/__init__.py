"""Experiments, whatever they are about: running, storing, resuming and comparing them.

Everything that other packages use is a name of this package; `__init__.pyi` says in which module it
lives, and that module is imported when the name is first used: the store's database library alone
takes a quarter of a second.
"""

from marl_common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
