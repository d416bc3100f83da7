"""Searchers behind one interface, one a file, and what they are made of.

Everything that other packages use is a name of this package; `__init__.pyi` says in which module it
lives, and that module is imported when the name is first used. The exception is
:mod:`baselines.conformance`, the tests that third parties inherit.
"""

from marl_common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
