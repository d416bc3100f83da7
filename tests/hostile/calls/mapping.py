"""Hostile calls of `marl_mapper.map`, `map_many` and `map_network`."""

import re
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
ONE_LAYER = "expected a Layer or a name"


def refused(option: str, given: Any, error: type[Exception], says: str) -> Row:
    """A call of `map` with one wrong argument; the first three go by their place."""
    before = {"layer": (), "chip": (LAYER,), "objective": (LAYER, "edge")}
    args, how = ((*before[option], given), {}) if option in before else ((LAYER,), {option: given})
    name = f"{option}={re.sub(' at 0x.*', '', repr(given))}"
    return Row(name, lambda: marl_mapper.map(*args, **how), error, says)


def many(name: str, error: type[Exception], says: str, *args: Any, **how: Any) -> Row:
    return Row(f"many: {name}", lambda: marl_mapper.map_many(*args, **how), error, says)


class NoModel:
    """What is no cost model, with an address in its repr."""


OTHER_SPACE = MapSpace(layers.parse("mlp.2"), Accelerator.load("edge"))
GA = baselines.load("ga")
OPTIONS: dict[tuple[str, type[Exception]], list[tuple[Any, str]]] = {
    ("layer", LibraryError): [
        (None, "got None, expected a layer"),
        (b"resnet18", ONE_LAYER),
        ([], "no layers; expected at least one"),
        ([[LAYER]], ONE_LAYER),
        (NoModel(), r"got <.*NoModel object>, expected a layer"),
    ],
    ("layer", LayerError): [
        ("", "empty; expected a name"),
        ("resnet81", "Did you mean 'resnet18'"),
        ("resnet18.l9", "resnet18"),
        (["resnet18"], "a whole network"),
    ],
    ("chip", ProblemError): [
        (64, "accelerator: got 64"),
        (Accelerator, "accelerator: got <class"),
    ],
    ("chip", AcceleratorError): [
        ("egde", "Did you mean 'edge'"),
        ("no.yaml", "no.yaml: not found"),
    ],
    ("objective", ObjectiveError): [
        (["edp"], "expected a name such as 'edp'"),
        ("enrgy", "Did you mean 'energy'"),
    ],
    ("method", LibraryError): [
        (3, "map: method: got 3, expected a method's name"),
        (GA, "expected a method's name"),
    ],
    ("method", SearcherError): [
        ("nosuch:Thing", "there is no module 'nosuch'"),
    ],
    ("searcher", LibraryError): [
        ("ga", "got 'ga', expected the method's options as a dict"),
        ([], r"got \[\], expected the method's options"),
        (GA, "name the method itself"),
    ],
    ("budget", LibraryError): [
        (0, "budget: got 0, expected a whole number of samples"),
        (True, "budget: got True"),
        ("10", "budget: got '10'"),
    ],
    ("seed", LibraryError): [
        (given, "expected a whole number from 0")
        for given in (None, True, -1, 1.5, "0", 2**70, np.random.default_rng(0), np.int64(-1))
    ],
    ("patience", WatchError): [
        (0, "patience: got 0"),
        (True, "patience: got True"),
    ],
    ("timeout", WatchError): [
        (0, "timeout: got 0, expected a number of seconds above 0"),
        (True, "timeout: got True"),
        (float("nan"), "timeout: got nan"),
    ],
    ("on_batch", LibraryError): [(3, "on_batch: got 3, expected a function")],
    ("store", LibraryError): [
        (3, "store: got 3, expected a path"),
        ("/proc/answers.db", "unable to open database file; expected an"),
    ],
    ("gap", LibraryError): [
        (-0.1, "gap: got -0.1, expected a share from 0"),
        (1, "gap: got 1"),
        ("5%", "gap: got '5%'"),
    ],
    ("agents", LibraryError): [(3, "agents: got 3")],
    ("agents", PretrainedError): [("no.bin", "no.bin: not found")],
    ("cost_model", ProblemError): [
        (type(cost_models.load("exact")), "got <class"),
        (NoModel(), r"NoModel object>, expected"),
        ("maestro:guard=false", "guard=True"),
    ],
    ("cost_model", CostModelError): [
        ("exat", "Did you mean 'exact'"),
    ],
    ("space", MapSpaceError): [
        ("full", "got 'full', expected paper or paper-10, or options"),
        (True, "space: got True"),
        (MapSpace, "space: got <class"),
        ({3: 4}, "unknown option 3"),
        ({"tile": "any"}, "Did you mean 'tiles'"),
        ({"tiles": "all"}, "space.tiles: got 'all'"),
        ({"full": 3}, "space.full: got 3"),
        ({"parallel": 5}, "space.parallel: got 5"),
        ({"repeat": "KC"}, "space.repeat: got 'KC'"),
        ({"co_search": 3}, "space.co_search: got 3, expected names"),
        ({"co_search": ["cores"]}, "space.co_search: got 'cores'"),
        ({"only": 5}, "space.only: got 5, expected a dict"),
        ({"only": ["cluster_size"]}, "space.only: got"),
        ({"only": {"cluster_size": 3}}, "only.cluster_size: got 3, expected a list"),
        ({"only": {"cluster_size": "16"}}, r"only.cluster_size: got \['16'\]"),
    ],
    ("space", ProblemError): [(OTHER_SPACE, "it maps layer")],
    ("limits", ObjectiveError): [
        ("max_l1_bytes", "limits: got 'max_l1_bytes'"),
        ({3: 3}, "limits.3: unknown limit"),
        ({"max_latency_cycles": True}, "got True"),
        ({"max_latency_cycles": float("nan")}, "got nan"),
        ({"max_latency_cycles": 0}, "got 0"),
    ],
    ("budgt", LibraryError): [(3, "map: unknown field 'budgt'.*Did you mean 'budget'")],
}
"""Values that an argument of `map` does not take, and what is said of each."""
MAP_ROWS = [
    *(
        refused(option, given, error, says)
        for (option, error), rows in OPTIONS.items()
        for given, says in rows
    ),
    Row(
        "ga with a name",
        lambda: marl_mapper.map(LAYER, method="ga", searcher={"name": "ga"}),
        SearcherError,
        "unknown option 'name'",
    ),
    Row(
        "space='paper' on a list of levels",
        lambda: marl_mapper.map(LAYER, "simba", space="paper"),
        MapSpaceError,
        "a space with a name is of two",
    ),
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
    unsearched("a wrong second layer", LayerError, "M=0", [LAYER, "gemm:M=0,N=8,K=8"], ["edge"]),
    many("a text", LibraryError, MANY, LAYER),
    many("no layers", LibraryError, f"layers: got None, {MANY}", None),
    many("a chip's name", LibraryError, f"chips: got 'edge', {MANY}: .'edge'.", [LAYER], "edge"),
    many("one Accelerator", LibraryError, MANY, [LAYER], Accelerator.load("edge")),
    many("chip=", LibraryError, "unknown field 'chip'", [LAYER], chip="edge"),
]  # fmt: skip


def network(
    name: str, error: type[Exception], says: str, *args: Any, given: Any = "mlp", **how: Any
) -> Row:
    def call() -> Any:
        return marl_mapper.map_network(given, *args, **how)

    return Row(f"network: {name}", call, error, says)


NETWORK_ROWS = [
    network("no layers", LibraryError, "no layers with MACs", given=layers.NetworkGraph(())),
    network("power", KeepError, "got the objective 'power'", "edge", "power"),
    network("inputs 0", LibraryError, "inputs: got 0, expected a whole number", inputs=0),
    network("a misspelt option", LibraryError, "Did you mean 'passes'", pases="counted"),
]

ROWS = [*MAP_ROWS, *MANY_ROWS, *NETWORK_ROWS]
