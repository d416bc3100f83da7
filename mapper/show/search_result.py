"""The result of a search, as text and as plain values for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cost_models import ChainMapping, ReasonCode, hierarchy, loop_nest, nest_of_loops
from mapper.results.result_files import search_manifest
from mapper.show.chain import print_chain_details
from mapper.show.chain import what_limits as chain_limits
from mapper.show.cost import bounds_of, cost_values, print_costs
from mapper.show.limits import limit_line, what_limits
from mapper.show.speed import speed_lines
from mapper.show.standing_lines import print_better, standing_line
from marl_common import engineering
from marl_runs import say, tell

if TYPE_CHECKING:
    from cost_models import Cost, Infeasible
    from maestro_env import Problem
    from mapper.explaining.standing import Standing
    from mapper.search.found import Found


def result_values(found: Found, standing: Standing | None = None) -> dict[str, Any]:
    """The result as ``mapper search --json`` prints it.

    Returns:
        ``best`` (the objective's value, the cost's figures, mapping and dataflow, None where
        MAESTRO's directives have no words for it; None where no sample was feasible), ``bound``,
        ``empty`` (why there is no mapping), ``proof`` (how far it is from the optimum; None where
        nothing is proven), ``samples``,
        ``feasible_share``, ``seconds``, ``manifest``.
    """
    problem = found.problem
    best: dict[str, Any] | None = None
    if found.best is not None:
        mapping, cost = found.best
        best = {
            "objective": problem.best_value,
            **cost_values(cost),
            "mapping": mapping.to_dict(),
            "dataflow": str(mapping.dataflow(problem.layer)) if mapping.has_directives else None,
        }
    return {
        "best": best,
        "bound": problem.bound,
        "empty": found.empty,
        "proof": None if standing is None else standing.to_dict(),
        "samples": problem.samples,
        "feasible_share": found.feasible_share,
        "seconds": found.seconds,
        "manifest": search_manifest(found),
    }


def print_result(found: Found, standing: Standing | None, verbose: bool = False) -> None:
    """Print the verdict, then the loop nest, then the figures.

    Args:
        found: The search.
        standing: What is proven of its answer; None where nothing is.
        verbose: Whether to print every figure, access and limit too, and what the search took.
    """
    problem = found.problem
    spent = f"{problem.samples:,} samples in {found.seconds:.2f} s"
    if found.interrupted:
        tell(f"interrupted after {spent}; the best so far:")
    if found.best is None:
        return
    mapping, cost = found.best
    chip = problem.accelerator
    say(f"{problem.layer.name} on {found.run.problem.accelerator_name}: {_value(problem)}")
    say(_distance(problem) if standing is None else standing_line(standing, problem, verbose))
    deep = isinstance(mapping, ChainMapping)
    least = -(-problem.layer.macs // chip.peak_macs_per_cycle) if deep else 0
    binds = next(chain_limits(cost, chip, least), None) if deep else limit_line(cost)
    if binds is not None:
        say(binds)
    if deep:
        print(f"\n{nest_of_loops(mapping.loops(problem.layer, chip))}\n")
    else:
        print(f"\n{loop_nest(mapping, problem.layer, chip.num_pes)}\n")
    say("\n".join(speed_lines(chip, cost.latency_cycles, cost.energy_nj, cost.macs)))
    if verbose:
        say(f"{spent}, {found.feasible_share:.1%} feasible; {_distance(problem)}\n")
        _print_details(problem, mapping, cost, least)
    if standing is not None:
        print_better(standing, problem)


def _print_details(problem: Problem, mapping: Any, cost: Cost, least: int) -> None:
    """Print every figure with its bound, all accesses, and what limits them."""
    layer, chip = problem.layer, problem.accelerator
    if isinstance(mapping, ChainMapping):
        print(f"{hierarchy(chip)}\n")
        print_chain_details(chip, cost, least)
        return
    bounds = bounds_of(problem.cost_model, layer, chip, mapping)
    print_costs({problem.cost_model.name: cost}, bounds=bounds)
    print()
    say("\n".join(what_limits(cost, layer, chip, mapping)))


def _value(problem: Problem) -> str:
    value = engineering(problem.best_value, problem.objective.unit, digits=4)
    return f"{problem.objective.name} {value}"


def _distance(problem: Problem) -> str:
    if not problem.bound:
        return "no physical bound is known for it"
    ratio = problem.best_value / problem.bound
    bound = engineering(problem.bound, problem.objective.unit, digits=4)
    return f"{ratio:.3f} x the physical bound of {bound}, which no mapping need reach"


def print_nothing_found(found: Found, standing: Standing | None = None) -> None:
    """Say on standard error that there is no mapping, or what most often stood against samples."""
    if found.empty is not None:
        tell(f"error: {found.empty}")
        return
    problem = found.problem
    if standing is not None and standing.empty:
        tell(
            f"error: {problem.layer.name} has no feasible mapping: proven over "
            f"{float(problem.space.size):.3g} mappings ({standing.boxes:,} parts); most often:"
        )
    else:
        name, samples = problem.layer.name, problem.samples
        tell(f"error: no feasible mapping of {name} in {samples:,} samples; most often:")
    for share, reason in common_reasons(problem):
        tell(f"  {share:.0%}: {reason}")
    if standing is not None and standing.mapping is not None:
        value = engineering(standing.value, problem.objective.unit, digits=4)
        tell(f"the proof found one, of {value}: give --method auto")


def common_reasons(problem: Problem, samples: int = 512) -> list[tuple[float, Infeasible]]:
    """The three most frequent reasons among random mappings, each with its mildest example.

    Args:
        problem: The problem; the samples drawn here are not counted.
        samples: How many mappings to draw.

    Returns:
        ``(share of all samples, reason)``, the most frequent first.
    """
    looked = problem.look(problem.space.sample(samples, 0))
    examples: dict[ReasonCode, list[Infeasible]] = {}
    for row in range(samples):
        reason = looked.infeasible(row)
        if reason is not None:
            examples.setdefault(reason.code, []).append(reason)
    frequent = sorted(examples.values(), key=len, reverse=True)[:3]
    return [(len(found) / samples, min(found, key=lambda r: r.gap or 0.0)) for found in frequent]
