"""Where each file of docs/data comes from: the benchmark that writes it, or the one that did.

python -m benchmarks data_files            # files without an entry, and entries without a file
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from benchmarks.__main__ import modules

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
WRITTEN = {
    "../mapper/commands/bench.py": "bench",
    "chain_check.py": "chain-check.csv chain-check-uneven.csv chain-check-parts.csv",
    "chain_searchers.py": "chain-searchers*.csv chain-seeds*.csv",
    "chain_speed.py": "chain-speed.csv chain-comparison.csv",
    "crosscheck.py": "crosscheck-timeloop.csv",
    "exact_simulated.py": "exact-simulated.csv exact-padded.csv",
    "explore_designs.py": "explore.csv explore-keep.csv explore-keep-time.csv",
    "export_costs.py": "export-costs*.csv",
    "levels_agreement.py": "levels-agreement*.csv",
    "marl_controls.py": "marl-controls.csv marl-controls-pairs.csv marl-controls-runs.csv",
    "mast/ablation.py": "mast-ablation-tuned.csv",
    "mast/kernels.py": "sparse-kernels*.csv",
    "mast/long.py": "mast-long*.csv",
    "mast/plans/discount-first.yaml": "mast-discount-first.csv",
    "mast/rates.py": "mast-rates.csv mast-wide-rates.csv",
    "mast/table1.py": "mast-tuned*.csv",
    "mast/time.py": "mast-time-tuned.csv",
    "mast/wide.py": "mast-wide.csv mast-wide-runs.csv",
    "methods_table.py": "methods-table3.csv",
    "mpe/command.py": "mpe-measured.jsonl",
    "mpe/learning.py": "mpe-learning*.csv",
    "mpe/paper_shares.py": "mpe-profiles.csv mpe-growth.csv mpe-sizes.csv",
    "mpe/paper_training.py": "mpe-figure6*.csv",
    "mpe/sampling.py": "mpe-sampling*.csv",
    "mst/front.py": "mst-front*.csv",
    "mst/time.py": "mst-time*.*",
    "network_brute.py": "network-brute*.csv",
    "network_keep.py": "network-keep.csv network-tiles.csv network-inputs.csv",
    "networks_table.py": "networks*.csv",
    "optima/command.py": "optima",
    "paper/command.py": "paper-*.csv paper-*.jsonl table3-curves.csv",
    "pretrained_cases.py": "pretrained-in-range.csv pretrained-out-of-range.csv "
    "pretrained-deep.csv pretrained-reference.csv pretrained-rllib.csv",
    "published/command.py": "published-*.csv",
    "table3_summary.py": "table3-exact.csv table3-maestro.csv table3-summary.csv",
}
"""Benchmark (or command), below this folder -> patterns of the files that it writes; of the others
the file that is called as they are, as ``dataflows.csv``."""
ANSWERED = {
    "crash.py": "917e22e",
    "exact_bound.py": "917e22e",
    "first_value.py": "917e22e",
    "full_spaces.py": "917e22e",
    "import_models.py": "50500cd import.csv",
    "marl_ending.py": "50500cd marl-ending.csv",
    "mast/separates.py": "917e22e",
    "model_based.py": "917e22e",
    "mpe/peers.py": "50500cd mpe-peers*.csv",
    "optimal_threads.py": "50500cd optimal-threads.csv",
    "optimum_gap.py": "50500cd",
    "pretrained_parts.py": "50500cd pretrained-parts*.csv",
    "runner_overhead.py": "50500cd",
    "tune_searchers.py": "917e22e",
}
"""Benchmarks of questions that are answered -> the last commit that has them, and their files."""


def entries() -> dict[str, list[str]]:
    """Patterns of the files of each benchmark, those of answered questions too."""
    found = {name: commit.split()[1:] for name, commit in ANSWERED.items()}
    for name, module in modules().items():
        path = module.removeprefix("benchmarks.").replace(".", "/") + ".py"
        found[path] = [name.replace("_", "-").replace(".", "-") + ".*"]
    return found | {name: patterns.split() for name, patterns in WRITTEN.items()}


def faults() -> list[str]:
    """Files without exactly one entry, and entries without a benchmark or a file, a line each."""
    names, known, lines = sorted(path.name for path in DATA.iterdir()), entries(), []
    for name in names:
        found = [who for who, some in known.items() if any(fnmatch(name, one) for one in some)]
        if len(found) != 1:
            lines.append(f"docs/data/{name}: has {len(found)} entries {found}, expected one")
    for benchmark, patterns in WRITTEN.items():
        if not (ROOT / "benchmarks" / benchmark).exists():
            lines.append(f"benchmarks/{benchmark}: is not there, and has an entry")
        for pattern in patterns.split():
            if not any(fnmatch(name, pattern) for name in names):
                lines.append(f"benchmarks/{benchmark}: no file is {pattern}")
    here = (name for name in ANSWERED if (ROOT / "benchmarks" / name).exists())
    return lines + [f"benchmarks/{name}: is there, and said to have left" for name in here]


def main() -> bool:
    print("\n".join(found := faults()) or "every file has one entry")
    return bool(found)
