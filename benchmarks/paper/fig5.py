"""Fig. 5: mean return against samples, many agents and single agents.

    python benchmarks/paper/fig5.py --seeds 2 --out figures

The return of a sample is the best value of any method here over its own, 0 where it is infeasible;
curves are means over seeds. Arrival is the first window whose mean return is 90 % of the highest
mean return of any method. `marl` searches from elites, so its samples stay near the best; `paper`
is the paper's method as printed, `paper, RLlib` the same by the other learner (minutes a run; only
if `--methods` names it).
Area is searched together with the PE count, under a latency limit of 4 times the bound.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import recorded

from maestro_env import Problem

METHODS = {
    "marl": "marl",
    "paper": recorded.PAPER,
    "paper, one agent": recorded.PAPER + ":agents=1",
    "ppo-matched": "ppo-matched",
    "ppo": "ppo",
    "paper, RLlib": "marl-rllib:mode=paper",
}
AREA_LIMIT = 4.0


def problem_of(layer: str, objective: str, accelerator: str, cost_model: str) -> Problem:
    if objective != "area":
        return Problem(layer, accelerator, objective, cost_model)
    bound = Problem(layer, accelerator, "latency", cost_model).bound
    limits = None if bound is None else {"max_latency_cycles": AREA_LIMIT * bound}
    space = {"co_search": "num_pes"}
    return Problem(layer, accelerator, objective, cost_model, space, limits)


def rows_of(
    case: tuple[str, str], runs: dict[str, list[recorded.Recorded]], ends: np.ndarray
) -> tuple[list[dict[str, Any]], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """A row a method, and the curves of a panel; `runs` by label, one a seed."""
    reference = min(run.best for seeds in runs.values() for run in seeds)
    returns = {
        label: np.mean([recorded.mean_return(run, reference, ends) for run in seeds], axis=0)
        for label, seeds in runs.items()
    }
    level = 0.9 * max(float(np.nanmax(line)) for line in returns.values())
    rows = []
    for label, seeds in runs.items():
        last = recorded.spread([recorded.last_return(run, reference) for run in seeds])
        within = [recorded.arrival_of_best(run, 1.05 * reference) for run in seeds]
        rows.append(
            {
                "layer": case[0],
                "objective": case[1],
                "method": label,
                "seeds": len(seeds),
                "last mean return": last[0],
                "+-": last[1],
                "return arrives at": recorded.arrival(returns[label], ends, level),
                "median best / best of all": float(np.median([r.best for r in seeds]) / reference),
                "median samples to 5 %": float(np.median(within)),
                "cpu_s": float(np.mean([run.seconds for run in seeds])),
            }
        )
    return rows, {label: (ends, line) for label, line in returns.items()}


def main() -> None:
    parser = recorded.parser(__doc__)
    parser.add_argument("--layers", default="mobilenetv2.2,vgg16.1")
    parser.add_argument("--objectives", default="latency,energy,edp,area")
    parser.add_argument(
        "--methods", default=";".join(list(METHODS)[:-1]), help="labels, with semicolons"
    )
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    ends = recorded.windows(arguments.budget)
    rows, curves = [], {}
    objectives = arguments.objectives.split(",")
    for layer in arguments.layers.split(","):
        for objective in objectives:
            problem = problem_of(layer, objective, arguments.accelerator, arguments.cost_model)
            runs = {
                label: [
                    recorded.record(
                        label, problem, METHODS[label], arguments.budget, seed, arguments.runs
                    )
                    for seed in seeds
                ]
                for label in arguments.methods.split(";")
            }
            more, curves[f"{layer}, {objective}"] = rows_of((layer, objective), runs, ends)
            rows += more
            print(f"{layer}, {objective}: done", file=sys.stderr)
    if arguments.data:
        recorded.keep_curves(curves, arguments.data / "paper-fig5-curves.csv")
    recorded.draw(curves, arguments.out / "fig5.png", "mean return", columns=len(objectives))
    recorded.show(rows, arguments.json, arguments.csv)


if __name__ == "__main__":
    main()
