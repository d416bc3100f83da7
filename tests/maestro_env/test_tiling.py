from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cost_models import Accelerator, Mapping
from layers import Layer
from maestro_env import MapSpace
from maestro_env.svg_picture import level_pictures
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


TWO = Mapping(
    ("KCYXRS", "CKYXRS"),
    ("K", "R"),
    ({"K": 4, "C": 16, "Y": 14, "X": 28}, {"K": 2, "C": 8, "Y": 2, "X": 14, "R": 1}),
    cluster_size=14,
    parallel2=("Y", "X"),
    units=(3, 7),
)
"""3 x 4 clusters over K and Y, 7 x 2 PEs over R and X."""


def test_two_parallel_dimensions_are_laid_out_as_a_grid() -> None:
    views = tiling(CONV, Accelerator(168), TWO)
    inputs, filters, outputs = views.l2
    assert [(part["K"], part["rows"]) for part in outputs.parts] == [
        ((4 * k, 4 * k + 4), (14 * y, 14 * y + 14)) for k in range(3) for y in range(4)
    ]
    assert [part["K"] for part in filters.parts] == [(4 * k, 4 * k + 4) for k in range(3)]
    assert [part["rows"] for part in inputs.parts] == [(14 * y, 14 * y + 16) for y in range(4)]
    assert inputs.holders == outputs.holders == 12
    # R has three taps, so that three of seven units have work; X has two tiles
    assert [(part["R"], part["S"]) for part in views.l1[1].parts] == [
        ((r, r + 1), (0, 3)) for r in range(3)
    ]
    assert views.l1[0].holders == 6
    assert [(part["rows"], part["columns"]) for part in views.l1[0].parts] == [
        ((r, r + 2), (14 * x, 14 * x + 16)) for r in range(3) for x in range(2)
    ]


def test_two_parallel_dimensions_are_drawn_and_named() -> None:
    l2, l1 = level_pictures(CONV, Accelerator(168), TWO)
    assert l2.title == "L2: tiles of 12 clusters, parallel over K (3 of them) and Y"
    assert l1.title.endswith("of cluster 0, parallel over R (7 of them) and X")
    alone = replace(TWO, parallel2=(None, None), units=(None, None))
    assert level_pictures(CONV, Accelerator(168), alone)[0].views != l2.views
    (outputs,) = [svg for caption, svg in l2.views if "output" in caption]
    # 4 of 64 filters are 5.875 of the 94 units that the axis has, 14 of 56 rows 36 of its 144
    assert outputs.count("h36v5.875") == 12


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
