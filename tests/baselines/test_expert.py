"""Hand mappings of the named dataflows."""

import math
from itertools import product

import numpy as np
import pytest

import baselines
import layers
from baselines import SearcherError
from baselines.hand_mapping import hand_mapping, tensor_elements
from cost_models import Accelerator
from layers import DIMS
from maestro_env import DATAFLOWS, MapSpace, Problem, dataflow_named

LAYERS = ("vgg16.4", "mobilenetv2.1", "mobilenetv2.2", "bert_base.1", "alexnet.0")
CHIPS = ("edge", "cloud", "archgym")


@pytest.mark.parametrize("name", DATAFLOWS)
def test_a_hand_mapping_is_feasible_and_lies_in_the_space_of_its_dataflow(name: str) -> None:
    for layer, chip in product(LAYERS, CHIPS):
        problem = Problem(layer, chip, space={"dataflow": name})
        result = baselines.load("expert", dataflow=name).search(problem, 100, 0)
        assert math.isfinite(result.best_value), (layer, chip)
        assert result.samples == 1


@pytest.mark.parametrize("name", DATAFLOWS)
def test_no_tile_could_be_larger(name: str) -> None:
    """Each next choice of a tile is of no use, or the buffer does not hold it."""
    layer, chip = layers.parse("vgg16.4"), Accelerator.load("edge")
    space = MapSpace(layer, chip, dataflow=name)
    mapping = hand_mapping(space, dataflow_named(name))
    clusters = chip.num_pes // mapping.cluster_size
    extents = dict(zip(DIMS, layer.extents, strict=True))
    useful = [dict(extents), dict(mapping.tiles[0])]
    useful[0][mapping.parallel[0]] = -(-extents[mapping.parallel[0]] // clusters)
    inner = mapping.parallel[1]
    useful[1][inner] = -(-mapping.tiles[0][inner] // mapping.cluster_size)
    for level, limit in enumerate((chip.l2_bytes, chip.l1_bytes)):
        for parameter in space.parameters:
            if parameter.kind != "tile" or parameter.level != level:
                continue
            tiles, dim = mapping.tiles[level], parameter.dim
            larger = [int(tile) for tile in parameter.choices if int(tile) > tiles[dim]]
            if not larger or tiles[dim] >= useful[level][dim]:
                continue
            held = tiles | {dim: larger[0]}
            if level == 0:
                spread = mapping.parallel[0]
                held[spread] = min(extents[spread], held[spread] * clusters)
            over_outer = level == 1 and larger[0] > mapping.tiles[0][dim]
            assert over_outer or 2 * sum(tensor_elements(layer, held)) > limit, (level, dim)


def test_best_takes_the_best_of_those_that_the_space_has() -> None:
    problem = Problem("vgg16.4", "edge")
    best = baselines.load("expert").search(problem, 100, 0)
    single = {}
    for name in DATAFLOWS:
        if name != "eyeriss-rs":  # needs tiles of R
            searcher = baselines.load("expert", dataflow=name)
            single[name] = searcher.search(problem, 100, 0).best_value
    assert best.samples == len(single)
    assert best.best_value == min(single.values())
    assert len(set(single.values())) > 3


def test_the_row_stationary_mapping_needs_tiles_of_the_filter() -> None:
    searcher = baselines.load("expert", dataflow="eyeriss-rs")
    with pytest.raises(SearcherError, match=r"eyeriss-rs: .*with dataflow='eyeriss-rs'"):
        searcher.search(Problem("vgg16.4", "edge"), 10, 0)
    free = Problem("vgg16.4", "edge", space={"filters": "free", "parallel": "KCYXR"})
    assert math.isfinite(searcher.search(free, 10, 0).best_value)


def test_a_model_that_refuses_a_tiling_is_asked_for_smaller_ones() -> None:
    limits = {"max_l1_bytes": 100.0}
    problem = Problem("vgg16.4", "edge", limits=limits)
    result = baselines.load("expert", dataflow="nvdla").search(problem, 20, 0)
    assert result.samples > 1
    assert result.cost.l1_bytes <= 100


def test_a_chip_that_holds_no_tile_has_no_hand_mapping() -> None:
    chip = Accelerator(16, l1_bytes=4, l2_bytes=64)
    space = MapSpace(layers.parse("vgg16.4"), chip, dataflow="ws")
    assert hand_mapping(space, dataflow_named("ws")) is None
    assert np.isinf(baselines.load("expert").search(Problem("vgg16.4", chip), 9, 0).best_value)


def test_dataflows_that_a_narrowed_space_lacks_are_left_out() -> None:
    problem = Problem("vgg16.4", "edge", space={"only": {"outer_parallel": ["K"]}})
    result = baselines.load("expert").search(problem, 100, 0)
    assert result.mapping.parallel[0] == "K"
    with pytest.raises(SearcherError, match=r"shidiannao: .*with dataflow"):
        baselines.load("expert", dataflow="shidiannao").search(problem, 100, 0)
