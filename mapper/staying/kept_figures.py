"""What a network with tensors that stay takes, as rows and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layers import TENSORS
from mapper.staying.kept_network import KeptNetwork
from mapper.staying.network_result import FusedStep, NodeResult
from mapper.staying.rooms import home_of
from marl_common import engineering


def kept_rows(steps: Sequence[NodeResult]) -> list[dict[str, Any]]:
    """A row for all layers of a shape of which the same stays, and a last one for the passes."""
    rows: dict[Any, dict[str, Any]] = {}
    for step in steps:
        layer = step.node.layer
        tiling = "" if step.fused is None else fused_words(step.fused)
        key = (layer.renamed("") if layer else None, step.resident if layer else None, tiling)
        here = " ".join(t for t in TENSORS if t in step.resident) if layer else ""
        row = rows.setdefault(
            key,
            {
                "layer": step.node.name if layer else "nodes without MACs",
                "count": 0,
                "in L2": here,
                "fused": tiling,
                "latency_cycles": 0.0,
                "energy_nj": 0.0,
                "dram_bytes": 0.0,
            },
        )
        row["count"] += 1
        row["latency_cycles"] += step.latency
        row["energy_nj"] += step.energy
        row["dram_bytes"] += step.dram
    passes = rows.pop((None, None, ""), None)
    return [*rows.values(), *([passes] if passes else [])]


def comparison(kept: KeptNetwork) -> list[dict[str, Any]]:
    """Totals with all in DRAM, with tensors that stay, with fused layers; and what is saved."""
    rows: list[dict[str, Any]] = []
    schedules = [("all in DRAM", kept.none), ("tensors stay", kept.keep)]
    if kept.tiles is not None:
        schedules.append(("layers fused", kept.tiles))
    figures = ("latency_cycles", "energy_nj", "edp", "dram_bytes")
    for name, found in schedules:
        totals = found.totals()
        shown = {figure: totals[figure] for figure in figures}
        rows.append({"schedule": name, **shown, "proven": proven(found.gap)})
    shares = {f: _share(rows[0][f], rows[-1][f]) for f in figures}
    return [*rows, {"schedule": "less by", **shares, "proven": ""}]


def fused_words(step: FusedStep) -> str:
    """How a layer is fused, such as ``12x14 of group 1``."""
    keys = f", {step.keys} keys," if step.keys else ""
    return f"{step.tile[0]}x{step.tile[1]}{keys} of group {step.group}"


def proven(gap: float) -> str:
    """How far a value is from the optimum."""
    return "optimal" if gap == 0 else f"within {max(gap, 1e-4):.2%}"


def _share(before: float, after: float) -> str:
    return f"{1 - after / before:z.1%}" if before else "-"


def stay_lines(kept: KeptNetwork) -> list[str]:
    """What stays, in sentences."""
    most = max((step.taken for step in kept.best.steps), default=0.0)
    lines = []
    if kept.inputs > 1:
        lines.append(f"figures are the mean of {kept.inputs} runs, over which filters may stay")
    if kept.staying:
        what = "tensors" if kept.inputs == 1 else "tensors and filters"
        lines.append(
            f"{len(kept.staying)} of {len(kept.rooms)} {what} that may stay do, in the order of "
            f"the file; they take up to {engineering(most, 'B')} of "
            f"{home_of(kept.chip).name} at once"
        )
    groups = {step.fused.group for step in kept.best.steps if step.fused is not None}
    if groups:
        layers = sum(step.fused is not None for step in kept.best.steps)
        lines.append(
            f"{layers} layers are fused in {len(groups)} group{'s' if len(groups) > 1 else ''}; a "
            "fused tile is so many rows x columns of its group's output"
        )
    return [*lines, kept.note] if kept.note else lines
