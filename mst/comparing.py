"""Arms beside each other: at the end of their runs, or at equal operations, seconds or tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from marl_common import FloatArray
from marl_runs import RunStatus, Store, StoredRun, mean_interval
from mst.errors import MstError
from mst.experiment import KIND

BY = ("tokens", "flops", "seconds")
"""What arms are made equal in: tokens, counted operations, processor time."""


@dataclass(frozen=True)
class Curve:
    """Bits per byte of one run as it learns.

    Attributes:
        arm: Its arm.
        seed: Its seed.
        tokens: ``(N,)`` tokens.
        bits: ``(N,)`` bits per byte on held-out files.
        flops: ``(N,)`` counted operations.
        seconds: ``(N,)`` processor time.
        result: What the store keeps of it.
        settings: What defines it beside its seed, as JSON values.
    """

    arm: str
    seed: int
    tokens: FloatArray
    bits: FloatArray
    flops: FloatArray
    seconds: FloatArray
    result: Mapping[str, Any]
    settings: Mapping[str, Any]

    def along(self, by: str) -> FloatArray:
        """What has been used at each point, see :data:`BY`."""
        used: FloatArray = getattr(self, by)
        return used

    def at(self, used: float, by: str) -> float:
        """Bits per byte when so much was used, between two points by a straight line."""
        return float(np.interp(used, self.along(by), self.bits))


def read_curves(store: Store, runs: Sequence[StoredRun]) -> list[Curve]:
    """Learning curves of finished runs."""
    curves = []
    for run in runs:
        tokens, bits = store.metrics(run.id, "bpb")
        flops, seconds = (store.metrics(run.id, name)[1] for name in ("flops", "cpu_s"))
        if len(tokens):
            used = tokens.astype(float), bits, flops, seconds
            settings = {"tokens": run.budget, **run.spec}
            curves.append(Curve(str(run.spec["arm"]), run.seed, *used, run.result or {}, settings))
    return curves


def stored_curves(places: Sequence[Path]) -> list[Curve]:
    """Learning curves of all finished runs of some stores.

    Raises:
        MstError: They have none.
    """
    curves = []
    for place in places:
        with Store.open(place, create=False) as store:
            done = [run for run in store.runs(kind=KIND) if run.status is RunStatus.FINISHED]
            curves += read_curves(store, done)
    if not curves:
        named = ", ".join(map(str, places))
        raise MstError(f"{named}: has no finished runs of `mst train` to draw; train some first")
    return curves


def comparison(curves: Sequence[Curve], by: str) -> list[dict[str, Any]]:
    """One row an arm: its end, and where it was when every arm had used equally much.

    Args:
        curves: Runs of the arms.
        by: ``flops``, ``seconds`` or ``tokens``.
    """
    arms = list(dict.fromkeys(curve.arm for curve in curves))
    equal = min((float(curve.along(by)[-1]) for curve in curves), default=0.0)
    dense = [float(c.flops[-1]) for c in curves if c.arm == "dense"]
    rows = []
    for arm in arms:
        own = [curve for curve in curves if curve.arm == arm]
        flops = float(np.mean([curve.flops[-1] for curve in own]))
        rows.append(
            {
                "arm": arm,
                "seeds": len(own),
                **_ends(own),
                **_mean(f"bpb at equal {by}", [curve.at(equal, by) for curve in own]),
                "density": float(np.mean([c.result.get("density", np.nan) for c in own])),
                "counted flops": flops,
                "counted, times below dense": np.mean(dense) / flops if dense else None,
                "executed flops": float(np.mean([c.result["executed_flops"] for c in own])),
                "cpu s": float(np.mean([curve.seconds[-1] for curve in own])),
            }
        )
    return rows


def _ends(curves: Sequence[Curve]) -> dict[str, float | None]:
    """Bits per byte of finished models on each kind of held-out text."""
    ends: dict[str, float | None] = {}
    for split in ("files", "package", "prose"):
        values = [c.result["bpb"][split] for c in curves if split in c.result["bpb"]]
        if values:
            ends |= _mean(f"bpb {split}", values)
    return ends


def _mean(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Mean over seeds and half width of its 95 % interval; None with one seed."""
    mean, half = mean_interval(np.array(values, dtype=np.float64))
    return {name: float(mean), f"{name} +-": None if np.isnan(half) else float(half)}
