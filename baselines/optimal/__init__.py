"""Branch and bound: the best mapping of a space, with a proof that none is better.

:func:`prove` splits the space into boxes of tiles, best first, and rules out those whose lower
bound, which the cost model offers, is at or above the best value. See docs/optimal.md.
"""

from baselines.optimal.proof import Counts, Progress, Proof, ProveError
from baselines.optimal.prove import can_prove, prove
from baselines.optimal.structure_space import StructureSpace
from baselines.optimal.tree import EVALUATED, RULED_OUT, Tree

__all__ = [
    "EVALUATED",
    "RULED_OUT",
    "Counts",
    "Progress",
    "Proof",
    "ProveError",
    "StructureSpace",
    "Tree",
    "can_prove",
    "prove",
]
