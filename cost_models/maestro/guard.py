"""The guard: refuses or mends figures that no execution of the layer could have.

MAESTRO skips tiles that are larger than the output, counts edge tiles wrongly, forgets rows under
wide strides and counts sizes in 32 bits, so some mappings come out with fewer MACs than the layer
has or faster than the array can be; a search that minimises its raw figures finds exactly those.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cost_models.accelerator import Accelerator
from cost_models.figure_places import L1_BYTES, L2_BYTES
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.laws import LAWS, MAESTRO_LAWS, Law, facts_of, physical_bounds
from cost_models.maestro.details import LARGEST_COUNT
from layers import Layer
from marl_common import FloatArray

GUARD_LAWS: tuple[Law, ...] = (
    *(law for law in LAWS if law.code < ReasonCode.BELOW_BOUND),
    Law(
        ReasonCode.OVERFLOWS,
        "L1, which MAESTRO counts in 32 bits,",
        "B",
        lambda f, x: f[L1_BYTES],
        lambda f, x: LARGEST_COUNT,
        most=True,
    ),
    Law(
        ReasonCode.OVERFLOWS,
        "L2, which MAESTRO counts in 32 bits,",
        "B",
        lambda f, x: f[L2_BYTES],
        lambda f, x: LARGEST_COUNT,
        most=True,
    ),
    *(law for law in LAWS if law.code >= ReasonCode.BELOW_BOUND),
)
"""The laws by which an answer is refused; where several are broken, the first is the reason.

`judging.judge` is their compiled form."""

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
    least = most | {name: few[name] for name in ("area_um2", "power_mw")}
    return facts_of(layer, accelerator, least)


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
