"""What every installed cost model keeps to."""

import math
import pickle
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import cost_models
from cost_models import (
    FIGURES,
    TENSORS,
    Accelerator,
    Cost,
    CostModel,
    CostModelError,
    MappingBatch,
    ModelCapabilities,
    ReasonCode,
    capabilities_of,
    parse_dataflow,
)
from layers import Layer, LayerKind
from tests.cost_models.batches import whole_filter_batch

CONV = Layer("conv", LayerKind.CONV, K=6, C=4, Y=10, X=9, R=3, S=2)
DEPTHWISE = Layer("depthwise", LayerKind.DSCONV, K=1, C=6, Y=9, X=9, R=3, S=3, stride=2)
PRODUCT = Layer.gemm("product", M=6, N=5, K=7)
LIMITED = Accelerator(16, l1_bytes=60, l2_bytes=700, noc_bw=8, offchip_bw=4)


@pytest.fixture(params=cost_models.names())
def model(request: pytest.FixtureRequest) -> CostModel:
    """Every installed model that can be loaded here."""
    try:
        return cost_models.load(request.param)
    except CostModelError as error:
        pytest.skip(str(error))


def at(columns: Mapping[str, Any], row: int) -> dict[str, Any]:
    """A row of columns by name, or by tensor and name."""
    return {
        name: at(values, row) if isinstance(values, Mapping) else values[row]
        for name, values in columns.items()
    }


class TestEveryCostModel:
    """Conformance of a cost model behind the interface."""

    @pytest.mark.parametrize("layer", [CONV, DEPTHWISE, PRODUCT], ids=lambda layer: layer.name)
    @pytest.mark.parametrize("chip", [Accelerator(16), LIMITED], ids=["free", "limited"])
    def test_a_batch_is_its_single_costs(self, model, layer, chip):
        batch = whole_filter_batch(layer, 6, seed=1)
        costs = model.evaluate_batch(layer, chip, batch)
        again = model.evaluate_batch(layer, chip, batch)
        assert len(costs) == len(batch)
        assert np.array_equal(costs.reason, again.reason)
        for figure in FIGURES:
            column = getattr(costs, figure)
            assert column.shape == (len(batch),)
            assert np.array_equal(column, getattr(again, figure), equal_nan=True)
        for row in range(len(batch)):
            single = model.evaluate(layer, chip, batch[row])
            assert single.feasible == bool(costs.feasible[row])
            assert repr(asdict(costs[row])) == repr(asdict(single))
            if single.feasible:
                assert {name: costs.column(name)[row] for name in FIGURES} == {
                    name: getattr(single, name) for name in FIGURES
                }
                assert at(costs.accesses, row) == single.accesses
                assert at(costs.detail, row) == single.detail
                assert at(costs.counts, row) == single.counts

    def test_costs_are_finite_and_count_the_layer_or_say_why(self, model: CostModel) -> None:
        batch = whole_filter_batch(CONV, 20, seed=2)
        costs = model.evaluate_batch(CONV, LIMITED, batch)
        assert costs.feasible.any()
        assert not costs.feasible.all()
        assert repr(costs) == f"CostBatch(20 mappings, {costs.feasible.sum()} feasible)"
        for cost, reason in zip(costs, costs.reason, strict=True):
            figures = [getattr(cost, figure) for figure in FIGURES]
            if not cost.feasible:
                assert all(math.isinf(value) for value in figures)
                assert cost.infeasible.code == reason
                self._says_why(cost)
                continue
            assert repr(cost).startswith(f"Cost(latency_cycles={cost.latency_cycles:.10g}, energy")
            assert all(math.isfinite(value) and value >= 0 for value in figures)
            assert cost.macs >= CONV.macs
            assert cost.latency_cycles >= CONV.macs / LIMITED.peak_macs_per_cycle
            assert cost.l1_bytes <= 60
            assert cost.l2_bytes <= 700
            for tensor in TENSORS:
                for kind in ("l1_read", "l1_write", "l2_read", "l2_write"):
                    assert cost.accesses[tensor][kind] >= 0

    @staticmethod
    def _says_why(cost: Cost) -> None:
        why = cost.infeasible
        assert repr(cost) == f"Cost(infeasible: {why.message})"
        assert why.code != ReasonCode.FEASIBLE
        assert "conv" in why.message
        if why.code < ReasonCode.REFUSED:
            assert why.gap == why.demand - why.bound > 0
            assert why.unit in ("B", "PEs")
            assert why.levers

    def test_the_number_of_pes_can_be_searched(self, model: CostModel) -> None:
        batch = whole_filter_batch(CONV, 6, seed=4)
        batch.cluster_size[:] = 2
        few = MappingBatch(
            batch.orders, batch.parallel, batch.tiles, batch.cluster_size, np.full(6, 4)
        )
        a = model.evaluate_batch(CONV, Accelerator(16), few)
        b = model.evaluate_batch(CONV, Accelerator(4), batch)
        assert np.array_equal(a.latency_cycles, b.latency_cycles)
        assert np.array_equal(a.area_um2, b.area_um2)

    def test_directives_that_are_none_of_a_layer_are_infeasible(self, model: CostModel) -> None:
        dataflow = parse_dataflow("SpatialMap(1,1) K; TemporalMap(0,1) C;")
        cost = model.evaluate(CONV, Accelerator(16), dataflow)
        assert not cost.feasible

    def test_what_it_declares_is_there_to_use_and_survives_pickling(self, model: CostModel) -> None:
        assert isinstance(model, CostModel)
        assert model.name in cost_models.names()
        declared = capabilities_of(model)
        assert isinstance(declared, ModelCapabilities)
        assert declared.objectives is None or declared.objectives <= set(FIGURES)
        copy = pickle.loads(pickle.dumps(model))
        assert (capabilities_of(copy), copy.name) == (declared, model.name)
        batch = whole_filter_batch(CONV, 4, seed=5)
        a, b = (m.evaluate_batch(CONV, Accelerator(16), batch) for m in (model, copy))
        assert np.array_equal(a.latency_cycles, b.latency_cycles)


def test_a_model_that_declares_nothing_claims_nothing() -> None:
    class Plain:
        name = "plain"

    assert capabilities_of(Plain()) == ModelCapabilities()
    Plain.capabilities = {"symmetry"}
    with pytest.raises(CostModelError, match=r"'plain': capabilities is .*ModelCapabilities"):
        capabilities_of(Plain())
