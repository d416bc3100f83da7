"""Fig. 5: mean return against samples, many agents and single agents.

    python benchmarks/paper/fig5.py --out figures

The return of a sample is the best value of any method here over its own; arrival is the first
window whose mean return is 90 % of the highest mean return of any method. `marl` searches from
elites, so its samples stay near the best; `marl, PPO alone` is the paper's method without them.
Area is searched together with the PE count, under a latency limit of 4 times the bound.
"""

from __future__ import annotations

import common
import numpy as np

from maestro_env import Problem

METHODS = {
    "marl": "marl",
    "marl, PPO alone": common.PLAIN,
    "one agent, PPO alone": common.PLAIN + ":agents=1",
    "ppo-matched": "ppo-matched",
    "ppo": "ppo",
}
AREA_LIMIT = 4.0


def problem_of(layer: str, objective: str, accelerator: str, cost_model: str) -> Problem:
    if objective != "area":
        return Problem(layer, accelerator, objective, cost_model)
    bound = Problem(layer, accelerator, "latency", cost_model).bound
    limits = None if bound is None else {"max_latency_cycles": AREA_LIMIT * bound}
    space = {"co_search": "num_pes"}
    return Problem(layer, accelerator, objective, cost_model, space, limits)


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--layers", default="mobilenetv2.2,vgg16.1")
    parser.add_argument("--objectives", default="latency,energy,edp,area")
    parser.add_argument("--methods", default=";".join(METHODS), help="labels, with semicolons")
    arguments = parser.parse_args()
    ends = common.windows(arguments.budget)
    rows, curves = [], {}
    for layer in arguments.layers.split(","):
        for objective in arguments.objectives.split(","):
            problem = problem_of(layer, objective, arguments.accelerator, arguments.cost_model)
            runs = [
                common.record(label, problem, METHODS[label], arguments.budget, arguments.seed)
                for label in arguments.methods.split(";")
            ]
            reference = min(run.best for run in runs)
            returns = {run.label: common.mean_return(run, reference, ends) for run in runs}
            level = 0.9 * max(float(np.nanmax(line)) for line in returns.values())
            first = common.arrival(returns[runs[0].label], ends, level)
            curves[f"{layer}, {objective}"] = {k: (ends, y) for k, y in returns.items()}
            for run in runs:
                there = common.arrival(returns[run.label], ends, level)
                rows.append(
                    {
                        "layer": layer,
                        "objective": objective,
                        "method": run.label,
                        "last mean return": float(returns[run.label][-1]),
                        "return arrives at": there,
                        "times the first": there / first,
                        "best / best of all": run.best / reference,
                        "within 5 % at": common.arrival_of_best(run, 1.05 * reference),
                        "cpu_s": run.seconds,
                    }
                )
    common.draw(curves, arguments.out / "fig5.png", "mean return")
    common.show(rows, arguments.json)


if __name__ == "__main__":
    main()
