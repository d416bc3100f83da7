from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import layers
from cost_models import Accelerator, Mapping, MappingBatch
from layers import DIMS, Layer
from maestro_env import MapSpace, MapSpaceError
from maestro_env.parameters import balanced, cluster_choices, divisors, num_pes_choices

EDGE = Accelerator.preset("edge")
CONV = Layer("conv", "CONV", 24, 13, 31, 47, 3, 5, stride=2)
DEPTHWISE = Layer("dw", "DSCONV", 1, 144, 58, 58, 3, 3)
GEMM = Layer.gemm("gemm", M=128, N=64, K=768)
ONE = Layer("one", "CONV", 1, 1, 1, 1, 1, 1)
LAYERS = [CONV, DEPTHWISE, GEMM, ONE]
HEADS = Layer.gemm("heads", M=12, N=8, K=6, batch=6)
GROUPS = Layer("groups", "NGCONV", 4, 3, 9, 9, 3, 3, groups=4, N=3)
OPTIONS = [
    dict(zip(("tiles", "filters", "parallel", "orders", "co_search"), values, strict=True))
    for values in product(
        ("balanced", "divisors", "any"),
        ("whole", "free"),
        ("KCYX", "KCYXRS"),
        ("priority", "permutation"),
        ((), ("num_pes",)),
    )
]


def same(first: MappingBatch, second: MappingBatch) -> bool:
    pairs = [(getattr(first, f), getattr(second, f)) for f in ("orders", "parallel", "tiles")]
    pairs.append((first.cluster_size, second.cluster_size))
    if first.num_pes is not None:
        pairs.append((first.num_pes, second.num_pes))
    return all(np.array_equal(a, b) for a, b in pairs)


