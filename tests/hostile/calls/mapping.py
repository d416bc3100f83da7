"""Hostile calls of `marl_mapper.map`, `map_many` and `map_network`."""

from typing import Any

import numpy as np

import baselines
import cost_models
import layers
import marl_mapper
from baselines import SearcherError
from cost_models import Accelerator, AcceleratorError, CostModelError
from layers import LayerError
from maestro_env import MapSpace, MapSpaceError, ObjectiveError, ProblemError
from mapper import PretrainedError, WatchError
from mapper.staying.kept_network import KeepError
from marl_mapper import LibraryError
from tests.hostile.calls import Row

LAYER = "gemm:M=8,N=8,K=8"
MANY = "expected a list"
WHOLE_SEED = "expected a whole number from 0"
ONE_LAYER = "expected a Layer or a name"


def layer(given: Any, error: type[Exception], says: str, name: str = "") -> Row:
    return Row(f"layer {name or given!r}", lambda: marl_mapper.map(given), error, says)


def chip(given: Any, error: type[Exception], says: str, name: str = "") -> Row:
    return Row(f"chip {name or given!r}", lambda: marl_mapper.map(LAYER, given), error, says)


def objective(given: Any, says: str) -> Row:
    return Row(
        f"objective {given!r}", lambda: marl_mapper.map(LAYER, "edge", given), ObjectiveError, says
    )


def option(option: str, given: Any, error: type[Exception], says: str, name: str = "") -> Row:
    call = lambda: marl_mapper.map(LAYER, **{option: given})  # noqa: E731
    return Row(f"{option}={name or repr(given)}", call, error, says)


def space(error: type[Exception], says: str, **options: Any) -> Row:
    return option("space", options, error, says)


def searcher(options: Any, says: str) -> Row:
    call = lambda: marl_mapper.map(LAYER, method="ga", searcher=options)  # noqa: E731
    return Row(f"ga with {options!r}", call, SearcherError, says)


def many(name: str, error: type[Exception], says: str, *args: Any, **how: Any) -> Row:
    return Row(f"many: {name}", lambda: marl_mapper.map_many(*args, **how), error, says)


class NoModel:
    """What is no cost model, with an address in its repr."""


LAYERS = [
    layer(None, LibraryError, "got None, expected a layer"),
    layer(3, LibraryError, "got 3, expected a layer"),
    layer("", LayerError, "empty; expected a name"),
    layer(b"resnet18", LibraryError, ONE_LAYER),
    layer([], LibraryError, "no layers; expected at least one"),
    layer([None], LibraryError, ONE_LAYER),
    layer([[LAYER]], LibraryError, ONE_LAYER),
    layer({"a": LAYER}, LayerError, "'a' is not known"),
    layer("resnet81", LayerError, "Did you mean 'resnet18'"),
    layer("resnet18.l9", LayerError, "resnet18"),
    layer(["resnet18"], LayerError, "a whole network"),
    layer("nothere.yaml", LayerError, "not found"),
    layer(layers.Layer, LibraryError, "expected a layer", "class"),
    layer(NoModel(), LibraryError, r"got <.*NoModel object>, expected a layer", "object"),
]

CHIPS = [
    chip(None, ProblemError, "accelerator: got None, expected an Accelerator"),
    chip(64, ProblemError, "accelerator: got 64"),
    chip(["edge"], ProblemError, "accelerator: got "),
    chip({"num_pes": 64}, ProblemError, "accelerator: got "),
    chip(b"edge", ProblemError, "accelerator: got b'edge'"),
    chip(Accelerator, ProblemError, "accelerator: got <class", "class"),
    chip("", AcceleratorError, "accelerator '' is not known"),
    chip("egde", AcceleratorError, "Did you mean 'edge'"),
    chip("no.yaml", AcceleratorError, "no.yaml: not found"),
]

OBJECTIVES = [
    objective(None, "got None, expected a name such as 'edp'"),
    objective(["edp"], "expected a name such as 'edp'"),
    objective("", "expected one of latency"),
    objective("enrgy", "Did you mean 'energy'"),
]

