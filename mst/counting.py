"""Tables of counted operations: what each arm needs, and what each backend computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mst.arms import ARMS, arm_run
from mst.config import PretrainConfig
from mst.flops import planned


def flops_rows(config: PretrainConfig, tokens: int) -> list[dict[str, Any]]:
    """One row an arm and kind of head: training work of whole runs.

    Args:
        config: Settings of MST.
        tokens: Length of the dense run.

    Returns:
        Counted operations by part, how many times fewer than the dense run has, and what the
        masked and compiled backends compute.
    """
    rows = []
    for mask_head in (False, True):
        sparse = replace(config.sparse, mask_head=mask_head)
        chosen = replace(config, sparse=sparse)
        dense = _total(chosen, "dense", tokens)
        for arm in ARMS:
            run = arm_run(arm, chosen, tokens)
            if mask_head and not run.config.sparse.mask_head:
                continue
            updates = run.config.updates(run.tokens)
            work = planned(run.config, updates)
            packed = planned(replace(run.config, backend="compiled", device="cpu"), updates)
            rows.append(
                {
                    "arm": arm,
                    "head": "masked" if mask_head else "dense",
                    "tokens": run.tokens,
                    "parameters": run.config.shape.parameters,
                    "flops": work.theory.total,
                    "times fewer": dense / work.theory.total,
                    "executed, masked": work.executed.total,
                    "executed, compiled": packed.executed.total,
                    "linear": work.theory.linear,
                    "head flops": work.theory.head,
                    "attention": work.theory.attention,
                    "topology": work.theory.topology,
                }
            )
    return rows


def _total(config: PretrainConfig, arm: str, tokens: int) -> int:
    run = arm_run(arm, config, tokens)
    return planned(run.config, run.config.updates(run.tokens)).theory.total
