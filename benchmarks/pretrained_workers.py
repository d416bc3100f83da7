"""What workers save of one training: the same short training, by this process and by two workers.

    python benchmarks/pretrained_workers.py --cpu-minutes 0.3

Each crew trains a little in turn, so that what else the machine does meets all alike; the start of
the workers is not counted. The agents are compared to the bit at the end.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import torch

import cost_models
from mapper.pretrained.training.experiment import schedule_of
from mapper.pretrained.training.trainer import PolicyTrainer
from runs import Crew, gathered

SHORT = {"steps": 3, "expert_problems": 4}
STEPS = 5
"""Steps in turn."""


def main() -> None:
    """Train with each crew, print times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu-minutes", type=float, default=0.3)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(1)
    plan = schedule_of(given.cpu_minutes)
    with ExitStack() as ends:
        crews = [Crew(), ends.enter_context(gathered(given.workers))]
        model = cost_models.load("exact")
        trainers = [PolicyTrainer(model, plan, 0, crew=crew) for crew in crews]
        wall, cpu, theirs = np.zeros(2), np.zeros(2), [crew.cpu_s for crew in crews]
        for crew in crews:  # loads what each needs
            warm = PolicyTrainer(model, replace(plan, **SHORT), 1, crew=crew)
            while warm.done < warm.schedule.steps:
                warm.step()
        while trainers[0].done < plan.steps:
            for n, (trainer, crew) in enumerate(zip(trainers, crews, strict=True)):
                began = time.perf_counter(), time.process_time() + crew.cpu_s
                for _ in range(min(STEPS, plan.steps - trainer.done)):
                    trainer.step()
                wall[n] += time.perf_counter() - began[0]
                cpu[n] += time.process_time() + crew.cpu_s - began[1]
    for name, w, c in zip(("1 process", f"{given.workers} workers"), wall, cpu, strict=True):
        print(f"{name}: {plan.steps} steps in {w:.1f} s, {c:.1f} s of processor time")
    shared = crews[1].cpu_s - theirs[1]
    print(f"of the latter {shared:.1f} s in the workers")
    one, other = (trainer.weights for trainer in trainers)
    same = all(np.array_equal(one[name], other[name]) for name in one)
    print(f"{wall[0] / wall[1]:.2f} times as fast; agents {'alike' if same else 'NOT alike'}")


if __name__ == "__main__":
    main()
