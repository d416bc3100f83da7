"""This checkout against an earlier one: processor time of the same work, in alternated runs.

    python -m benchmarks against ../earlier [--rounds 20] [--only step batch] [--csv FILE]
    python -m benchmarks against ../0.2.0 --csv docs/data/sparse-against.csv --processes 6
        --rounds 10 --only columns-64x32 columns-64x512 columns-64x2048 columns-256x512
        columns-256x2048 columns-1024x512

A process for each checkout does each piece of work in turn, on one thread, and says how much
processor time that took; then starts of the command line are timed likewise. Where arrays happen to
lie moves small work by some percent: several pairs of processes say more than one. The table has
the medians and the median of the ratios. Earlier versions had other defaults of the exact model, so
the work names the options under which both count alike. *columns-64x512* are forward and backward
passes of a sparse layer of 64 units and 512 columns, a tenth of whose weights are kept.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.frame import asked, children_s, show, write

WORKER = """
import dataclasses, sys, time
import gymnasium
import numpy as np
import cost_models, layers, maestro_env
from cost_models import Accelerator
from maestro_env import MapSpace, Problem

EARLIER = "exact:halo_time=none:energy=maestro:area=maestro"
LAYER, CHIP = layers.get("mobilenetv2.2"), Accelerator.preset("edge")

def of(name):
    if name != "exact" or not sys.argv[1]:
        return cost_models.load(name)
    return cost_models.load(EARLIER)

def batch(name, rows, layer=LAYER):
    model, space = of(name), MapSpace(layer, CHIP)
    mappings = space.decode(space.sample(rows, 0))
    return lambda: model.evaluate_batch(layer, CHIP, mappings)

def calls(name, read=False, rows=40):
    model, space = of(name), MapSpace(LAYER, CHIP)
    decoded = space.decode(space.sample(rows, 0))
    mappings = [decoded[row] for row in range(rows)]
    def work():
        for mapping in mappings:
            cost = model.evaluate(LAYER, CHIP, mapping)
            if read:
                str(cost.infeasible)
                [getattr(cost, field.name) for field in dataclasses.fields(cost)]
    return work

def steps(name, count=1500):
    model = EARLIER if name == "exact" and sys.argv[1] else name
    env = gymnasium.make("MaestroEnv-v0", layer="mobilenetv2.2", cost_model=model)
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(count)]
    def work():
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
    return work

def worlds(number=1024, count=12):
    model = EARLIER if sys.argv[1] else "exact"
    envs = gymnasium.make_vec(
        "MaestroEnv-v0", num_envs=number, layer="mobilenetv2.2", cost_model=model)
    envs.action_space.seed(0)
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(count)]
    def work():
        for action in actions:
            envs.step(action)
    return work

def samples(count=20_000):
    model = EARLIER if sys.argv[1] else "exact"
    problem = Problem("mobilenetv2.2", "edge", "edp", model)
    actions = problem.space.sample(count, 0)
    return lambda: problem.evaluate(actions)

def decoding(count=50_000):
    space = MapSpace(LAYER, CHIP)
    actions = space.sample(count, 0)
    return lambda: space.decode(actions)

