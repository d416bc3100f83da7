"""What a cost says of itself."""

from cost_models import Accelerator, load
from layers import get
from maestro_env import MapSpace


def test_a_cost_shows_its_figures_or_why_it_has_none() -> None:
    layer, chip = get("mobilenetv2.2"), Accelerator.preset("edge")
    space = MapSpace(layer, chip)
    costs = load("exact").evaluate_batch(layer, chip, space.decode(space.sample(64, 0)))
    feasible = int(costs.feasible.sum())
    assert repr(costs) == f"CostBatch(64 mappings, {feasible} feasible)"
    assert 0 < feasible < 64
    for cost in costs:
        if cost.infeasible is None:
            assert repr(cost).startswith(f"Cost(latency_cycles={cost.latency_cycles:.10g}, energy")
        else:
            assert repr(cost) == f"Cost(infeasible: {cost.infeasible.message})"