KEYWORDS = [
    option("budgt", 3, LibraryError, "map: unknown field 'budgt'.*Did you mean 'budget'"),
    option("sed", 3, LibraryError, "Did you mean 'seed'"),
    option("costmodel", "exact", LibraryError, "Did you mean 'cost_model'"),
    option("time_out", 3, LibraryError, "Did you mean 'timeout'"),
    option("timout", 3, LibraryError, "Did you mean 'timeout'"),
    option("layer", LAYER, LibraryError, "unknown field 'layer'; expected method"),
    option("chips", ["edge"], LibraryError, "unknown field 'chips'"),
    option("population", 3, LibraryError, "unknown field 'population'"),
]

METHODS = [
    option("method", "ag", SearcherError, "'ag' is not known"),
    option("method", 3, LibraryError, "map: method: got 3, expected a method's name"),
    option("method", ["ga"], LibraryError, "expected a method's name"),
    option("method", baselines.load("ga"), LibraryError, "expected a method's name"),
    option("method", type(baselines.load("ga")), LibraryError, "expected a method's name"),
    option("method", "nosuch:Thing", SearcherError, "there is no module 'nosuch'"),
    option("searcher", "ga", LibraryError, "got 'ga', expected the method's options as a dict"),
    option("searcher", "", LibraryError, "got '', expected the method's options"),
    option("searcher", [], LibraryError, r"got \[\], expected the method's options"),
    option("searcher", 3, LibraryError, "got 3, expected the method's options"),
    option("searcher", {3: 3}, LibraryError, "searcher"),
    option("searcher", baselines.load("ga"), LibraryError, "name the method itself"),
    searcher({"populaton": 3}, "Did you mean 'population'"),
    searcher({"population": "x"}, "population: got 'x'"),
    searcher({"name": "ga"}, "unknown option 'name'"),
    option("budget", 0, LibraryError, "budget: got 0, expected a whole number of samples"),
    option("budget", -1, LibraryError, "budget: got -1"),
    option("budget", 10.0, LibraryError, "budget: got 10.0"),
    option("budget", True, LibraryError, "budget: got True"),
    option("budget", "10", LibraryError, "budget: got '10'"),
    option("budget", float("nan"), LibraryError, "budget: got nan"),
    option("budget", float("inf"), LibraryError, "budget: got inf"),
]

SEEDS = [
    option("seed", given, LibraryError, WHOLE_SEED)
    for given in (None, True, -1, 1.5, "0", [1, 2], 2**70)
] + [
    option("seed", np.random.default_rng(0), LibraryError, WHOLE_SEED, "a Generator"),
    option("seed", np.random.PCG64(0), LibraryError, WHOLE_SEED, "a bit generator"),
    option("seed", np.int64(-1), LibraryError, WHOLE_SEED, "NumPy's -1"),
]

ENDS = [
    option("patience", 1.5, WatchError, "patience: got 1.5, expected a whole number of samples"),
    option("patience", 0, WatchError, "patience: got 0"),
    option("patience", True, WatchError, "patience: got True"),
    option("patience", "10", WatchError, "patience: got '10'"),
    option("patience", float("inf"), WatchError, "patience: got inf"),
    option("timeout", 0, WatchError, "timeout: got 0, expected a number of seconds above 0"),
    option("timeout", "5", WatchError, "timeout: got '5'"),
    option("timeout", True, WatchError, "timeout: got True"),
    option("timeout", [], WatchError, r"timeout: got \[\]"),
    option("timeout", float("nan"), WatchError, "timeout: got nan"),
    option("on_batch", 3, LibraryError, "on_batch: got 3, expected a function"),
    option("on_batch", "print", LibraryError, "on_batch: got 'print'"),
    option("on_batch", [print], LibraryError, "on_batch: got"),
]

