"""Tables of counted operations: what each arm needs, and what each backend computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mst.arms import ARMS, ArmRun, arm_run
from mst.config import PretrainConfig
from mst.flops import planned


def flops_rows(config: PretrainConfig, tokens: int) -> list[dict[str, Any]]:
    """One row an arm and kind of head: training work of whole runs.

    Args:
        config: Settings of MST.
        tokens: Length of the dense run.

    Returns:
        Counted operations by part, how many times fewer than the dense run has with the tied head
        dense and masked, and what the masked and compiled backends compute.
    """
    heads = {
        name: replace(config, sparse=replace(config.sparse, mask_head=name == MASKED))
        for name in HEADS
    }
    times = {name: _times(chosen, tokens) for name, chosen in heads.items()}
    return [
        {
            "arm": arm,
            "head": name,
            "times fewer": times[name][arm],
            **_both(arm, times),
            **_row(run),
        }
        for name, chosen in heads.items()
        for arm in ARMS
        if (run := arm_run(arm, chosen, tokens)) and (name != MASKED or run.config.sparse.mask_head)
    ]


MASKED = "masked"
HEADS = ("dense", MASKED)


def _times(config: PretrainConfig, tokens: int) -> dict[str, float]:
    """Arm -> how many times fewer operations it counts than the dense one."""
    totals = {
        arm: planned(run.config, run.config.updates(run.tokens)).theory.total
        for arm in ARMS
        if (run := arm_run(arm, config, tokens))
    }
    return {arm: totals["dense"] / total for arm, total in totals.items()}


def _both(arm: str, times: dict[str, dict[str, float]]) -> dict[str, float]:
    return {f"times fewer, {name} head": times[name][arm] for name in HEADS}


def _row(run: ArmRun) -> dict[str, Any]:
    """A run's own operations."""
    updates = run.config.updates(run.tokens)
    work = planned(run.config, updates)
    packed = planned(replace(run.config, backend="compiled", device="cpu"), updates)
    return {
        "tokens": run.tokens,
        "parameters": run.config.shape.parameters,
        "flops": work.theory.total,
        "executed, masked": work.executed.total,
        "executed, compiled": packed.executed.total,
        "linear": work.theory.linear,
        "head flops": work.theory.head,
        "attention": work.theory.attention,
        "topology": work.theory.topology,
    }
