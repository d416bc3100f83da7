"""What the runner and the store cost a sample, beside the cost model alone.

Random search through the runner (drawing, decoding, evaluating, counting, compressing and storing
every sample in an SQLite file) against the bare batched model on mappings that are decoded already.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mapper.compare import make_plan
from mapper.problem_spec import ProblemSpec
from mapper.search_run import SearchRun
from marl_runs import SilentReporter, Store, run_all

BATCH = 1 << 16


def main() -> None:
    """Measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layer", default="mobilenetv2.2")
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--cost-model", default="exact")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    plan = make_plan(
        [options.layer],
        ["edp"],
        ["random"],
        accelerator=options.accelerator,
        cost_model=options.cost_model,
        budget=options.samples,
        seeds=1,
    )
    (spec,) = plan.problems
    figures = measure(spec, options.samples, options.repeats)
    if options.json:
        print(json.dumps(vars(options) | figures, indent=1))
        return
    print(
        f"random search, {options.samples:,} samples, {spec.layer_name}, {spec.cost_model} on "
        f"{spec.accelerator_name}; least of {options.repeats}\n"
    )
    print(f"{'':34} {'CPU s':>8} {'wall s':>8} {'CPU us/sample':>14}")
    for name, label in (
        ("model", "the bare batched model"),
        ("search", "search without runner and store"),
        ("runner", "search through runner and store"),
    ):
        cpu, wall = figures[f"{name}_cpu_s"], figures[f"{name}_wall_s"]
        print(f"{label:34} {cpu:8.2f} {wall:8.2f} {1e6 * cpu / options.samples:14.2f}")
    print(f"\nsearch through runner and store / bare model, CPU: {figures['ratio']:.2f}")
    print(f"runner and store alone / bare model, CPU: {figures['own_ratio']:.2f}")
    print(f"store: {figures['store_bytes_per_sample']:.1f} bytes a sample")


def measure(spec: ProblemSpec, samples: int, repeats: int) -> dict[str, float]:
    """CPU and wall seconds of the three ways, least of `repeats` each, in turns."""
    run = SearchRun(spec, "random", samples, 0)
    run.prepare()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.sqlite" for i in range(repeats)]
        times: dict[str, list[tuple[float, float]]] = {"model": [], "search": [], "runner": []}
        for path in paths:
            times["model"].append(bare_model(spec, samples))
            times["search"].append(timed(lambda: plain_search(spec, samples)))
            times["runner"].append(timed(lambda path=path: through_runner(run, path)))
        size = os.path.getsize(paths[0])
    figures: dict[str, float] = {}
    for name, pairs in times.items():
        figures[f"{name}_cpu_s"] = min(cpu for cpu, _ in pairs)
        figures[f"{name}_wall_s"] = min(wall for _, wall in pairs)
    model = figures["model_cpu_s"]
    figures["ratio"] = figures["runner_cpu_s"] / model
    figures["own_ratio"] = (figures["runner_cpu_s"] - figures["search_cpu_s"]) / model
    figures["store_bytes_per_sample"] = size / samples
    return figures


def bare_model(spec: ProblemSpec, samples: int) -> tuple[float, float]:
    """Evaluate mappings that lie ready; only the calls of the model are timed."""
    problem = spec.build()
    cpu = wall = 0.0
    for start in range(0, samples, BATCH):
        count = min(BATCH, samples - start)
        mappings = problem.space.decode(problem.space.sample(count, start))
        call = timed(
            lambda mappings=mappings: problem.cost_model.evaluate_batch(
                problem.layer, problem.accelerator, mappings
            )
        )
        cpu, wall = cpu + call[0], wall + call[1]
    return cpu, wall


def plain_search(spec: ProblemSpec, samples: int) -> None:
    """The same search, nothing recorded."""
    import baselines

    baselines.load("random").search(spec.build(), samples, 0)


def through_runner(run: SearchRun, path: Path) -> None:
    """The search as `mapper compare` does it, into a new store."""
    with Store.open(path) as store:
        summary = run_all([run], store, reporter=SilentReporter())
    if len(summary.finished) != 1:
        raise SystemExit(f"the run did not finish: {summary.failed}")


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    action()
    return time.process_time() - cpu, time.perf_counter() - wall


if __name__ == "__main__":
    main()
