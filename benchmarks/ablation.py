"""Ablation of marl: what each part is worth, on the cases of `marl_cases.py`.

    python -m benchmarks ablation --seeds 3 --results cases.jsonl
    python -m benchmarks ablation --seeds 1 --objectives edp --results cases.jsonl

The first row is marl as it ships; every other one changes one part. Finished runs are shared with
`marl_cases.py` through the results file.
"""

from __future__ import annotations

import sys

from benchmarks import marl_cases

VARIANTS = {
    "as shipped": "marl",
    "agents learn": "marl:policy=true",
    "no agent learns": "marl:policy=false",
    "agents learn, policies alone draw": "marl:policy=true:share=1",
    "the paper's method": "marl:mode=paper",
    "the paper's method, one agent": "marl:mode=paper:agents=1",
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
    "rank reward": "marl:policy=true:reward=rank",
    "relative reward": "marl:policy=true:reward=relative",
    "self-imitation": "marl:policy=true:self_imitation=0.02",
    "agents do not see their own choice": "marl:policy=true:own_choice=false",
    "autoregressive heads": "marl:policy=true:autoregressive=true",
    "the paper's method, autoregressive heads": "marl:mode=paper:autoregressive=true",
    "no entropy bonus": "marl:policy=true:entropy=0",
}


def main() -> None:
    words = sys.argv[1:]
    if "--methods" not in words:
        words = ["--methods", ",".join(VARIANTS.values()), *words]
    for label, method in VARIANTS.items():
        print(f"{method}: {label}", file=sys.stderr)
    sys.argv = [sys.argv[0], *words]
    marl_cases.main()