@given(st.integers(1, 3000))
def test_balanced_tiles_and_cluster_sizes_are_exactly_the_distinct_quotients(n: int) -> None:
    assert balanced(n) == tuple(sorted({-(-n // k) for k in range(1, n + 1)}))
    assert divisors(n) == tuple(k for k in range(1, n + 1) if n % k == 0)
    powers = {2**b for b in range(13) if 2**b <= n}
    assert cluster_choices(n) == tuple(sorted({n // k for k in range(1, n + 1)} | powers))
    assert set(balanced(n)) <= set(num_pes_choices(n))
    assert num_pes_choices(n)[-1] == n


@pytest.mark.parametrize("place", range(len(LAYERS)), ids=lambda place: LAYERS[place].name)
def test_decode_is_legal_and_encode_is_its_canonical_inverse(place: int) -> None:
    for options in OPTIONS[place::3]:
        assert_a_space(LAYERS[place], options)


def assert_a_space(layer: Layer, options: dict) -> None:
    """Actions are legal mappings, each parameter changes them, and they are read back."""
    space = MapSpace(layer, EDGE, **options)
    actions = space.sample(200, seed=1)
    mappings = space.decode(actions)
    assert same(mappings, space.decode(actions))
    assert (np.sort(mappings.orders, axis=2) == np.arange(8)).all()
    assert (mappings.tiles[:, 1] <= mappings.tiles[:, 0]).all()
    assert (mappings.tiles[:, 0] <= np.array(layer.extents)).all()
    assert mappings.tiles.min() >= 1
    pes = EDGE.num_pes if mappings.num_pes is None else mappings.num_pes
    assert ((mappings.cluster_size >= 1) & (mappings.cluster_size <= pes)).all()
    if layer.depthwise:
        assert not (mappings.parallel == DIMS.index("K")).any()
    if options["filters"] == "whole":
        assert (mappings.tiles[:, :, 4:6] == np.array(layer.extents)[4:6]).all()
    canonical = space.encode(mappings)
    assert same(mappings, space.decode(canonical))
    assert np.array_equal(space.encode(space.decode(canonical)), canonical)
    for column, count in enumerate(space.nvec):
        if count > 1:
            changed = actions.copy()
            changed[:, column] = (changed[:, column] + 1 + np.arange(200) % (count - 1)) % count
            assert not same(mappings, space.decode(changed)), space.names[column]


@pytest.mark.parametrize("options", OPTIONS[::7], ids=lambda o: "-".join(map(str, o.values())))
@pytest.mark.parametrize("layer", [HEADS, GROUPS], ids=lambda layer: layer.name)
def test_batch_and_groups_are_searched_where_there_are_several(layer: Layer, options: dict) -> None:
    options = {**options, "parallel": options["parallel"] + "NG"}
    assert_a_space(layer, options)
    space = MapSpace(layer, EDGE, **options)
    more = [dim for dim in "NG" if layer.extents[DIMS.index(dim)] > 1]
    tiled = ["K", "C", "Y", "X", *(["R", "S"] if options["filters"] == "free" else []), *more]
    assert [p.dim for p in space.parameters if p.kind == "tile" and p.level == 1] == tiled
    for level in ("outer", "inner"):
        assert set(more) < set(space.parameters[space.index(f"{level}_parallel")].choices)


@pytest.mark.parametrize("orders", ["priority", "permutation"])
@pytest.mark.parametrize("layer", [HEADS, GROUPS], ids=lambda layer: layer.name)
def test_what_repeats_the_nest_has_no_parameters(layer: Layer, orders: str) -> None:
    space = MapSpace(layer, EDGE, orders=orders, repeat="NG")
    plain = MapSpace(replace(layer, N=1, groups=1), EDGE, orders=orders)
    assert space.parameters == plain.parameters
    mappings = space.decode(space.sample(200, 0))
    assert (mappings.tiles[:, :, 6:] == 1).all()
    assert (mappings.orders[:, 0, :2] == [6, 7]).all()
    assert np.array_equal(space.encode(mappings), space.canonical(space.sample(200, 0)))
    free = MapSpace(layer, EDGE, orders=orders)
    beyond = free.decode(free.sample(200, 0))
    with pytest.raises(MapSpaceError, match=r"does more with [NG] than repeat|_parallel='[NG]'"):
        space.encode(beyond)


def test_numbered_orders_keep_batch_and_groups_outside() -> None:
    space = MapSpace(HEADS, EDGE, orders="permutation")
    assert len(space.parameters[space.index("outer_order")]) == 720
    ones = dict.fromkeys(DIMS, 1)
    for orders in (("KNCYXRSG", "NGKCYXRS"), ("NGKCYXRS", "KNCYXRSG")):
        mapping = Mapping(orders, ("K", "C"), ({**ones, "N": 2}, ones), 4)
        batch = MappingBatch.from_mappings([mapping], HEADS.extents)
        with pytest.raises(MapSpaceError, match=r"over N stands inside .*orders='priority'"):
            space.encode(batch)
        assert MapSpace(HEADS, EDGE).decode(MapSpace(HEADS, EDGE).encode(batch))


def test_a_mapping_of_six_dimensions_repeats_the_nest() -> None:
    space = MapSpace(HEADS, EDGE)
    mapping = Mapping(("KCYXRS",) * 2, ("K", "C"), ({"K": 4}, {"K": 1}), 4)
    found = space.decode(space.encode(MappingBatch.from_mappings([mapping], HEADS.extents)))[0]
    assert found.tiles[0]["N"] == found.tiles[1]["N"] == 1
    assert found.orders[0].startswith("GN")


def test_size_is_the_exact_number_of_actions() -> None:
    space = MapSpace(CONV, EDGE, filters="free", parallel="KCYXRS", co_search=("num_pes",))
    assert space.size == prod(len(p.choices) for p in space.parameters)
    assert space.size > 2**63
    assert isinstance(space.size, int)
    assert MapSpace(ONE, Accelerator(1)).size == 1


def test_parameters_are_named_alike_for_every_layer() -> None:
    assert len({MapSpace(layer, EDGE).names for layer in LAYERS}) == 1
    space = MapSpace(CONV, EDGE)
    assert len(set(space.names)) == len(space.names) == len(space.nvec)
    assert space.parameters[space.index("outer_tile_K")].choices == balanced(24)


def test_priorities_order_loops_outermost_first_with_ties_in_order() -> None:
    space = MapSpace(CONV, EDGE)
    action = np.zeros((2, len(space.nvec)), dtype=np.int64)
    action[1, space.index("outer_priority_K")] = 2
    action[1, space.index("outer_priority_Y")] = 1
    first, second = space.decode(action)
    assert first.orders == ("NGKCYXRS", "NGKCYXRS")
    assert second.orders == ("NGCXYKRS", "NGKCYXRS")


def test_permutation_reaches_all_orders() -> None:
    space = MapSpace(CONV, EDGE, orders="permutation")
    actions = np.zeros((720, len(space.nvec)), dtype=np.int64)
    actions[:, space.index("inner_order")] = np.arange(720)
    assert len({m.orders[1] for m in space.decode(actions)}) == 720


def test_sample_depends_on_the_seed_alone_and_covers_every_choice() -> None:
    space = MapSpace(CONV, EDGE)
    assert np.array_equal(space.sample(50, 7), space.sample(50, 7))
    assert not np.array_equal(space.sample(50, 7), space.sample(50, 8))
    drawn = space.sample(3000, 0)
    assert all(len(np.unique(drawn[:, i])) == n for i, n in enumerate(space.nvec))


@pytest.mark.parametrize(
    ("tiles", "parallel", "words"),
    [
        ({"K": 7}, ("K", "C"), "outer_tile_K=7"),
        ({"R": 1}, ("K", "C"), "filters='free'"),
        ({}, ("R", "C"), "outer_parallel='R'"),
    ],
)
def test_encode_refuses_what_the_space_lacks(tiles: dict, parallel: tuple, words: str) -> None:
    mapping = Mapping(("KCYXRS",) * 2, parallel, (tiles, {}), 1)
    with pytest.raises(MapSpaceError, match=words):
        MapSpace(CONV, EDGE).encode(MappingBatch.from_mappings([mapping], CONV.extents))


def test_a_space_of_too_many_tiles_is_refused() -> None:
    with pytest.raises(MapSpaceError, match="tiles='balanced'"):
        MapSpace(Layer.gemm("huge", M=2**30, N=1, K=1), EDGE, tiles="any")
    assert MapSpace(Layer.gemm("large", M=2**31 - 1, N=1, K=1), EDGE).size > 0


ONLY = {
    "outer_parallel": ["K"],
    "cluster_size": [4, 42],
    "outer_tile_K": [2, 12],
    "inner_tile_K": [1, 6],
    "outer_priority_C": [0],
    "inner_priority_K": [1, 3],
}


def test_narrowed_space_keeps_only_the_named_choices() -> None:
    space = MapSpace(CONV, EDGE, only=ONLY)
    assert space.size < MapSpace(CONV, EDGE).size
    actions = space.sample(500, 3)
    mappings = space.decode(actions)
    assert set(mappings.parallel[:, 0]) == {0}
    assert set(mappings.cluster_size) == {4, 42}
    assert set(mappings.tiles[:, 0, 0]) == {2, 12}
    assert set(mappings.tiles[:, 1, 0]) == {1, 2, 6}
    assert set(mappings.orders[:, 0, 2]) == {0, 1}, "C comes first but for ties with K"
    canonical = space.encode(mappings)
    assert same(mappings, space.decode(canonical))
    assert np.array_equal(space.encode(space.decode(canonical)), canonical)
    again = MapSpace(CONV, EDGE, **space.options)
    assert same(again.decode(actions), mappings)


def test_narrowed_orders_decode_by_name() -> None:
    space = MapSpace(CONV, EDGE, orders="permutation", only={"outer_order": ["XYKCRS", "CKXYSR"]})
    mappings = space.decode(space.sample(60, 0))
    assert {m.orders[0] for m in mappings} == {"NGXYKCRS", "NGCKXYSR"}
    assert same(space.decode(space.encode(mappings)), mappings)


def test_a_space_that_spreads_absent_dimensions_alone_is_made_again_from_its_options() -> None:
    depthwise = layers.parse("mobilenetv2.1")
    for layer, parallel in ((LAYERS[0], "NG"), (depthwise, "KG")):
        space = MapSpace(layer, EDGE, parallel=parallel)
        assert MapSpace(layer, EDGE, **space.options).parameters == space.parameters
