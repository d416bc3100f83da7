"""The MAESTRO model's interface: one mapping, many, and its limits."""

import os
import re
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cost_models import (
    FIGURES,
    Accelerator,
    CostModelError,
    Mapping,
    MappingBatch,
    MappingError,
    load,
    parse_dataflow,
)
from cost_models.infeasible import ReasonCode
from layers import DIMS, Layer, LayerKind
from tests.cost_models.batches import whole_filter_batch

EDGE = Accelerator.preset("edge")
POINTWISE = Layer("pointwise", LayerKind.CONV, K=16, C=32, Y=112, X=112, R=1, S=1)
STRIDED = Layer("strided", LayerKind.CONV, K=24, C=12, Y=31, X=31, R=3, S=3, stride=2)
DEPTHWISE = Layer("depthwise", LayerKind.DSCONV, K=1, C=40, Y=30, X=30, R=3, S=3)
GROUPED = Layer("grouped", LayerKind.NGCONV, K=4, C=8, Y=16, X=16, R=3, S=3, groups=4, N=2)
PRODUCT = Layer.gemm("product", M=30, N=24, K=18, batch=3)
LAYERS = [POINTWISE, STRIDED, DEPTHWISE, GROUPED, PRODUCT]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
@pytest.mark.parametrize("guard", [True, False])
def test_one_mapping_and_its_dataflow_cost_what_the_batch_says(layer, guard):
    model = load("maestro", guard=guard, threads=2)
    batch = whole_filter_batch(layer, 2500, 1, 199)
    costs = model.evaluate_batch(layer, EDGE, batch)
    assert costs.feasible.any()
    assert not costs.feasible.all()
    for row in range(0, 2500, 50):
        mapping = batch[row]
        one = model.evaluate(layer, EDGE, mapping)
        assert repr(asdict(one)) == repr(asdict(costs[row]))
        assert repr(model.evaluate(layer, EDGE, mapping.dataflow(layer)).accesses) == repr(
            one.accesses
        )


@given(st.integers(0, 10_000), st.sampled_from(LAYERS))
@settings(max_examples=25, deadline=None)
def test_no_batch_raises(seed, layer):
    batch = whole_filter_batch(layer, 50, seed, 199, above=True)
    for model in (load("maestro"), load("maestro", guard=False)):
        costs = model.evaluate_batch(layer, EDGE, batch)
        for cost in costs:
            assert cost.feasible == (cost.infeasible is None)


def test_malformed_rows_are_refused_not_raised():
    batch = whole_filter_batch(POINTWISE, 6, 3, 199)
    orders, parallel, tiles = batch.orders.copy(), batch.parallel.copy(), batch.tiles.copy()
    clusters, pes = np.full(6, 4), np.full(6, 64)
    orders[0, 0] = 1
    orders[1, 1, 2] = 9
    parallel[2, 0] = -1
    tiles[3, 1, 2] = 0
    clusters[4] = -5
    pes[5] = 0
    broken = MappingBatch(orders, parallel, tiles, clusters, pes)
    costs = load("maestro").evaluate_batch(POINTWISE, EDGE, broken)
    assert (costs.reason == ReasonCode.REFUSED).all()


def test_a_missing_bandwidth_means_the_peak_requirement_in_area_and_power():
    mapping = Mapping(("KCYXRS",) * 2, ("Y", "K"), ({"Y": 4, "X": 28}, {"Y": 4, "K": 1}), 16)
    model = load("maestro")
    free = model.evaluate(POINTWISE, Accelerator(168), mapping)
    need = int(free.detail["peak_noc_bw"])
    fixed = model.evaluate(POINTWISE, Accelerator(168, noc_bw=need), mapping)
    assert need > 1
    assert (free.area_um2, free.power_mw) == (fixed.area_um2, fixed.power_mw)


def test_a_batch_of_products_repeats_one_product():
    mapping = Mapping(("KCYXRS",) * 2, ("K", "C"), ({"K": 2, "Y": 5}, {"K": 2, "C": 3}), 6)
    model = load("maestro")
    one = model.evaluate(Layer.gemm("one", M=30, N=24, K=18), EDGE, mapping)
    three = model.evaluate(PRODUCT, EDGE, mapping)
    for name in ("latency_cycles", "energy_nj", "energy_total_nj", "macs"):
        assert getattr(three, name) == 3 * getattr(one, name)
    assert three.l2_bytes == one.l2_bytes


