"""Four mappings on which cost models are known to go wrong, worked out by hand and by execution."""

import pytest

import cost_models
from cost_models import Accelerator, Mapping
from layers import NEST_DIMS, Layer, LayerKind


def layer(K: int, C: int, P: int, Q: int, R: int, S: int, stride: int = 1) -> Layer:
    Y, X = (P - 1) * stride + R, (Q - 1) * stride + S
    return Layer("trap", LayerKind.CONV, K, C, Y, X, R, S, stride)


def mapping(
    outer: tuple[int, ...],
    inner: tuple[int, ...],
    orders: tuple[str, str],
    parallel: tuple[str, str],
    cluster_size: int,
) -> Mapping:
    tiles = (dict(zip(NEST_DIMS, outer, strict=True)), dict(zip(NEST_DIMS, inner, strict=True)))
    return Mapping(orders, parallel, tiles, cluster_size)


REUSE = (
    layer(4, 3, 5, 1, 3, 1),
    mapping((2, 2, 2, 1, 3, 1), (1, 1, 2, 1, 3, 1), ("KCYXRS", "KCYXRS"), ("K", "C"), 2),
    4,
)
WRAP = (
    layer(6, 5, 8, 5, 1, 1),
    mapping((6, 1, 4, 1, 1, 1), (1, 1, 4, 1, 1, 1), ("YSRXCK", "KXCRYS"), ("C", "X"), 1),
    1,
)
RAGGED = (
    layer(3, 2, 2, 7, 1, 1),
    mapping((3, 2, 2, 2, 1, 1), (3, 2, 2, 2, 1, 1), ("KCYXRS", "KCYXRS"), ("X", "C"), 1),
    2,
)
STRIDED = (
    layer(1, 5, 7, 2, 2, 2, stride=2),
    mapping((1, 1, 7, 1, 2, 2), (1, 1, 7, 1, 2, 2), ("YXSRKC", "CKYXSR"), ("C", "Y"), 1),
    1,
)

EXPECTED = {
    "reuse of nothing": (
        REUSE,
        "none",
        {
            "macs": 180,
            "steps": 12,
            "compute_cycles": 60,
            "dram_in": 33,
            "dram_fil": 36,
            "dram_out_w": 40,
            "dram_out_r": 20,
            "l2r_in": 33,
            "l1w_in": 66,
            "l1w_fil": 108,
            "l2w_out": 40,
            "l1drain_out": 60,
            "l2r_psum": 20,
            "latency": 83,
        },
    ),
    "reuse": (
        REUSE,
        "retain",
        {"macs": 180, "dram_in": 21, "l2r_in": 21, "l1w_in": 42, "latency": 82},
    ),
    "wrap": (
        WRAP,
        "retain",
        {
            "macs": 1200,
            "dram_fil": 300,
            "dram_out_w": 240,
            "l2w_out": 1200,
            "l2r_psum": 960,
            "latency": 1207,
        },
    ),
    "ragged": (
        RAGGED,
        "retain",
        {
            "macs": 84,
            "dram_in": 28,
            "l2r_in": 28,
            "dram_out_w": 42,
            "l2w_out": 42,
            "latency": 65,
        },
    ),
    "strided": (
        STRIDED,
        "retain",
        {
            "macs": 280,
            "dram_out_w": 14,
            "l2w_out": 14,
            "latency": 304,
        },
    ),
}


@pytest.mark.parametrize("model", ["exact", "simulator"])
@pytest.mark.parametrize("name", EXPECTED)
def test_traps_are_exact(model: str, name: str) -> None:
    (work, chosen, pes), halo_time, expected = EXPECTED[name]
    accelerator = Accelerator(pes, noc_bw=4, offchip_bw=2)
    cost = cost_models.load(model, halo_time=halo_time).evaluate(work, accelerator, chosen)
    assert {count: cost.counts[count] for count in expected} == expected


@pytest.mark.parametrize(
    ("trap", "tensor", "kind", "theirs"),
    [
        (WRAP, "filter", "l2_read", 246),
        (WRAP, "output", "l2_write", 1200),
        (RAGGED, "input", "l2_read", 20),
        (RAGGED, "output", "l2_write", 30),
        (STRIDED, "output", "l2_write", 130),
    ],
)
def test_maestro_falls_into_them(trap, tensor, kind, theirs):
    work, chosen, pes = trap
    accelerator = Accelerator(pes, noc_bw=4, offchip_bw=2)
    raw = cost_models.load("maestro", guard=False).evaluate(work, accelerator, chosen)
    assert raw.accesses[tensor][kind] == theirs
