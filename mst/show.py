"""Tables of corpora, training, comparisons, operations and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marl_runs import Column, print_rows

Rows = Sequence[Mapping[str, Any]]
TIMES = "times fewer,"
COUNTED = (
    "counted: what masks and patterns need; executed: what a backend computes. Neither is time: "
    "`mst compare --by seconds` and benchmarks/mst measure that"
)


def print_corpus(about: Mapping[str, Any]) -> None:
    """Print one row a split, of :meth:`mst.data.Manifest.rows`."""
    columns = [
        Column.name("split"),
        Column.lasting("files"),
        Column.lasting("bytes"),
        Column("tokens", keep=5),
        Column("sha256"),
    ]
    print_rows("Corpus", about["splits"], "", columns)


def print_training(rows: Rows) -> None:
    """Print one row a run."""
    columns = [
        Column.lasting("run"),
        Column.name("name"),
        Column("status", keep=9),
        Column("files", "bpb files", keep=8),
        Column("package", "bpb package", keep=7),
        Column("prose", "bpb prose", keep=6),
        Column("pattern", "bpb, sparse attention", keep=5),
        Column("density", "density at the end", keep=8),
        Column("flops", "counted FLOPs", unit="", keep=4),
        Column("executed", "executed FLOPs", unit="", keep=3),
        Column("cpu_s", "processor time", unit="s", keep=4),
    ]
    print_rows("Pre-training", rows, "bpb: bits per byte", columns)


def print_bits(rows: Rows) -> None:
    """Print one row a split."""
    print_rows("Held-out text", rows, "", [Column.name("split"), Column("bits per byte", digits=4)])


def print_comparison(rows: Rows, by: str) -> None:
    """Print one row an arm."""
    columns = [Column.name("arm"), Column("seeds", keep=8)]
    for key in dict.fromkeys(key for row in rows for key in row):
        if key.startswith("bpb"):
            columns.append(Column(key, keep=7 if "files" in key else 6, digits=4))
    columns += [
        Column("density", "density at the end", keep=4),
        Column("counted flops", "counted FLOPs", unit="", keep=5),
        Column("counted, times below dense", keep=5),
        Column("executed flops", "executed FLOPs", unit="", keep=3),
        Column("cpu s", "processor time", unit="s", keep=5),
    ]
    print_rows(f"Arms, at their end and at equal {by}", rows, COUNTED, columns)


def print_flops(rows: Rows) -> None:
    """Print one row an arm and kind of head."""
    columns = [
        Column.name("arm"),
        Column.lasting("head"),
        Column("tokens", unit="", keep=6),
        Column("parameters", unit="", keep=5),
        Column.lasting("flops", "counted FLOPs"),
        *(Column.lasting(f"{TIMES} {head} head", f"times below dense, {head} head")
          for head in ("dense", "masked")),
        Column("executed, masked", unit="", keep=4),
        Column("executed, compiled", unit="", keep=4),
        *(Column(key, unit="", keep=3) for key in ("linear", "head work", "attention", "topology")),
    ]  # fmt: skip
    shown = [
        {**row, "flops": f"{row['flops']:.4g}", "head work": row["head flops"],
         **{key: f"{value:.2f}" for key, value in row.items() if key.startswith(TIMES)}}
        for row in rows
    ]  # fmt: skip
    print_rows("Training operations of whole runs", shown, COUNTED, columns)


def print_masks(rows: Mapping[str, Rows]) -> None:
    """Print one row a layer, and the density along the run."""
    note = "weights kept: least / mean / most"
    print_rows("Masks at the end of the sparse phase", rows["layers"], note, [])
    print_rows("\nDensity along the run", rows["evolution"], "", [])
