"""Fit the judge of trained agents anew; their policies stay as they are.

    python benchmarks/pretrained_judge.py AGENTS --out FILE

AGENTS may be of an earlier version whose policies saw the same: of its judge nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from safetensors import safe_open

import cost_models
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.judge_fit import JudgeFit
from mapper.pretrained.training.validation import Validation
from mapper.pretrained.weights import Agents, save


def main() -> None:
    """Fit, validate on held-out random problems, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--problems", type=int, default=JudgeFit.problems)
    parser.add_argument("--steps", type=int, default=JudgeFit.steps)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with safe_open(given.agents, framework="numpy") as file:
        card = json.loads(file.metadata()["card"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    sees = arrays.pop("sees")
    model = cost_models.load(card["cost_model"])
    begin = time.process_time()
    fit = JudgeFit(problems=given.problems, steps=given.steps)
    weights, judge = fit.fit(Proposer(arrays, sees), model, given.seed)
    judge["cpu_minutes"] = round((time.process_time() - begin) / 60, 2)
    validation = Validation.build(model).measure(Proposer(weights, sees), seed=1)
    card |= {
        "cpu_minutes": round(card["cpu_minutes"] + judge["cpu_minutes"], 2),
        "cost_model_calls": card["cost_model_calls"] + judge["cost_model_calls"],
        "judge": {"fitted": "anew, to proposals of the finished policies", **judge},
        "parameters": int(sum(array.size for array in weights.values())),
        "validation": validation,
    }
    save(given.out, Agents(weights, card, sees))
    print(json.dumps(card, indent=1))


if __name__ == "__main__":
    main()
