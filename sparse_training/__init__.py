"""Sparse training: masks of exact size that change while a network learns, and real time saved.

What is meant for other code is a name of this package; `__init__.pyi` says in which module it
lives, and that module is imported when the name is first used.
"""

from marl_common import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