STORES = [
    option("store", 3, LibraryError, "store: got 3, expected a path"),
    option("store", "/proc/answers.db", LibraryError, "unable to open database file; expected an"),
    option("store", "no/such/folder/a.db", LibraryError, "unable to open database file"),
    option("store", "/proc/version", LibraryError, "store: '/proc/version': "),
    option("gap", -0.1, LibraryError, "gap: got -0.1, expected a share from 0"),
    option("gap", 1, LibraryError, "gap: got 1"),
    option("gap", "5%", LibraryError, "gap: got '5%'"),
    option("agents", 3, LibraryError, "agents: got 3"),
    option("agents", "no.bin", PretrainedError, "no.bin: not found"),
]

MODELS = [
    option("cost_model", None, ProblemError, "cost_model: got None, expected a cost model or"),
    option("cost_model", 3, ProblemError, "cost_model: got 3"),
    option("cost_model", ["exact"], ProblemError, "cost_model: got "),
    option("cost_model", type(cost_models.load("exact")), ProblemError, "got <class", "class"),
    option("cost_model", NoModel(), ProblemError, r"NoModel object>, expected", "object"),
    option("cost_model", "", CostModelError, "is not known; expected one of"),
    option("cost_model", "exat", CostModelError, "Did you mean 'exact'"),
    option("cost_model", "exact:foo=1", CostModelError, "got option 'foo'"),
    option("cost_model", "maestro:guard=false", ProblemError, "guard=True"),
]

OTHER_SPACE = MapSpace(layers.parse("mlp.2"), Accelerator.load("edge"))

SPACES = [
    option("space", "full", MapSpaceError, "got 'full', expected paper or paper-10, or options"),
    option("space", [], MapSpaceError, r"space: got \[\], expected a MapSpace"),
    option("space", set(), MapSpaceError, r"space: got set\(\)"),
    option("space", 3, MapSpaceError, "space: got 3"),
    option("space", True, MapSpaceError, "space: got True"),
    option("space", [("tiles", "any")], MapSpaceError, "space: got "),
    option("space", MapSpace, MapSpaceError, "space: got <class", "class"),
    option("space", {3: 4}, MapSpaceError, "unknown option 3"),
    Row(
        "space='paper' on a list of levels",
        lambda: marl_mapper.map(LAYER, "simba", space="paper"),
        MapSpaceError,
        "a space with a name is of two",
    ),
    option("space", OTHER_SPACE, ProblemError, "it maps layer", "of another layer"),
    space(MapSpaceError, "Did you mean 'tiles'", tile="any"),
    space(MapSpaceError, "space.tiles: got 'all'", tiles="all"),
    space(MapSpaceError, "space.full: got 3", full=3),
    space(MapSpaceError, "space.full: got 'yes'", full="yes"),
    space(MapSpaceError, "space.parallel: got 5", parallel=5),
    space(MapSpaceError, "space.repeat: got 'KC'", repeat="KC"),
    space(MapSpaceError, "Did you mean 'nvdla'", dataflow="nvdl"),
    space(MapSpaceError, "space.co_search: got 3, expected names", co_search=3),
    space(MapSpaceError, "space.co_search: got 'cores'", co_search=["cores"]),
    space(MapSpaceError, "space.only: got 5, expected a dict", only=5),
    space(MapSpaceError, "space.only: got", only=["cluster_size"]),
    space(MapSpaceError, "only.cluster_size: got 3, expected a list", only={"cluster_size": 3}),
    space(MapSpaceError, "only.cluster_size: got None", only={"cluster_size": None}),
    space(MapSpaceError, r"only.cluster_size: got \['16'\]", only={"cluster_size": "16"}),
]

LIMITS = [
    option("limits", [], ObjectiveError, r"limits: got \[\], expected a dict"),
    option("limits", set(), ObjectiveError, "limits: got"),
    option("limits", "max_l1_bytes", ObjectiveError, "limits: got 'max_l1_bytes'"),
    option("limits", 3, ObjectiveError, "limits: got 3"),
    option("limits", ["max_latency_cycles"], ObjectiveError, "limits: got"),
    option("limits", {3: 3}, ObjectiveError, "limits.3: unknown limit"),
    option("limits", {"max_latency": 3}, ObjectiveError, "Did you mean 'max_latency_cycles'"),
    option("limits", {"max_latency_cycles": None}, ObjectiveError, "got None, expected a number"),
    option("limits", {"max_latency_cycles": True}, ObjectiveError, "got True"),
    option("limits", {"max_latency_cycles": float("nan")}, ObjectiveError, "got nan"),
    option("limits", {"max_latency_cycles": 0}, ObjectiveError, "got 0"),
    option("limits", {"max_latency_cycles": "1e6"}, ObjectiveError, "got '1e6'"),
]

