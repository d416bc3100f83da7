"""Ablation of marl: what each part is worth, on the cases of `marl_cases.py`.

    python benchmarks/ablation.py --seeds 3 --results cases.jsonl
    python benchmarks/ablation.py --seeds 1 --objectives edp --results cases.jsonl

The first row is marl as it ships; every other one changes one part. Finished runs are shared with
`marl_cases.py` through the results file.
"""

from __future__ import annotations

import sys

import marl_cases

VARIANTS = {
    "as shipped": "marl",
    "policies replaced by uniform choices": "marl:policy=false",
    "PPO alone": "marl:elites=0:local=0:uniform=0:exchange=0",
    "PPO alone, one agent": "marl:elites=0:local=0:uniform=0:exchange=0:agents=1",
    "one agent": "marl:agents=1",
    "no neighbouring choices": "marl:local=0",
    "no crossover": "marl:crossover=0",
    "no exchange": "marl:exchange=0",
    "no restarts": "marl:patience=0",
    "no reunions": "marl:reunion=0",
    "no surrogate": "marl:surrogate=0",
    "no limit of elites alike": "marl:alike=0",
    "no policies at restarts": "marl:restart_policy=0",
    "repeats allowed": "marl:avoid_repeats=false",
    "rank reward": "marl:reward=rank",
    "relative reward": "marl:reward=relative",
    "self-imitation": "marl:self_imitation=0.02",
    "agents see their own choice": "marl:own_choice=true",
    "autoregressive heads": "marl:autoregressive=true",
    "PPO alone, autoregressive heads": (
        "marl:elites=0:local=0:uniform=0:exchange=0:autoregressive=true"
    ),
    "no entropy bonus": "marl:entropy=0",
    "warm start from a neighbour layer": "marl:warm_start=neighbour",
}


def main() -> None:
    words = sys.argv[1:]
    if "--methods" not in words:
        words = ["--methods", ",".join(VARIANTS.values()), *words]
    for label, method in VARIANTS.items():
        print(f"{method}: {label}", file=sys.stderr)
    sys.argv = [sys.argv[0], *words]
    marl_cases.main()


if __name__ == "__main__":
    main()
