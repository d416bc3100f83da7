"""Tables of docs/mst.md from the JSON that the benchmarks left in docs/data: CSV, and Markdown.

python -m benchmarks mst.pages            # --flops counts both presets anew
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.frame import DATA, asked, show, write
from mst.counting import flops_rows
from mst.presets import PRESETS

Row = dict[str, str]


def flops(rows: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        {
            "preset": row["preset"],
            "arm": row["arm"],
            "head": row["head"],
            "tokens": f"{row['tokens']:,}",
            "counted FLOPs": f"{row['flops']:.3e}",
            **{
                f"times below dense, {head} head": f"{row[f'times fewer, {head} head']:.2f}"
                for head in ("dense", "masked")
            },
            "executed by masks": f"{row['executed, masked']:.3e}",
            "executed by kernels": f"{row['executed, compiled']:.3e}",
        }
        for row in rows
        if row["arm"] in ("dense", "tiny", "static", "rigl", "mst")
    ]


def quality(rows: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        {
            "schedule": row["schedule"],
            "arm": row["arm"],
            "seeds": str(row["seeds"]),
            "learning rate": row["learning rate"],
            "law": row["law"],
            "attention dense from": f"{row['attention dense from']:g}",
            "new weights": row["new weights"] or "-",
            "held-out files": _with(row, "bpb files"),
            "held-out package": _with(row, "bpb package"),
            "above MST, files": _with(row, "files above mst"),
            "above MST, package": _with(row, "package above mst"),
            "counted, times below dense": _number(row["counted, times below dense"], 2),
            "processor time [s]": _number(row["cpu s"], 0),
            "density at the end": _number(row["density"], 2),
        }
        for row in rows
    ]


def ablation(rows: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        {
            "schedule": row["schedule"],
            "variant": row["variant"],
            "seeds": str(row["seeds"]),
            "held-out files": _number(row["bpb files"], 3),
            "held-out package": _number(row["bpb package"], 3),
            "above MST, files": _with(row, "above mst"),
            "rise of the loss": _number(row["loss rise"], 3),
        }
        for row in rows
    ]


def tried(rows: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        {
            "tokens": f"{row['tokens']:,}",
            "arm": row["arm"],
            "learning rate": rate_label(
                row["learning rate"], row["by density"] if row["phases"] else 0
            ),
            "law": row["law"],
            "rises for": f"{row['rise']:g}",
            "phases": row["phases"].replace(",", ";") or "-",
            "growth": row["growth"] or "-",
            "new weights": row["new weights"] or "-",
            "windows judged": str(row["windows judged"]),
            "held-out files": _number(row["bpb files"], 3),
            "counted FLOPs": f"{row['counted flops']:.2e}",
        }
        for row in rows
    ]


def rate_label(rate: float, by_density: float) -> str:
    """A learning rate, and what it is divided by in sparse layers."""
    return f"{rate:g}" + (f" / density^{by_density:g}" if by_density else "")


def earlier_rows(record: Path | None) -> list[dict[str, Any]]:
    """Rows of an earlier JSON file; none where none was named, or it is not there yet."""
    if record is None or not record.exists():
        return []
    found: list[dict[str, Any]] = json.loads(record.read_text(encoding="utf-8"))
    return found


def keep_json(path: Path | None, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows where a file is named."""
    if path is not None:
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _with(row: dict[str, Any], name: str) -> str:
    half = row[f"{name} +-"]
    mean = _number(row[name], 3)
    return mean if half is None else f"{mean} ± {half:.3f}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


TABLES: dict[str, Callable[[Sequence[dict[str, Any]]], list[Row]]] = {
    "flops": flops,
    "quality": quality,
    "ablation": ablation,
    "tried": tried,
}


def count() -> None:
    """Write what `mst flops` counts for each preset."""
    rows = [
        {"preset": name, **row}
        for name, preset in PRESETS.items()
        for row in flops_rows(preset.config, preset.tokens)
    ]
    keep_json(DATA / "mst-flops.json", rows)


def main() -> None:
    if asked(__doc__, flops=(False, "count both presets anew")).flops:
        count()
    for name, made in TABLES.items():
        source = DATA / f"mst-{name}.json"
        if not source.exists():
            print(f"\n{name}: no {source.name}")
            continue
        rows = made(json.loads(source.read_text(encoding="utf-8")))
        # files have no thousands apart
        plain = ({title: text.replace(",", "") for title, text in row.items()} for row in rows)
        write(DATA / f"mst-{name}.csv", rows[0], plain)
        print(f"\n<!-- data: mst-{name}.csv -->")
        show(rows)