SEARCHED: list[Any] = []
"""Problems that a refused call has searched: none."""


def not_searched(*args: Any, **how: Any) -> None:
    """Map, refused before anything is searched."""
    SEARCHED.clear()
    try:
        marl_mapper.map_many(*args, on_batch=SEARCHED.append, method="random", budget=10, **how)
    finally:
        assert not SEARCHED


def unsearched(name: str, error: type[Exception], says: str, *args: Any) -> Row:
    return Row(f"many, nothing searched: {name}", lambda: not_searched(*args), error, says)


MANY_ROWS = [
    unsearched("a wrong second chip", AcceleratorError, "Did you mean 'cloud'", [LAYER],
               ["edge", "clod"]),
    unsearched("None as the second chip", ProblemError, "accelerator: got None", [LAYER],
               ["edge", None]),
    unsearched("a wrong second layer", LayerError, "M=0", [LAYER, "gemm:M=0,N=8,K=8"], ["edge"]),
    many("a text", LibraryError, MANY, LAYER),
    many("bytes", LibraryError, MANY, b"ab"),
    many("no layers", LibraryError, f"layers: got None, {MANY}", None),
    many("a number", LibraryError, MANY, 3),
    many("one Layer", LibraryError, MANY, layers.parse(LAYER)),
    many("a dict", LibraryError, MANY, {LAYER: 1}),
    many("None inside", LibraryError, ONE_LAYER, [None]),
    many("a network", LayerError, "a whole network", ["resnet18"]),
    many("a chip's name", LibraryError, f"chips: got 'edge', {MANY}: .'edge'.", [LAYER], "edge"),
    many("no chips", LibraryError, f"chips: got None, {MANY}", [LAYER], None),
    many("one Accelerator", LibraryError, MANY, [LAYER], Accelerator.load("edge")),
    many("None as a chip", ProblemError, "accelerator: got None", [LAYER], [None]),
    many("chip=", LibraryError, "unknown field 'chip'", [LAYER], chip="edge"),
    many("a misspelt option", LibraryError, "Did you mean 'budget'", [LAYER], budgt=3),
    many("seed None", LibraryError, WHOLE_SEED, [LAYER], seed=None),
    many("space full", MapSpaceError, "got 'full'", [LAYER], space="full"),
]  # fmt: skip


def network(
    name: str, error: type[Exception], says: str, *args: Any, given: Any = "mlp", **how: Any
) -> Row:
    def call() -> Any:
        return marl_mapper.map_network(given, *args, **how)

    return Row(f"network: {name}", call, error, says)


NETWORK_ROWS = [
    network("no layers", LibraryError, "no layers with MACs", given=layers.NetworkGraph(())),
    network("a number", LibraryError, "network: got 3, expected a name, a file", given=3),
    network("a number as chip", ProblemError, "accelerator: got 3", 3),
    network("power", KeepError, "got the objective 'power'", "edge", "power"),
    network("maestro", KeepError, "does not price what moves", cost_model="maestro"),
    network("fuse all", LibraryError, "fuse: got 'all', expected keep or tiles", fuse="all"),
    network("tiles on simba", KeepError, "expected a chip of two levels", "simba", fuse="tiles"),
    network("inputs 0", LibraryError, "inputs: got 0, expected a whole number", inputs=0),
    network("gap True", LibraryError, "gap: got True, expected a share", gap=True),
    network("a misspelt option", LibraryError, "Did you mean 'passes'", pases="counted"),
]

ROWS = [
    *LAYERS, *CHIPS, *OBJECTIVES, *KEYWORDS, *METHODS, *SEEDS, *ENDS, *STORES, *MODELS, *SPACES,
    *LIMITS, *MANY_ROWS, *NETWORK_ROWS,
]  # fmt: skip
