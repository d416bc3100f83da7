import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cost_models import Accelerator, Mapping
from layers import Layer
from maestro_env import MapSpace
from maestro_env.tiling import tensor_ranges, tiling

CONV = Layer("conv", "CONV", 64, 32, 58, 58, 3, 3)


def test_parts_of_a_known_mapping() -> None:
    mapping = Mapping(
        ("KCYXRS", "CKYXRS"),
        ("K", "Y"),
        ({"K": 4, "C": 16, "Y": 14, "X": 28}, {"K": 2, "C": 8, "Y": 2, "X": 14}),
        cluster_size=14,
    )
    views = tiling(CONV, Accelerator(168), mapping)
    inputs, filters, outputs = views.l2
    assert (views.clusters, views.cluster_size) == (12, 14)
    # all clusters share one input tile: 14 rows of output need 16 rows of input
    assert inputs.parts == ({"C": (0, 16), "rows": (0, 16), "columns": (0, 30)},)
    assert inputs.holders == 12
    assert [part["K"] for part in filters.parts] == [(4 * i, 4 * i + 4) for i in range(12)]
    assert [part["K"] for part in outputs.parts] == [(4 * i, 4 * i + 4) for i in range(12)]
    # 14 PEs, 2 output rows each, but the cluster's tile has 14 rows: 7 have work
    assert [part["rows"] for part in views.l1[2].parts] == [(2 * i, 2 * i + 2) for i in range(7)]
    assert [part["rows"] for part in views.l1[0].parts] == [(2 * i, 2 * i + 4) for i in range(7)]


def test_stride_and_depthwise() -> None:
    layer = Layer("dw", "DSCONV", 1, 8, 9, 9, 3, 3, stride=2)
    ranges = {"K": (0, 1), "C": (2, 4), "Y": (1, 3), "X": (0, 4), "R": (0, 3), "S": (0, 3)}
    assert tensor_ranges(layer, "input", ranges) == {"C": (2, 4), "rows": (2, 7), "columns": (0, 9)}
    assert tensor_ranges(layer, "filter", ranges) == {"C": (2, 4), "R": (0, 3), "S": (0, 3)}
    assert tensor_ranges(layer, "output", ranges) == {
        "C": (2, 4),
        "rows": (1, 3),
        "columns": (0, 4),
    }


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_parts_stay_in_their_frame_and_outputs_do_not_overlap(seed: int) -> None:
    space = MapSpace(CONV, Accelerator(168))
    mapping = space.decode(space.sample(1, seed))[0]
    views = tiling(CONV, Accelerator(168), mapping)
    for view in (*views.l2, *views.l1):
        for part in view.parts:
            for axis, (low, high) in part.items():
                assert view.frame[axis][0] <= low < high <= view.frame[axis][1]
    for view in (views.l2[2], views.l1[2]):
        seen = np.zeros([high for _, high in view.frame.values()], dtype=int)
        for part in view.parts:
            seen[tuple(slice(low, high) for low, high in part.values())] += 1
        assert seen.max() == 1
