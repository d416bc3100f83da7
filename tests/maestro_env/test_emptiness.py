"""Problems without any mapping are found before a sample is spent."""

import re
from dataclasses import replace

import numpy as np
import pytest

from cost_models import Accelerator
from maestro_env import Problem

EDGE = Accelerator.load("edge")


@pytest.mark.parametrize(
    ("layer", "chip", "limits", "says"),
    [
        (
            "alexnet.0",
            {"l1_bytes": 256},
            {},
            r"L1 needs 486 B, limit 256 B \(\+230 B\), as the 11 x.*"
            r"\(--space filters=free\), or raise --l1-bytes to 486",
        ),
        ("alexnet.0", {"l1_bytes": 5}, {}, "is kept whole; raise --l1-bytes to 486"),
        ("mobilenetv2.2", {"l2_bytes": 3}, {}, r"L2 needs 6 B, limit 3 B \(\+3 B\); raise --l2"),
        ("vgg16.4", {}, {"max_latency_cycles": 1}, r"none is below 5\.50502e\+06 cycles"),
        ("vgg16.4", {}, {"max_l1_bytes": 10}, r"smallest tiles need 38 B.*filters=free.* to 38"),
    ],
)
def test_the_reason_names_what_is_in_the_way(layer, chip, limits, says):
    problem = Problem(layer, replace(EDGE, **chip), limits=limits)
    reason = problem.why_empty()
    assert reason is not None
    assert problem.samples == 0
    assert "\n" not in reason
    assert re.search(says, reason), reason
    assert np.isinf(problem.look(problem.space.sample(1000, 0)).values).all()


@pytest.mark.parametrize("model", ["exact", "maestro"])
@pytest.mark.parametrize("l1", [6, 16, 40, 100, 486])
def test_no_problem_with_a_mapping_is_called_empty(model: str, l1: int) -> None:
    chip = replace(EDGE, l1_bytes=l1)
    for layer in ("alexnet.0", "mobilenetv2.1", "bert_base.1"):
        problem = Problem(layer, chip, cost_model=model)
        values = problem.look(problem.space.sample(1000, 0)).values
        if np.isfinite(values).any():
            assert problem.why_empty() is None


def test_the_advice_holds() -> None:
    """Tiled filters need less; and filters of 121 B may pass L1: others need 244 B."""
    chip = replace(EDGE, l1_bytes=256)
    for space in ({"filters": "free"}, {"full": True}):
        assert Problem("alexnet.0", chip, space=space).why_empty() is None
    assert Problem("alexnet.0", replace(EDGE, l1_bytes=486)).why_empty() is None
    assert Problem("alexnet.0", replace(EDGE, l1_bytes=485)).why_empty() is not None
