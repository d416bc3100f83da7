"""Small problems whose spaces are known by enumeration."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from cost_models import Accelerator, Axis, Chain, ChainLevel, Fanout, MappingBatch, Widths
from layers import Layer
from mapper import ProblemSpec

MOST = 40_000
"""Mappings of a space that is enumerated."""
SMALL = Accelerator(4, 16, 80, 3, 2)
DEEP = Chain(
    (
        ChainLevel(name="DRAM", read_bw=64, write_bw=64, kind="LPDDR4"),
        ChainLevel(name="Global", shared_bytes=64, read_bw=32, fanout=Fanout((Axis(2, "KC"),))),
        ChainLevel(name="Local", holds=(False, True, True), shared_bytes=24, write_bw=16),
    ),
    widths=Widths(8, 8, 16, 24), node_nm=28, clock_mhz=500,
)  # fmt: skip
FLAT = replace(DEEP, levels=(*DEEP.levels[:2], ChainLevel(
    name="Lanes", holds=(False,) * 3, fanout=Fanout((Axis(2, "C"),)))
))  # fmt: skip
THREE = replace(DEEP, levels=(
    *DEEP.levels[:2],
    ChainLevel(name="Weights", holds=(False, True, False), shared_bytes=16),
    replace(DEEP.levels[2], holds=(True, True, True), shared_bytes=8),
))  # fmt: skip
GEMM, CONV = Layer.gemm("product", 3, 4, 1), Layer("conv", "CONV", 2, 2, 1, 1, 1, 1)


def specs() -> list[ProblemSpec]:
    """Twelve problems of at most `MOST` mappings."""
    options = {"space": {"orders": "priority", "tiles": "divisors"}}
    given: list[tuple[Layer, Accelerator, dict[str, Any]]] = [
        (GEMM, SMALL, {}),
        (GEMM, SMALL, {"objective": "latency"}),
        (GEMM, SMALL, {"objective": "energy"}),
        (GEMM, SMALL, {"limits": {"max_latency_cycles": 20.0}}),
        (GEMM, SMALL, {"limits": {"max_latency_cycles": 2.0}}),
        (GEMM, replace(SMALL, l1_bytes=2), {}),
        (CONV, SMALL, {}),
        (CONV, SMALL, {"space": {"co_search": ["num_pes"]}}),
        (CONV, SMALL, {"cost_model_options": {"latency": "bound", "double_buffer": False}}),
        (CONV, SMALL, {"space": {"filters": "free", "tiles": "any"}}),
        (CONV, SMALL, {"space": {"only": {"outer_parallel": ["K"], "cluster_size": [2]}}}),
        (GEMM, SMALL, options | {"limits": {"max_energy_nj": 5.0}}),
    ]
    return [_spec(*one) for one in given]


def deep_specs() -> list[ProblemSpec]:
    """Ten problems of at most `MOST` mappings on chips that are a list of levels."""
    given: list[tuple[Layer, Chain, dict[str, Any]]] = [
        (GEMM, DEEP, {}),
        (GEMM, DEEP, {"objective": "latency", "limits": {"max_bytes.Local": 8.0}}),
        (GEMM, DEEP, {"limits": {"max_latency_cycles": 2.0}}),
        (CONV, FLAT, {"objective": "energy"}),
        (GEMM, FLAT, {"cost_model_options": {"latency": "bound", "double_buffer": False}}),
        (Layer.gemm("product", 6, 8, 1), DEEP, {}),
        (Layer("window", "CONV", 1, 2, 6, 3, 3, 2, 1), DEEP, {"objective": "energy"}),
        (Layer.gemm("product", 2, 3, 1), THREE, {}),
        (Layer.gemm("product", 2, 3, 1), THREE, {"objective": "energy"}),
        (GEMM, FLAT, {"space": {"tiles": "divisors", "only": {"Global.axis0.dim": ["K"]}}}),
    ]
    return [_spec(*one) for one in given]


def _spec(layer: Layer, chip: Accelerator | Chain, more: dict[str, Any]) -> ProblemSpec:
    return ProblemSpec(layer, layer.name, chip, "chip", **({"objective": "edp"} | more)).complete()


@lru_cache(maxsize=4096)
def enumerated(problem: str) -> tuple[float, MappingBatch] | None:
    """Least value and all mappings of a problem's space; None where it is too large."""
    built = ProblemSpec.from_dict(json.loads(problem)).build()
    if built.space.size > MOST:
        return None
    actions = np.indices(tuple(built.space.nvec)).reshape(len(built.space.nvec), -1).T
    looked = built.look(np.ascontiguousarray(actions))
    return float(looked.values.min()), looked.mappings


def space_holds(one: MappingBatch, mappings: MappingBatch) -> bool:
    """Whether a mapping is one of the mappings of a space."""
    same = np.ones(len(mappings), np.bool_)
    for name in ("orders", "parallel", "tiles", "cluster_size", "num_pes"):
        left, right = getattr(one, name), getattr(mappings, name)
        if (left is None) != (right is None):
            return False
        if left is not None:
            same &= (left == right).reshape(len(mappings), -1).all(axis=1)
    return bool(same.any())
