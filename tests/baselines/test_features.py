"""Loop nests as numbers."""

import numpy as np
import pytest

from baselines.features import nest_features
from cost_models import Mapping, MappingBatch, Symmetry
from layers import DIMS
from maestro_env import MapSpace, Problem, nest_keys


def test_equal_nests_have_equal_features():
    problem = Problem("gemm:M=4,N=4,K=4", "edge", "edp")
    mappings = problem.space.decode(problem.space.sample(20_000, 0))
    nests = nest_keys(problem.layer, problem.accelerator, mappings, Symmetry.NEST)
    features = nest_features(problem, mappings)
    _, first, group = np.unique(nests, return_index=True, return_inverse=True)
    assert len(first) < 0.9 * len(nests)
    assert (features == features[first][group]).all()


@pytest.mark.parametrize("name", ["mobilenetv2.2", "mobilenetv2.7", "mlp.2", "vgg16.1"])
@pytest.mark.parametrize("accelerator", ["edge", "archgym"])
def test_features_stay_near_the_unit_interval(name, accelerator):
    problem = Problem(name, accelerator, "edp", space={"co_search": ["num_pes"]})
    features = nest_features(problem, problem.space.decode(problem.space.sample(2_000, 0)))
    assert np.abs(features).max() <= 1.0
    assert (features.std(axis=0) > 0).all()


def test_one_mapping_by_hand():
    problem = Problem("gemm:M=8,N=1,K=6", "edge", "edp")  # 168 PEs
    layer = problem.layer
    moving = [dim for dim, extent in zip(DIMS, layer.extents, strict=True) if extent > 1]
    assert len(moving) == 2
    a, b = moving
    whole = dict(zip(DIMS, layer.extents, strict=True))
    rest = "".join(dim for dim in "KCYXRS" if dim not in moving)
    outer = whole | {a: 3, b: 2}
    inner = outer | {a: 1}
    mapping = Mapping((b + a + rest, a + b + rest), (a, a), (outer, inner), 2)
    batch = MappingBatch.from_mappings([mapping], layer.extents)
    assert MapSpace(layer, problem.accelerator).encode(batch).shape == (1, len(problem.space.nvec))
    log, unit = np.log, np.log(168)

    def elements(tile):
        for tensor in ("KCRS", "CYX", "KYX"):
            inside, all_ = (np.prod([of[dim] for dim in tensor]) for of in (tile, whole))
            yield log(inside) / max(1.0, log(all_))

    outer_steps, clusters = np.ceil(whole[a] / 3), 84
    expected = [
        log(2) / unit,
        # outer: tiles, places (the loop over `a` is one parallel step, so only `b` iterates), ...
        *[log(3) / log(whole[a]), log(2) / log(whole[b])],
        *elements(outer),
        *[0.5, 0.0],
        *[1, 0],
        log(outer_steps) / unit,
        log(outer_steps / clusters) / unit,
        # inner: 3 steps on 2 PEs are 2 in time, and 3/4 of those PEs are busy
        *[0.0, log(2) / log(whole[b])],
        *elements(inner),
        *[0.0, 0.5],
        *[1, 0],
        log(2) / unit,
        log(3 / 4) / unit,
    ]
    assert nest_features(problem, batch)[0] == pytest.approx(expected)
