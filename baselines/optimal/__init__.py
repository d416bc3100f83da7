"""Branch and bound: the best mapping of a space, with a proof that none is better.

:func:`prove` splits the space into boxes of tiles, best first, and rules out those whose lower
bound, which the cost model offers, is at or above the best value. See docs/bounds.md.
"""

from baselines.optimal.known_optima import (
    OptimaError,
    Optimum,
    check_entry,
    known_optimum,
    optimum_of,
    problem_key,
    read_optima,
    write_optima,
)
from baselines.optimal.optimal_search import Optimal, OptimalConfig
from baselines.optimal.proof import Counts, Proof, ProofProgress, ProveError
from baselines.optimal.proving import can_prove, prove
from baselines.optimal.structure_space import StructureSpace
from baselines.optimal.tree import Tree

__all__ = [
    "Counts",
    "OptimaError",
    "Optimal",
    "OptimalConfig",
    "Optimum",
    "Proof",
    "ProofProgress",
    "ProveError",
    "StructureSpace",
    "Tree",
    "can_prove",
    "check_entry",
    "known_optimum",
    "optimum_of",
    "problem_key",
    "prove",
    "read_optima",
    "write_optima",
]
