"""Default spaces hold only mappings that both cost models accept as mappings."""

import numpy as np
import pytest

from cost_models import ReasonCode
from maestro_env import Problem

WIDE_STRIDE = "conv:K=7,C=3,Y=65,X=33,R=2,S=1,stride=3"
LAYERS = [
    "mobilenetv2.0",
    "mobilenetv2.1",
    "mobilenetv2.52",
    "resnet18.5",
    "bert_base.2",
    "conv:K=37,C=53,Y=31,X=47,R=5,S=3,stride=1",
    WIDE_STRIDE,
    "dsconv:C=144,Y=58,X=58,R=3,S=3",
]
LANGUAGE = {ReasonCode.REFUSED, ReasonCode.DIES, ReasonCode.NOT_A_PARTITION, ReasonCode.TOO_LARGE}


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer != WIDE_STRIDE])
def test_maestro_refuses_no_mapping_of_the_default_space(layer: str) -> None:
    problem = Problem(layer, "archgym", "edp", "maestro")
    evaluation = problem.evaluate(problem.space.sample(3000, 0))
    found = {ReasonCode(int(code)) for code in np.unique(evaluation.reason)}
    assert not found & LANGUAGE
    assert evaluation.feasible.mean() > 0.3
    assert evaluation.values.min() >= problem.bound


def test_a_stride_wider_than_the_filter_is_where_maestro_refuses_some() -> None:
    """Below the top level it steps by the filter instead of the stride, and stops at the gap."""
    problem = Problem(WIDE_STRIDE, "archgym", "edp", "maestro")
    reason = problem.evaluate(problem.space.sample(3000, 0)).reason
    assert 0.1 < (reason == ReasonCode.REFUSED).mean() < 0.5
    assert (reason == ReasonCode.FEASIBLE).mean() > 0.5
