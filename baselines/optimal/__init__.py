"""Branch and bound: the best mapping of a space, with a proof that none is better.

:func:`prove` splits the space into boxes of tiles, best first, and rules out those whose lower
bound, which the cost model offers, is at or above the best value. See docs/bounds.md.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
