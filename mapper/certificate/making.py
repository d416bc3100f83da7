"""Certificates of proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cost_models import ChainMapping, Mapping
from maestro_env import Problem
from mapper.certificate.certificate_file import NUMBER, Certificate, CertificateError
from mapper.certificate.chain_walk import ChainWalk
from mapper.certificate.looks import Looks
from mapper.certificate.named_limits import FIGURE
from mapper.search.problem_spec import ProblemSpec
from marl_runs import made_with

if TYPE_CHECKING:
    from baselines import Proof


def make_certificate(spec: ProblemSpec, proof: Proof) -> Certificate:
    """The certificate of a proof: of two levels, one that recorded its tree.

    On a chip that is a list of levels the boxes are walked anew, from the bound that was proven.

    Raises:
        CertificateError: It did not, ended before it found a mapping, or does not hold.
    """
    if proof.mapping is None and proof.status != "empty":
        raise CertificateError(
            f"proof: it ended ({proof.status}) before it found a mapping; give it more time"
        )
    complete = spec.complete()
    problem = complete.build()
    found = Certificate(
        problem=complete,
        size=problem.space.size,
        mapping=_canonical(proof.mapping, problem),
        value=proof.value,
        bound=min(proof.bound, proof.value),
        versions={str(name): str(version) for name, version in made_with().versions.items()},
        tree=np.zeros(0, np.uint8),
    )
    if found.is_chain:
        figures = FIGURE if found.mapping is None else problem.objective.figures
        walk = ChainWalk(problem, figures, found.bound, Looks(problem, found.bound))
        walk.run()
        return found.with_tree(np.array(walk.words, NUMBER))
    if proof.tree is None:
        raise CertificateError("proof: its tree was not recorded; expected prove(record=True)")
    return found.with_tree(proof.tree.splits())


def _canonical(mapping: Mapping | ChainMapping | None, problem: Problem) -> Any:
    """The mapping as the space gives it: loops that never iterate stand in one order."""
    if not isinstance(mapping, ChainMapping):
        return mapping
    return problem.space.decode(problem.action_of(mapping))[0]
