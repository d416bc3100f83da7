"""Options of proofs, for methods that prove and for the proof after any other search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.commands.options import OptionError

if TYPE_CHECKING:
    from mapper.problem_spec import ProblemSpec


@dataclass(frozen=True)
class After:
    """The proof that follows a search, see :func:`mapper.standing.standing`.

    Args:
        gap: Share above the optimum at which it stops.
        timeout: Time after which it stops [s].
        certificate: File to write the proof into, if any.
    """

    gap: float
    timeout: float | None
    certificate: Path | None = None


def check_certificate_file(path: Path, network: str | None, problem: ProblemSpec) -> None:
    """Check that a certificate can be made and written, before anything is searched.

    Raises:
        OptionError: The objective says nothing of a whole network, or the model offers no bounds.
        OutputError: The folder cannot be written to.
    """
    import baselines
    from mapper.certificate import NETWORK_OBJECTIVES
    from mapper.output import check_writable

    if network is not None and problem.objective not in NETWORK_OBJECTIVES:
        raise OptionError(
            f"--certificate: {problem.objective} of layers says nothing of a network; expected "
            f"{', '.join(NETWORK_OBJECTIVES)}"
        )
    reason = baselines.can_prove(problem.build())
    if reason is None and getattr(problem.build().space, "uneven", False):
        reason = "a certificate is of the default space; leave uneven out"
    if reason is not None:
        raise OptionError(f"--certificate: {reason}")
    if path.is_dir():
        raise OptionError(f"--certificate {path}: is a folder; expected a file's name")
    check_writable(path.parent, "--certificate")


def check_proof(gap: float, timeout: float | None, max_memory: float | None) -> None:
    """Check the options of a proof.

    Raises:
        OptionError: One is out of range.
    """
    if not 0 <= gap < 1:
        raise OptionError(f"--gap: got {gap:g}, expected a share from 0 to below 1, such as 0.01")
    if timeout is not None and not 0 <= timeout < float("inf"):
        raise OptionError(f"--timeout: got {timeout:g}, expected seconds of at least 0")
    if max_memory is not None and not 16 < max_memory < 1e9:
        raise OptionError(f"--max-memory: got {max_memory:g}, expected MB, more than 16")


def time_of_search(method: str, timeout: float | None, problem: ProblemSpec) -> float | None:
    """Seconds after which a search by samples ends; None where the method proves, or none are set.

    Args:
        method: The searcher's name.
        timeout: What was asked for [s]; 0 is for proofs alone.
        problem: What is searched, or the first of it.
    """
    import baselines

    proves = baselines.prover_of(baselines.load(method)) is not None
    if proves and baselines.can_prove(problem.build()) is None:
        return None
    return timeout or None


def budget_and_options(
    method: str,
    budget: int | None,
    options: dict[str, Any],
    proof: dict[str, Any],
    problem: ProblemSpec,
) -> tuple[int, dict[str, Any]]:
    """Samples and options of a search, those of its proof included.

    Args:
        method: The searcher's name.
        budget: Samples asked for; None where nothing is said.
        options: Options of the searcher.
        proof: ``gap``, ``timeout`` [s] and ``max_memory`` [MB] as they were given.
        problem: What is searched, or the first of it.

    Raises:
        OptionError: Memory is given, and the method makes no proof; or it makes nothing but proofs,
            and the model has no bounds.
    """
    import baselines
    from mapper.methods import BUDGET, FIRST_VALUE, TIMED

    searcher = baselines.load(method)
    if baselines.prover_of(searcher) is None:
        if proof["max_memory"] is not None:
            raise OptionError(f"--max-memory: only auto and optimal take it, not {method}")
        return BUDGET if budget is None else budget, options
    reason = baselines.can_prove(problem.build())
    if reason is None:
        return FIRST_VALUE if budget is None else budget, {**_of_proof(proof), **options}
    if method == "auto":
        seconds = {"seconds": proof["timeout"]} if proof["timeout"] else {}
        if budget is None:
            return TIMED, {**seconds, **options}
        return budget, {"seconds": 0.0, **options}
    raise OptionError(f"--method {method}: {reason}")


def _of_proof(proof: dict[str, Any]) -> dict[str, Any]:
    """Options of a searcher that proves, those that are not its defaults."""
    given = {name: value for name, value in proof.items() if value}
    if proof["timeout"] is not None:
        given["timeout"] = proof["timeout"]
    if "max_memory" in given:
        given["max_memory"] = int(given["max_memory"] * 2**20)
    return given