def columns(units, rows):
    import torch
    from sparse_training import SparseLinear, Sparsifier, SparsityConfig
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layout = {"layout": "columns"} if sys.argv[1] else {}
    layer = SparseLinear(units, units, backend="compiled", **layout)
    Sparsifier({"layer": layer}, SparsityConfig(0.9, "uniform")).attach()
    x, above = torch.randn(units, rows, requires_grad=True), torch.randn(units, rows)
    def work():
        for _ in range(40_000_000 // (units * (rows + 500))):
            layer(x).backward(above)
            x.grad = layer.weight.grad = layer.bias.grad = None
    return work

MAKE = {
    **{f"columns-{units}x{rows}": lambda units=units, rows=rows: columns(units, rows)
       for units in (64, 256, 1024) for rows in (32, 512, 2048)},
    "step": lambda: steps("exact"),
    "step-maestro": lambda: steps("maestro"),
    "vector": worlds,
    "samples": samples,
    "decode": decoding,
    "batch": lambda: batch("exact", 40_000),
    "batch-vgg": lambda: batch("exact", 40_000, layers.get("vgg16.4")),
    "batch-maestro": lambda: batch("maestro", 10_000),
    "call": lambda: calls("exact"),
    "call-maestro": lambda: calls("maestro"),
    "call-read": lambda: calls("exact", True),
    "call-read-maestro": lambda: calls("maestro", True),
}
made = {}
for line in sys.stdin:
    name = line.strip()
    if name not in made:
        made[name] = MAKE[name]()
        made[name]()
    start = time.process_time()
    made[name]()
    print(time.process_time() - start, flush=True)
"""
WORK = (
    "step",
    "step-maestro",
    "vector",
    "samples",
    "decode",
    "batch",
    "batch-vgg",
    "batch-maestro",
    "call",
    "call-maestro",
    "call-read",
    "call-read-maestro",
    "columns-64x512",
    "columns-256x512",
)
MAIN = "from mapper.cli import main; main()"
STARTS = {
    "import maestro_env": ["-c", "import maestro_env"],
    "mapper --help": ["-c", MAIN, "--help"],
    "mapper search": [
        "-c",
        MAIN,
        *["search", "-l", "mlp.2", "--method", "random", "--budget", "100"],
    ],
}


def environment(checkout: Path) -> dict[str, str]:
    """Variables of a process that runs a checkout's code on one thread."""
    return {**os.environ, "PYTHONPATH": str(checkout), "NUMBA_NUM_THREADS": "1"}


class Worker:
    """A process that does pieces of work with one checkout's code."""

    def __init__(self, checkout: Path, options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER, options],
            env=environment(checkout),
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, name: str) -> float:
        """Processor time of a piece of work [s]."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def start_seconds(checkout: Path, words: list[str]) -> float:
    """Processor time of a process from its start to its end [s]."""
    before = children_s()
    subprocess.run(
        [sys.executable, "-P", *words],
        env=environment(checkout),
        cwd=checkout,
        capture_output=True,
        check=True,
    )
    return children_s() - before


def row(name: str, pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """Medians of alternated runs: of each checkout, of the ratios and of the differences."""
    earlier, now = zip(*pairs, strict=True)
    figures = {
        "earlier_s": earlier,
        "now_s": now,
        "ratio": [b / a for a, b in pairs],
        "difference_s": [b - a for a, b in pairs],
    }
    return {"work": name} | {k: f"{statistics.median(v):.4f}" for k, v in figures.items()}


def main() -> None:
    """Measure, and print a line for each piece of work."""
    given = asked(
        __doc__,
        earlier_=(Path, "folder of the earlier checkout"),
        rounds=20,
        processes=(1, "pairs of them, for each table"),
        only=[*WORK, *STARTS],
        csv=Path,
    )
    before, now = given.earlier.resolve(), Path(__file__).resolve().parents[1]
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in given.only}
    for _ in range(given.processes):
        workers = Worker(before, ""), Worker(now, "earlier")
        for name in given.only:
            if name in STARTS:
                both = [lambda c=c, n=name: start_seconds(c, STARTS[n]) for c in (before, now)]
                for once in both:
                    once()
            else:
                both = [lambda w=w, n=name: w.seconds(n) for w in workers]
            for turn in range(given.rounds):
                order = (0, 1) if turn % 2 == 0 else (1, 0)
                taken = {side: both[side]() for side in order}
                pairs[name].append((taken[0], taken[1]))
        for worker in workers:
            worker.process.communicate()
    rows = [row(name, pairs[name]) for name in given.only]
    show(rows)
    write(given.csv, rows[0], rows)
