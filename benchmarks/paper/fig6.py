"""Fig. 6: how many agents: 1, 2, 3, 6, 9 and one a parameter.

python benchmarks/paper/fig6.py --out figures
"""

from __future__ import annotations

import numpy as np
import recorded

from maestro_env import Problem
from mapper.marl.agents import choosing


def main() -> None:
    parser = recorded.parser(__doc__)
    parser.add_argument("--layer", default="mobilenetv2.2")
    parser.add_argument("--objective", default="latency")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", default=f"marl;{recorded.PAPER}", help="with semicolons")
    arguments = parser.parse_args()
    problem = Problem(
        arguments.layer, arguments.accelerator, arguments.objective, arguments.cost_model
    )
    ends = recorded.windows(arguments.budget)
    counts = [1, 2, 3, 6, 9, len(choosing(problem))]
    every = {}
    for method in arguments.methods.split(";"):
        for agents in counts:
            text = f"{method}:agents={agents}"
            every[method, agents] = [
                recorded.record(
                    str(agents),
                    problem,
                    text,
                    arguments.budget,
                    arguments.seed + seed,
                    arguments.runs,
                )
                for seed in range(arguments.seeds)
            ]
    reference = min(run.best for runs in every.values() for run in runs)
    rows, curves = [], {}
    for (method, agents), runs in every.items():
        returns = np.mean([recorded.mean_return(run, reference, ends) for run in runs], axis=0)
        label = "paper" if method == recorded.PAPER else method
        last = recorded.spread([recorded.last_return(run, reference) for run in runs])
        curves.setdefault(label, {})[f"{agents} agents"] = (ends, returns)
        rows.append(
            {
                "method": label,
                "agents": agents,
                "seeds": len(runs),
                "last mean return": last[0],
                "+-": last[1],
                "median best / best of all": float(np.median([r.best for r in runs]) / reference),
                "median samples to 5 %": float(
                    np.median([recorded.arrival_of_best(r, 1.05 * reference) for r in runs])
                ),
            }
        )
    if arguments.data:
        recorded.keep_curves(curves, arguments.data / "paper-fig6-curves.csv")
    recorded.draw(curves, arguments.out / "fig6.png", "mean return")
    recorded.show(rows, arguments.json, arguments.csv)


if __name__ == "__main__":
    main()
