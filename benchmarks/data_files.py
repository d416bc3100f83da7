"""Where each file of docs/data comes from: the benchmark that writes it, or the one that did.

python benchmarks/data_files.py            # files without an entry, and entries without a file
"""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
WRITTEN = {
    "../mapper/commands/bench.py": "bench",
    "against.py": "sparse-against.csv",
    "case_optima.py": "case-optima.csv",
    "chain_check.py": "chain-check.csv chain-check-uneven.csv",
    "chain_certificates.py": "chain-certificates.csv",
    "chain_proofs.py": "chain-proofs.csv",
    "chain_random.py": "chain-random.csv",
    "chain_searchers.py": "chain-searchers*.csv chain-seeds.csv",
    "chain_speed.py": "chain-speed.csv chain-comparison.csv",
    "crosscheck_timeloop.py": "crosscheck-timeloop.csv",
    "dataflows.py": "dataflows.csv",
    "dear_models.py": "dear-models.csv",
    "edits/campaign.py": "edits.txt",
    "exact_simulated.py": "exact-simulated.csv exact-padded.csv",
    "exact_speed.py": "exact-speed.json",
    "exact_speed_against.py": "exact-speed-against.txt",
    "explore_designs.py": "explore.csv explore-keep.csv explore-keep-time.csv",
    "export_costs.py": "export-costs*.csv",
    "export_counts.py": "export-counts.csv",
    "export_programs.py": "export-programs.csv",
    "field/command.py": "field.csv",
    "findings.py": "findings.csv",
    "fused_check.py": "fused-check.csv",
    "import_models.py": "import.csv",
    "impossible.py": "impossible.csv",
    "levels_agreement.py": "levels-agreement.csv",
    "levels_laws.py": "levels-laws.csv",
    "levels_monotone.py": "levels-monotone.csv",
    "levels_speed.py": "levels-speed.csv",
    "marl_controls.py": "marl-controls.csv marl-controls-pairs.csv marl-controls-runs.csv",
    "marl_controls_rllib.py": "marl-controls-rllib.csv",
    "mast/ablation.py": "mast-ablation-tuned.csv",
    "mast/acting.py": "mast-acting.csv",
    "mast/kernels.py": "sparse-kernels*.csv",
    "mast/long.py": "mast-long*.csv",
    "mast/plans/discount-first.yaml": "mast-discount-first.csv",
    "mast/rates.py": "mast-rates.csv mast-wide-rates.csv",
    "mast/table1.py": "mast-tuned*.csv",
    "mast/time.py": "mast-time-tuned.csv",
    "mast/update.py": "mast-update.csv",
    "mast/wide.py": "mast-wide.csv mast-wide-runs.csv",
    "methods_table.py": "methods-table3.csv",
    "mpe/command.py": "mpe-measured.jsonl",
    "mpe/cycle.py": "mpe-cycle.csv",
    "mpe/learning.py": "mpe-learning*.csv",
    "mpe/paper_shares.py": "mpe-profiles.csv mpe-growth.csv mpe-sizes.csv",
    "mpe/paper_training.py": "mpe-figure6*.csv",
    "mpe/peers.py": "mpe-peers*.csv",
    "mpe/sampling.py": "mpe-sampling*.csv",
    "marl_ending.py": "marl-ending.csv",
    "mpe/stepping.py": "mpe-stepping.csv",
    "mst/ablation.py": "mst-ablation.*",
    "mst/attention.py": "mst-attention.*",
    "mst/pages.py": "mst-flops.*",
    "mst/step.py": "mst-step.*",
    "mst/table.py": "mst-quality.*",
    "mst/time.py": "mst-time*.*",
    "mst/tried.py": "mst-tried.*",
    "network_brute.py": "network-brute*.csv",
    "network_keep.py": "network-keep.csv network-tiles.csv network-inputs.csv",
    "network_proofs.py": "network-proofs.csv",
    "networks_table.py": "networks*.csv",
    "optima/command.py": "optima",
    "optimal_check.py": "optimal-check.csv",
    "optimal_speed.py": "optimal-speed.csv",
    "optimal_threads.py": "optimal-threads.csv",
    "optimal_tightness.py": "optimal-tightness.csv",
    "paper/command.py": "paper-*.csv paper-*.jsonl table3-curves.csv",
    "pretrained_cases.py": "pretrained-in-range.csv pretrained-out-of-range.csv "
    "pretrained-deep.csv pretrained-reference.csv pretrained-rllib.csv",
    "pretrained_parts.py": "pretrained-parts*.csv",
    "published/command.py": "published-*.csv",
    "search_memory.py": "search-memory.csv",
    "sparse_layer.py": "sparse-layer.csv",
    "table3_summary.py": "table3-exact.csv table3-maestro.csv table3-summary.csv",
}
"""Benchmark (or command), below this folder -> patterns of the files that it writes."""
ANSWERED = {
    "crash.py": "917e22e",
    "exact_bound.py": "917e22e",
    "first_value.py": "917e22e",
    "full_spaces.py": "917e22e",
    "mast/separates.py": "917e22e",
    "model_based.py": "917e22e",
    "tune_searchers.py": "917e22e",
}
"""Benchmarks of questions that are answered -> the last commit that has them."""


def writers(name: str) -> list[str]:
    """Benchmarks that have an entry for a file of docs/data."""
    return [
        benchmark
        for benchmark, patterns in WRITTEN.items()
        if any(fnmatch(name, pattern) for pattern in patterns.split())
    ]


def faults() -> list[str]:
    """Files without exactly one entry, and entries without a benchmark or a file, a line each."""
    names = sorted(path.name for path in DATA.iterdir())
    lines = [
        f"docs/data/{name}: has {len(found)} entries {found}, expected one"
        for name in names
        if len(found := writers(name)) != 1
    ]
    for benchmark, patterns in WRITTEN.items():
        if not (ROOT / "benchmarks" / benchmark).exists():
            lines.append(f"benchmarks/{benchmark}: is not there, and has an entry")
        for pattern in patterns.split():
            if not any(fnmatch(name, pattern) for name in names):
                lines.append(f"benchmarks/{benchmark}: no file is {pattern}")
    here = (name for name in ANSWERED if (ROOT / "benchmarks" / name).exists())
    return lines + [f"benchmarks/{name}: is there, and said to have left" for name in here]


if __name__ == "__main__":
    print("\n".join(faults()) or "every file has one entry")
    sys.exit(bool(faults()))
