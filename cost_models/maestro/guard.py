"""The guard: refuses or mends figures that no execution of the layer could have.

MAESTRO skips tiles that are larger than the output, counts edge tiles wrongly, forgets rows under
wide strides and counts sizes in 32 bits, so some mappings come out with fewer MACs than the layer
has or faster than the array can be; a search that minimises its raw figures finds exactly those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from common import FloatArray
from cost_models.accelerator import Accelerator
from cost_models.bounds import MAESTRO_LAWS, physical_bounds
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.laws import (
    FILTER,
    INPUT,
    INTENSITY,
    L1_BYTES,
    L2_BYTES,
    L2_READ,
    L2_WRITE,
    LATENCY_CYCLES,
    LAWS,
    LEAST,
    MACS_OF_LAYER,
    NOC,
    NUM_MACS,
    OUTPUT,
    THROUGHPUT,
    Law,
    facts_of,
)
from cost_models.maestro.layout import part
from layers import Layer

_LARGEST_COUNT = 2.0**31 - 1
_LEAST_LATENCY = LEAST["latency_cycles"]
GUARD_LAWS: tuple[Law, ...] = (
    *(law for law in LAWS if not law.mended and law.code < ReasonCode.BELOW_BOUND),
    Law(
        ReasonCode.OVERFLOWS,
        "L1, which MAESTRO counts in 32 bits,",
        "B",
        lambda f, x: f[L1_BYTES],
        lambda f, x: _LARGEST_COUNT,
        most=True,
    ),
    Law(
        ReasonCode.OVERFLOWS,
        "L2, which MAESTRO counts in 32 bits,",
        "B",
        lambda f, x: f[L2_BYTES],
        lambda f, x: _LARGEST_COUNT,
        most=True,
    ),
    *(law for law in LAWS if not law.mended and law.code >= ReasonCode.BELOW_BOUND),
)
"""The laws by which an answer is refused; where several are broken, the first is the reason."""

RETILE = "Choose tiles that divide the extents"
NARROW = "Choose an X or Y tile no larger than the output"
SMALLER = "Choose smaller outer tiles"


def guard_facts(layer: Layer, accelerator: Accelerator, min_pes: int) -> FloatArray:
    """What the guard compares figures with.

    Args:
        layer: The layer.
        accelerator: The accelerator.
        min_pes: The fewest PEs that a mapping uses; area and power are bounded by theirs.
    """
    most = physical_bounds(layer, accelerator, MAESTRO_LAWS)
    few = physical_bounds(layer, replace(accelerator, num_pes=max(1, min_pes)), MAESTRO_LAWS)
    least = {
        "latency_cycles": most["latency"],
        "energy_nj": most["energy"],
        "energy_total_nj": most["energy_total"],
        "area_um2": few["area"],
        "power_mw": few["power"],
    }
    return facts_of(layer, accelerator, least)


def _chained(laws: tuple[Law, ...]) -> Callable[[FloatArray, FloatArray], int]:
    """One compiled function that tries the laws in order."""

    @part
    def none(figures: FloatArray, facts: FloatArray) -> int:
        return 0

    judge = none
    for law in reversed(laws):
        judge = _before(law, judge)
    return judge


def _before(
    law: Law, rest: Callable[[FloatArray, FloatArray], int]
) -> Callable[[FloatArray, FloatArray], int]:
    claim, bound, code, most = part(law.claim), part(law.bound), int(law.code), law.most

    @part
    def judge(figures: FloatArray, facts: FloatArray) -> int:
        left, right = claim(figures, facts), bound(figures, facts)
        if (left <= right) if most else (left >= right):
            return rest(figures, facts)
        return code

    return judge


judge = _chained(GUARD_LAWS)
"""``judge(figures, facts)``: the reason code of the first law that is broken; 0 if none is."""


@part
def mend(figures: FloatArray, facts: FloatArray) -> None:
    """Mend figures of an answer that is sound but for them.

    MACs that are counted twice in edge tiles are counted once; the latency is lifted to what
    MAESTRO's own output writes take on the NoC, and what the tensors take off chip, both of which
    it leaves out in part.
    """
    latency = max(figures[LATENCY_CYCLES], facts[_LEAST_LATENCY])
    latency = max(latency, np.ceil(figures[OUTPUT + L2_WRITE] / facts[NOC]))
    figures[LATENCY_CYCLES] = latency
    figures[NUM_MACS] = facts[MACS_OF_LAYER]
    figures[THROUGHPUT] = facts[MACS_OF_LAYER] / latency


@part
def define_intensity(figures: FloatArray) -> None:
    """Where the last case loads nothing, the intensity is that of the whole layer."""
    if not np.isfinite(figures[INTENSITY]):
        loads = figures[INPUT + L2_READ] + figures[FILTER + L2_READ]
        figures[INTENSITY] = figures[NUM_MACS] / loads if loads > 0 else 0.0


def explain(code: ReasonCode, layer: Layer, figures: FloatArray, facts: FloatArray) -> Infeasible:
    """The typed report of a law or limit that figures break.

    Args:
        code: What `judge` answered.
        layer: The layer.
        figures: ``(OUTPUTS,)`` without the guard, sizes in 64 bits.
        facts: See :func:`guard_facts`.
    """
    where = f"layer {layer.name!r}: "
    with np.errstate(divide="ignore", invalid="ignore"):
        law = next((w for w in GUARD_LAWS if w.code == code and w.broken(figures, facts)), None)
    if law is None:
        return Infeasible(
            code,
            f"{where}the steps of the mapping overflow MAESTRO's counters of 32 bits",
            levers=("Choose larger inner tiles",),
        )
    claim, bound = float(law.claim(figures, facts)), float(law.bound(figures, facts))
    if code in (ReasonCode.L1_CAPACITY, ReasonCode.L2_CAPACITY):
        return Infeasible(
            code,
            f"{where}{law.what} needs {claim:.0f} B, limit {bound:.0f} B (+{claim - bound:.0f} B)",
            claim,
            bound,
            law.unit,
            (f"raise --{law.what.lower()}-bytes to {claim:.0f}",),
        )
    if code is ReasonCode.OVERFLOWS:
        message = f"{where}{law.what} needs {claim:.0f} B, expected at most {bound:.0f} B"
        return Infeasible(code, message, claim, bound, law.unit, (SMALLER,))
    side = "at most" if law.most else "at least"
    message = (
        f"{where}MAESTRO's figures are impossible: {law.what} {_number(claim)}, "
        f"{side} {_number(bound)} {law.unit} needed"
    )
    return Infeasible(code, message, claim, bound, law.unit, (RETILE, NARROW))


def _number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.10g}"
