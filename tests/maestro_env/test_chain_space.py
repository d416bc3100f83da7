"""Spaces of mappings on chips of any depth."""

import math

import numpy as np
import pytest

import layers
from cost_models import CHAINS, Chain, ChainBatch, ReasonCode, load
from layers import Layer
from maestro_env import ChainSpace, MapSpaceError, Problem, nest_keys
from tests.cost_models.chains import random_chip

OPTIONS = (
    {}, {"uneven": True}, {"axis_dims": 2}, {"full": True},
    {"filters": "free", "tiles": "divisors"},
)  # fmt: skip
LAYERS = ("mobilenetv2.2", "resnet18.5", "mobilenetv2.1", "gemm:M=24,N=36,K=60")
EXACT = load("exact", threads=1)


def layer(text: str) -> Layer:
    return layers.parse(text)


@pytest.mark.parametrize("memories", [1, 2, 3, 4])
@pytest.mark.parametrize("options", OPTIONS)
def test_canonical_actions_are_the_same_mappings(memories: int, options: dict[str, object]) -> None:
    rng = np.random.default_rng(memories)
    for text in LAYERS[memories % 2 :: 2]:
        chip = random_chip(rng, memories, limited=True)
        space = ChainSpace(layer(text), chip, **options)
        actions = space.sample(15, 3)
        canonical = space.canonical(actions)
        assert (space.canonical(canonical) == canonical).all()
        first, second = space.decode(actions), space.decode(canonical)
        one, two = (EXACT.evaluate_batch(space.layer, chip, batch) for batch in (first, second))
        assert np.array_equal(one.energy_nj, two.energy_nj)
        assert np.array_equal(one.latency_cycles, two.latency_cycles)
        assert np.array_equal(one.reason, two.reason)
        again = ChainBatch.from_mappings(list(first), chip)  # checks each against the chip
        assert (space.encode(again) == canonical).all()


@pytest.mark.parametrize("options", OPTIONS)
def test_equal_keys_cost_the_same(options: dict[str, object]) -> None:
    rng = np.random.default_rng(1)
    small = Layer("small", layers.LayerKind.CONV, K=4, C=2, Y=4, X=1, R=1, S=1)
    alike = 0
    for memories in (1, 2, 3):
        chip = random_chip(rng, memories, limited=True)
        space = ChainSpace(small, chip, **options)
        batch = space.decode(space.sample(600, 0))
        costs = EXACT.evaluate_batch(small, chip, batch)
        keys = nest_keys(small, chip, batch, load("exact").capabilities.symmetry)
        _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
        for group in np.flatnonzero(counts > 1):
            rows = np.flatnonzero(which == group)
            alike += len(rows) - 1
            assert len(set(costs.energy_nj[rows])) == 1
            assert len(set(costs.latency_cycles[rows])) == 1
    assert alike > 0 or options.get("full")


def test_names_sizes_and_choices_follow_the_chip() -> None:
    space = ChainSpace(layers.get("resnet18.5"), CHAINS["nvdla-cacc"])
    assert space.names[:6] == (
        "CBUF.order", "CBUF.tile_K", "CBUF.tile_C", "CBUF.tile_Y", "CBUF.tile_X", "CACC.order",
    )  # fmt: skip
    units = space.parameters[space.index("CACC.axis0.units")]
    assert units.choices == tuple(range(1, 33))
    assert space.parameters[space.index("CACC.axis0.dim")].choices == ("K",)
    assert len(space.parameters[space.index("CBUF.order")]) == math.factorial(4)
    assert "Cell.tile_R" not in space.names
    # a register has no room for a 3 x 3 filter: there it is tiled
    systolic = ChainSpace(layers.get("resnet18.5"), CHAINS["tpu-v1-ws"])
    assert "Weights.tile_R" in systolic.names
    assert "Accumulators.tile_R" not in systolic.names
    assert space.size == math.prod(len(p) for p in space.parameters)
    assert space.depth == 3


def test_tiles_that_never_fit_are_left_out() -> None:
    space = ChainSpace(layers.get("resnet18.5"), CHAINS["eyeriss-rs"])
    assert max(space.parameters[space.index("Spads.tile_K")].choices) <= 24  # words of sums
    # PEs may share the rows of a filter: then a channel takes 3 of 12 words
    assert space.parameters[space.index("Spads.tile_C")].choices == (1, 2, 3, 4)
    whole = ChainSpace(layers.get("resnet18.5"), CHAINS["eyeriss-rs"], full=True)
    assert max(whole.parameters[whole.index("Spads.tile_K")].choices) == 128  # a tensor may pass


def test_filters_are_shared_by_units_where_they_stay_whole() -> None:
    space = ChainSpace(
        layers.get("resnet18.5"),
        CHAINS["eyeriss-rs"],
        only={"GLB.axis0.dim": ["R"], "GLB.axis0.units": [3]},
    )
    batch = space.decode(space.sample(20, 0))
    assert (batch.whole_tiles(space.layer.extents)[:, 1, 4] == 1).all()  # a filter row a PE


