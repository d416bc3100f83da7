"""What chooses the first answer among proposals: the same proposals, picked in five ways.

    python benchmarks/pretrained_picks.py --every 7 --out docs/data/pretrained-picks.csv

Of each case `DRAWN` mappings are drawn from the policies once. The first answer is then the agents'
likeliest choices turn by turn, the draw whose choices are likeliest together, the one whose terms
alone are least (no network), the judge's, or the best there is, for which every draw is evaluated.
Cases are those of ``pretrained_cases.py --set in-range`` whose reference is known.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from pretrained_cases import References, cases

from common import FloatArray
from maestro_env import Problem
from mapper.pretrained.cases import case_of
from mapper.pretrained.flows import TERMS
from mapper.pretrained.judge_view import look_at_whole
from mapper.pretrained.network import FACTORS, Weights, judged
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.tables import tabulate
from mapper.pretrained.training.torch_networks import Networks, pack
from mapper.pretrained.weights import Agents, agents_of

DRAWN = 64
WAYS = ("likeliest turn by turn", "likeliest together", "terms alone", "judge", "best of all")


def picks(agents: Agents, plain: Weights, problem: Problem, seed: int) -> FloatArray:
    """Value of the mapping that each of `WAYS` picks."""
    tables = tabulate([case_of(problem.space, problem.objective, problem.cost_model)])
    which = np.zeros(DRAWN, np.int64)
    proposals = Proposer(agents.weights, agents.sees).propose(
        tables, which, np.random.default_rng(seed), greedy=np.arange(DRAWN) == 0, keep=True
    )
    values = problem.evaluate(problem.space.encode(proposals.mappings())).values
    seen = look_at_whole(tables, which, proposals.state)
    likely = Networks(agents.weights).likelihood(pack(proposals.decisions), DRAWN).total
    scores = [
        np.arange(DRAWN),
        -likely.detach().numpy(),
        (judged(plain, seen) * tables.weights[which]).sum(axis=1),
        (judged(agents.weights, seen) * tables.weights[which]).sum(axis=1),
        values,
    ]
    return np.array([values[np.argmin(score)] for score in scores])


def without_network(weights: Weights) -> Weights:
    """The same agents, whose judge has one factor a term, whatever it sees: that of its bias."""
    still = np.zeros_like(weights["judge.out.weight"])
    assert still.shape[1] == FACTORS == TERMS + 1
    return weights | {"judge.out.weight": still}


def main() -> None:
    """Measure, write one row per case, print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", default="auto")
    parser.add_argument("--every", type=int, default=1, help="take every n-th case only")
    parser.add_argument(
        "--reference", type=Path, default=Path("docs/data/pretrained-reference.csv")
    )
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    agents = agents_of(given.agents, "exact")
    assert agents is not None
    plain = without_network(agents.weights)
    references = References(given.reference, "exact", 0.0)
    rows, ratios = [], []
    for number, case in enumerate(list(cases("in-range", Path()))[:: given.every]):
        if not references.knows(case) or not np.isfinite(references.of(case)[0]):
            continue
        values = picks(agents, plain, case.problem("exact"), number)
        ratios.append(values / min(references.of(case)[0], values.min()))
        rows.append([case.layer, case.chip, case.objective, *(f"{r:.5g}" for r in ratios[-1])])
    if given.out:
        with given.out.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["layer", "chip", "objective", *WAYS])
            out.writerows(rows)
    print(f"{len(rows)} cases, the same {DRAWN} proposals a case")
    for way, ratio in zip(WAYS, np.array(ratios).T, strict=True):
        high = np.quantile(ratio, 0.9, method="higher")
        print(
            f"{way:22}: median {np.median(ratio):.3f}, 90th percentile {high:.3f}, "
            f"within 5 % {np.mean(ratio <= 1.05):.1%}"
        )


if __name__ == "__main__":
    main()
