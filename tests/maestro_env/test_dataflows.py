"""What the named dataflows mean, read off the mappings of their spaces."""

import numpy as np
import pytest

import layers
from cost_models import Accelerator
from layers import DIMS, TENSORS, Layer
from maestro_env import DATAFLOWS, MapSpace, Problem

CONV = layers.parse("vgg16.4")
POINTWISE = layers.parse("mobilenetv2.2")
DEPTHWISE = layers.parse("mobilenetv2.1")
GEMM = Layer.gemm("product", 96, 64, 80, batch=4)
ALL = (CONV, POINTWISE, DEPTHWISE, GEMM)
STATIONARY = {
    "ws": "filter",
    "os": "output",
    "is": "input",
    "nvdla": "filter",
    "eyeriss-rs": "filter",
    "shidiannao": "output",
    "tpu": "filter",
}


def drawn(layer: Layer, dataflow: str, **options: object) -> tuple[MapSpace, object]:
    space = MapSpace(layer, Accelerator.load("edge"), dataflow=dataflow, **options)
    return space, space.decode(space.sample(300, 0))


def test_every_dataflow_is_described_here() -> None:
    assert set(STATIONARY) == set(DATAFLOWS)


ORDERED = [(one, "priority") for one in ALL]
ORDERED += [(one, "permutation") for one in ALL if one is not GEMM]  # its orders keep N outermost


@pytest.mark.parametrize("name", STATIONARY)
@pytest.mark.parametrize(("layer", "orders"), ORDERED, ids=lambda one: getattr(one, "name", one))
def test_the_loops_that_keep_the_stationary_tensor_are_innermost(layer, name, orders):
    space, mappings = drawn(layer, name, orders=orders)
    coupled = layer.coupling[TENSORS.index(STATIONARY[name])]
    moving = [DIMS.index(dim) for dim in space.moving]
    for order in mappings.orders.reshape(-1, len(DIMS)):
        depends = [bool(coupled[d]) for d in order if d in moving]
        assert depends == sorted(depends, reverse=True)


@pytest.mark.parametrize(
    ("name", "layer", "expected"),
    [
        ("nvdla", CONV, "KC"),
        ("nvdla", POINTWISE, "KC"),
        ("nvdla", GEMM, "KC"),
        ("nvdla", DEPTHWISE, "YC"),  # it has no K
        ("tpu", CONV, "KC"),
        ("shidiannao", CONV, "YX"),
        ("shidiannao", GEMM, "YK"),  # it has no X
        ("eyeriss-rs", CONV, "YR"),
        ("eyeriss-rs", DEPTHWISE, "YR"),
        ("eyeriss-rs", POINTWISE, "YC"),  # its filters have one row
    ],
)
def test_which_dimensions_are_parallel(name: str, layer: Layer, expected: str) -> None:
    parallel = np.unique(drawn(layer, name)[1].parallel, axis=0)
    assert ["".join(DIMS[d] for d in row) for row in parallel] == [expected]


@pytest.mark.parametrize("name", ["ws", "os", "is"])
def test_a_stationarity_leaves_the_parallel_dimensions_to_the_search(name: str) -> None:
    parallel = np.unique(drawn(CONV, name)[1].parallel, axis=0)
    assert len(parallel) == 16


def test_what_a_pe_holds() -> None:
    def inner(name: str) -> dict[str, set[int]]:
        mappings = drawn(CONV, name)[1]
        return {dim: set(mappings.tiles[:, 1, i].tolist()) for i, dim in enumerate(DIMS)}

    one = {1}
    tpu, shidiannao, eyeriss, nvdla = map(inner, ("tpu", "shidiannao", "eyeriss-rs", "nvdla"))
    assert (tpu["K"], tpu["C"], tpu["R"]) == (one, one, {CONV.R})
    assert (shidiannao["K"], shidiannao["Y"], shidiannao["X"]) == (one, one, one)
    assert (eyeriss["R"], eyeriss["S"]) == (one, {CONV.S})
    assert len(nvdla["K"]) > 5
    assert len(eyeriss["C"]) > 5


def test_cluster_sizes() -> None:
    chip = Accelerator(256, 512, 108_000, 64, 16)
    sizes = {
        name: MapSpace(CONV, chip, dataflow=name).parameters[-1].choices
        for name in ("ws", "nvdla", "tpu")
    }
    assert sizes["tpu"] == (16,)
    assert max(sizes["nvdla"]) == 64
    assert max(sizes["ws"]) == 256


def test_options_make_the_same_space_again_and_only_narrows_further() -> None:
    problem = Problem("vgg16.4", space={"dataflow": "eyeriss-rs", "only": {"cluster_size": [3]}})
    again = Problem("vgg16.4", space=problem.describe()["space"]).space
    assert again.size == problem.space.size
    assert again.parameters == problem.space.parameters
    assert "dataflow" not in Problem("vgg16.4").describe()["space"]
