"""Options of proofs, for methods that prove and for the proof after any other search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import baselines
from mapper.commands.options import OptionError, check_file, with_pairs
from marl_common import option

if TYPE_CHECKING:
    from mapper.search.problem_spec import ProblemSpec


@dataclass(frozen=True)
class ProofOptions:
    """How far the answer is from the optimum.

    Attributes:
        gap: Of proofs: stop when at most this share above the optimum: 0.01 is 1 %.
        timeout: Stop the search, or the proof, after so many seconds; 0 gives a proof's first value
            and its gap.
        max_memory: Of the methods auto and optimal: memory of the proof, in MB.
        certificate: Write the proof into this file; `mapper validate --certificate FILE` checks it.
        no_proof: Do not say how far the answer is from the optimum.
    """

    gap: float | None = option(None, kind=float, shown="0.0; with --fuse keep or tiles 0.01")
    timeout: float | None = option(
        None, kind=float, shown="none; the proof after another search: as long as that took"
    )
    max_memory: float | None = option(None, kind=float)
    certificate: Path | None = option(None, kind=Path, metavar="FILE")
    no_proof: bool = option(False, "", "--no-proof")

    def check(self) -> None:
        """Check the numbers.

        Raises:
            OptionError: One is out of range.
        """
        if self.gap is not None and not 0 <= self.gap < 1:
            raise OptionError(
                f"--gap: got {self.gap:g}, expected a share from 0 to below 1, such as 0.01"
            )
        if self.timeout is not None and not 0 <= self.timeout < float("inf"):
            raise OptionError(f"--timeout: got {self.timeout:g}, expected seconds of at least 0")
        if self.max_memory is not None and not 16 < self.max_memory < 1e9:
            raise OptionError(f"--max-memory: got {self.max_memory:g}, expected MB, more than 16")

    def after(self) -> ProofOptions | None:
        """The proof that follows a search, see :func:`mapper.explaining.standing.standing`."""
        return None if self.no_proof and not self.certificate else self


def check_certificate_file(path: Path, network: str | None, problem: ProblemSpec) -> None:
    """Check that a certificate can be made and written, before anything is searched.

    Raises:
        OptionError: The objective says nothing of a whole network, or the model offers no bounds.
        OutputError: The folder cannot be written to.
    """
    from mapper.certificate.network_certificate import NETWORK_OBJECTIVES

    if network is not None and problem.objective not in NETWORK_OBJECTIVES:
        raise OptionError(
            f"--certificate: {problem.objective} of layers says nothing of a network; expected "
            f"{', '.join(NETWORK_OBJECTIVES)}"
        )
    built = problem.build()
    reason = baselines.can_prove(built)
    more = [name for name in ("uneven", "axis_dims") if name in built.space.options]
    if reason is None and more:
        reason = f"a certificate is of the default space; leave {' and '.join(more)} out"
    if reason is not None:
        raise OptionError(f"--certificate: {reason}")
    check_file("--certificate", path)


def time_of_search(method: str, timeout: float | None, problem: ProblemSpec) -> float | None:
    """Seconds after which a search by samples ends; None where the method proves, or none are set.

    Args:
        method: The searcher's name.
        timeout: What was asked for [s]; 0 is for proofs alone.
        problem: What is searched, or the first of it.
    """
    proves = baselines.prover_of(baselines.load(method)) is not None
    if proves and baselines.can_prove(problem.build()) is None:
        return None
    return timeout or None


def budget_and_options(
    method: str,
    budget: int | None,
    options: dict[str, Any],
    proof: ProofOptions,
    problem: ProblemSpec,
) -> tuple[int, dict[str, Any]]:
    """Samples and options of a search, those of its proof included.

    Args:
        method: The searcher's name.
        budget: Samples asked for; None where nothing is said.
        options: Options of the searcher.
        proof: Options of its proof.
        problem: What is searched, or the first of it.

    Raises:
        OptionError: Memory is given, and the method makes no proof; or it makes nothing but proofs,
            and the model has no bounds.
    """
    from mapper.search.methods import BUDGET, FIRST_VALUE, TIMED

    searcher = baselines.load(method)
    if baselines.prover_of(searcher) is None:
        if proof.max_memory is not None:
            raise OptionError(f"--max-memory: only auto and optimal take it, not {method}")
        return BUDGET if budget is None else budget, options
    reason = baselines.can_prove(problem.build())
    if reason is None:
        return FIRST_VALUE if budget is None else budget, with_pairs(_of_proof(proof), options)
    if method == "auto":
        seconds = {"seconds": proof.timeout} if proof.timeout else {}
        if budget is None:
            return TIMED, {**seconds, **options}
        return budget, {"seconds": 0.0, **options}
    raise OptionError(f"--method {method}: {reason}")


def _of_proof(proof: ProofOptions) -> dict[str, Any]:
    """Options of a searcher that proves, those that are not its defaults."""
    given: dict[str, Any] = {"gap": proof.gap} if proof.gap else {}
    if proof.timeout is not None:
        given["timeout"] = proof.timeout
    if proof.max_memory:
        given["max_memory"] = int(proof.max_memory * 2**20)
    return given