def test_gemms_are_read_in_their_own_words_too():
    native = parse_dataflow("SpatialMap(2,2) N; TemporalMap(5,5) M; TemporalMap(18,18) K;")
    lowered = parse_dataflow(
        "SpatialMap(2,2) K; TemporalMap(5,5) Y'; TemporalMap(18,18) C;"
        " TemporalMap(1,1) X'; TemporalMap(1,1) R; TemporalMap(1,1) S;"
    )
    model = load("maestro", guard=False)
    assert model.evaluate(PRODUCT, EDGE, native).latency_cycles == (
        model.evaluate(PRODUCT, EDGE, lowered).latency_cycles
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SpatialMap(0,1) K;", "size '0' is 0"),
        ("SpatialMap(tile,1) K;", "expected a sum"),
        ("SpatialMap(1,1) Q;", "no such dimension"),
        ("SpatialMap(1,1) K; TemporalMap(1,1) R;", "whole filter extent"),
        ("SpatialMap(1,1) K; TemporalMap(1,1) Y';", "needs a map of R"),
        ("SpatialMap(1,1) K; TemporalMap(1,1) K;", "twice"),
        ("TemporalMap(1,1) K;", "one or two SpatialMaps"),
        ("SpatialMap(1,1) K; " + "Cluster(1,P); SpatialMap(1,1) C; " * 4, "5 levels"),
        ("SpatialMap(1,1) K; Cluster(500,P); SpatialMap(1,1) C;", r"need 500 PEs, there are 168"),
    ],
)
def test_dataflows_that_maestro_refuses_have_a_reason(text, message):
    cost = load("maestro").evaluate(STRIDED, EDGE, parse_dataflow(text))
    assert cost.latency_cycles == np.inf
    with pytest.raises(MappingError, match=message):
        raise MappingError(str(cost.infeasible))


def test_layers_beyond_the_integer_range_have_a_reason():
    layer = Layer("huge", LayerKind.CONV, K=1 << 20, C=1 << 20, Y=1 << 12, X=1 << 12, R=1, S=1)
    batch = whole_filter_batch(layer, 3, 5, 199)
    costs = load("maestro").evaluate_batch(layer, EDGE, batch)
    assert (costs.reason == ReasonCode.TOO_LARGE).all()
    assert costs[0].infeasible.code == ReasonCode.TOO_LARGE


maestro_bin = pytest.mark.skipif(
    "MAESTRO_BIN" not in os.environ, reason="the stock MAESTRO program is not here (MAESTRO_BIN)"
)


@pytest.mark.needs_maestro
@maestro_bin
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_the_stock_program_prints_the_same(layer):
    batch = whole_filter_batch(layer, 20, 7, 199)
    stock = load("maestro-binary").evaluate_batch(layer, EDGE, batch)
    ours = load("maestro", guard=False).evaluate_batch(layer, EDGE, batch)
    np.testing.assert_array_equal(stock.feasible, ours.feasible)
    for name in FIGURES:
        np.testing.assert_allclose(ours.figures[name], stock.figures[name], rtol=1e-5)


def test_the_stock_program_is_asked_for_by_name(monkeypatch, tmp_path):
    monkeypatch.delenv("MAESTRO_BIN", raising=False)
    with pytest.raises(CostModelError, match="MAESTRO_BIN"):
        load("maestro-binary")
    with pytest.raises(CostModelError, match="can be run"):
        load("maestro-binary", path=tmp_path / "absent")


def test_a_program_that_fails_gives_a_reason(tmp_path):
    for name, body, code in (
        ("refuses", "echo no; exit 255", ReasonCode.REFUSED),
        ("dies", "kill -FPE $$", ReasonCode.DIES),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        model = load("maestro-binary", path=program)
        cost = model.evaluate(POINTWISE, EDGE, whole_filter_batch(POINTWISE, 1, 8, 199)[0])
        assert cost.infeasible.code is code
        assert cost.latency_cycles == np.inf


def _changed(mapping: Mapping, lever: str, extents: dict[str, int]) -> Mapping:
    """A mapping with a lever of the form ``Change tile outer X 6 -> 4, inner X 6 -> 4``."""
    tiles = [{d: min(t, extents[d]) for d, t in level.items()} for level in mapping.tiles]
    tiles[1] = {d: min(t, tiles[0][d]) for d, t in tiles[1].items()}
    before = [dict(level) for level in tiles]
    for level, dim, old, new in re.findall(r"(outer|inner) (\w) (\d+) -> (\d+)", lever):
        number = ("outer", "inner").index(level)
        assert before[number][dim] == int(old)
        tiles[number][dim] = int(new)
    return Mapping(mapping.orders, mapping.parallel, tuple(tiles), mapping.cluster_size)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_each_lever_that_changes_tiles_is_enough(layer):
    model = load("maestro")
    batch = whole_filter_batch(layer, 400, 10, 199)
    extents = dict(zip(DIMS, layer.extents, strict=True))
    tried = 0
    for cost, mapping in zip(model.evaluate_batch(layer, EDGE, batch), batch, strict=True):
        if cost.feasible:
            continue
        for lever in cost.infeasible.levers:
            if lever.startswith("Change tile"):
                assert model.evaluate(layer, EDGE, _changed(mapping, lever, extents)).feasible
                tried += 1
    assert tried > 20
