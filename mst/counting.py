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
    runs, totals = {}, {}
    for head in HEADS:
        chosen = replace(config, sparse=replace(config.sparse, mask_head=head == MASKED))
        for arm in ARMS:
            runs[head, arm] = run = arm_run(arm, chosen, tokens)
            updates = run.config.updates(run.tokens)
            totals[head, arm] = planned(run.config, updates).theory.total
    times = {(head, arm): totals[head, "dense"] / total for (head, arm), total in totals.items()}
    return [
        {
            "arm": arm,
            "head": head,
            "times fewer": times[head, arm],
            **{f"times fewer, {other} head": times[other, arm] for other in HEADS},
            **_row(run),
        }
        for (head, arm), run in runs.items()
        if head != MASKED or run.config.sparse.mask_head
    ]


MASKED = "masked"
HEADS = ("dense", MASKED)


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
