"""The result of a network with tensors that stay: a row for each shape and what of it stays."""

from __future__ import annotations

from mapper.staying.kept_figures import comparison, kept_rows, stay_lines
from mapper.staying.kept_network import KeptNetwork
from marl_runs import Column, print_rows, say


def print_kept(kept: KeptNetwork) -> None:
    """Print the layers, all totals, and what stays."""
    print_rows(
        f"{kept.network}: {len(kept.graph.layers)} layers, {kept.objective}",
        kept_rows(kept),
        "",
        [
            Column.name("layer"),
            Column("count", keep=5),
            Column("in L2", keep=8, right=False),
            *([] if kept.tiles is None else [Column("fused", keep=7, right=False, blank="")]),
            Column("latency_cycles", "cycles", "", keep=6),
            Column("energy_nj", "energy", "nJ", keep=6),
            Column("dram_bytes", "over DRAM", "B", keep=4),
        ],
    )
    print()
    print_rows(
        "Network",
        comparison(kept),
        "",
        [
            Column.name("schedule"),
            Column("latency_cycles", "cycles", "", keep=6),
            Column("energy_nj", "energy", "nJ", keep=6),
            Column("edp", "EDP", "cycles * nJ", keep=5),
            Column("dram_bytes", "over DRAM", "B", keep=4),
            Column("proven", keep=9),
        ],
    )
    for line in stay_lines(kept):
        say(line)