def test_a_full_space_puts_three_dimensions_on_an_axis() -> None:
    chip = CHAINS["simba"]
    space = ChainSpace(layers.get("resnet18.5"), chip, full=True)
    assert "GlobalBuffer.axis0.dim3" in space.names
    assert "GlobalBuffer.axis0.dim4" not in space.names
    assert "AccumulationBuffer.axis0.dim3" not in space.names  # K and C alone
    action = dict.fromkeys(space.names, 0) | _chosen(
        space, {"dim": "K", "units": 1, "dim2": "C", "units2": 2, "dim3": "Y", "units3": 3}
    )
    batch = space.decode(np.array([list(action.values())]))
    spreads = [one for one in batch[0].entries[1].parallel if one.units > 1]
    assert [(one.dim, one.units) for one in spreads] == [("C", 2), ("Y", 2)]  # of 4 units
    assert space.decode(space.encode(batch))[0] == batch[0]


def test_axes_take_as_many_dimensions_as_the_space_says() -> None:
    layer, chip = layers.get("resnet18.5"), CHAINS["simba"]
    plain, two = ChainSpace(layer, chip), ChainSpace(layer, chip, axis_dims=2)
    assert "GlobalBuffer.axis0.dim2" in two.names
    assert "GlobalBuffer.axis0.dim3" not in two.names
    assert ("axis_dims" in plain.options, two.options["axis_dims"]) == (False, 2)
    assert ChainSpace(layer, chip, axis_dims=1).names == plain.names
    one = ChainSpace(layer, chip, full=True, axis_dims=1)
    assert one.options["axis_dims"] == 1
    assert not any("dim2" in name for name in one.names)
    batch = two.decode(two.sample(50, 0))
    with pytest.raises(MapSpaceError, match=r"more than the space does there; use .* axis_dims"):
        plain.encode(batch)
    for space, dims in (({"axis_dims": 2}, 2), ({"uneven": True}, 3)):
        assert Problem("mobilenetv2.2", "edge", space=space).space.options["axis_dims"] == dims


def _chosen(space: ChainSpace, axis: dict[str, str | int]) -> dict[str, int]:
    names = {f"GlobalBuffer.axis0.{name}": value for name, value in axis.items()}
    return {n: space.parameters[space.index(n)].choices.index(v) for n, v in names.items()}


def test_a_mapping_outside_the_space_says_what_is_offered() -> None:
    space = ChainSpace(layers.get("resnet18.5"), CHAINS["nvdla-cacc"])
    other = ChainSpace(layers.get("resnet18.5"), CHAINS["nvdla-cacc"], tiles="any")
    actions = other.sample(50, 0)
    with pytest.raises(MapSpaceError, match=r"tile_.=\d+ is not in the space; expected one of"):
        space.encode(other.decode(actions))
    narrow = ChainSpace(space.layer, space.accelerator, only={"CACC.axis0.units": [8]})
    with pytest.raises(MapSpaceError, match=r"CACC\.axis0\.units"):
        narrow.encode(space.decode(space.sample(50, 0)))
    full = ChainSpace(space.layer, space.accelerator, full=True, uneven=False)
    with pytest.raises(MapSpaceError, match=r"larger axis_dims|keeps what it holds"):
        space.encode(full.decode(full.sample(50, 0)))
    uneven = ChainSpace(space.layer, space.accelerator, uneven=True)
    with pytest.raises(MapSpaceError, match="its entries are CBUF, CBUF, CACC"):
        space.encode(uneven.decode(uneven.sample(5, 0)))


@pytest.mark.parametrize("name", CHAINS)
def test_each_chip_of_the_library_has_mappings_of_real_layers(name: str) -> None:
    for text in ("mobilenetv2.2", "resnet18.2", "vgg16.1", "gemm:M=128,N=768,K=768"):
        problem = Problem(text, name)
        looked = problem.look(problem.space.sample(200, 0))
        assert looked.feasible.any(), (name, text)
        assert problem.why_empty() is None
        assert problem.bound <= looked.values.min()


@pytest.mark.parametrize("memories", [1, 2, 3, 4])
def test_no_mapping_is_below_the_bounds(memories: int) -> None:
    rng = np.random.default_rng(memories)
    for text in LAYERS[memories % 2 :: 2]:
        chip = random_chip(rng, memories, limited=True)
        for options in ({}, {"full": True}):
            problem = Problem(layer(text), chip, "latency", EXACT, options)
            costs = problem.look(problem.space.sample(100, 1)).costs
            for figure, least in problem.figure_bounds.items():
                values = costs.figures[figure][costs.feasible]
                assert least <= values.min(initial=np.inf) * (1 + 1e-12), figure


def test_why_a_chip_has_no_mapping_at_all() -> None:
    simba = CHAINS["simba"].to_dict()
    simba["levels"][4] |= {"bytes": 3, "double_buffer": True}
    chip = Chain.from_dict(simba)
    why = Problem("resnet18.5", chip).why_empty()
    assert "even with the smallest tiles AccumulationBuffer needs" in why
    limit = Problem("resnet18.5", "simba", limits={"max_bytes.GlobalBuffer": 10}).why_empty()
    assert "has no mapping within max_bytes.GlobalBuffer=10" in limit
    slow = Problem("resnet18.5", "simba", limits={"max_latency_cycles": 10}).why_empty()
    assert slow is not None


def test_limits_go_by_level() -> None:
    problem = Problem("resnet18.5", "simba", limits={"max_bytes.GlobalBuffer": 5000})
    looked = problem.look(problem.space.sample(300, 0))
    held = looked.costs.column("bytes.GlobalBuffer")
    assert (looked.feasible == (looked.costs.feasible & (held <= 5000))).all()
    row = int(np.flatnonzero(looked.costs.feasible & ~looked.feasible)[0])
    report = looked.infeasible(row)
    assert report.code is ReasonCode.LIMIT
    assert "bytes.GlobalBuffer is" in report.message
