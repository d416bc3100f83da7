"""The info of a step: costly values are worked out when they are read, one's and many worlds'."""

import copy
import json
import pickle
from typing import Any

import gymnasium
import pytest

import maestro_env  # noqa: F401  (registers the environments)
from cost_models import Cost, CostBatch, Infeasible, ReasonCode
from maestro_env.evaluation import Evaluation
from maestro_env.info import LazyInfo


@pytest.fixture
def steps() -> dict[bool, dict[str, Any]]:
    """The info of a feasible step and of one that is not."""
    env = gymnasium.make("MaestroEnv-v0", layer="mobilenetv2.2", limits={"max_latency_cycles": 1e6})
    env.action_space.seed(0)
    env.reset(seed=0)
    found: dict[bool, dict[str, Any]] = {}
    while len(found) < 2:
        _, _, _, ended, info = env.step(env.action_space.sample())
        found[info["feasible"]] = info
        if ended:
            env.reset()
    return found


def test_costly_values_are_worked_out_when_they_are_read(monkeypatch, steps) -> None:
    read = []
    get, why = CostBatch.__getitem__, Evaluation.infeasible
    monkeypatch.setattr(CostBatch, "__getitem__", lambda s, i: read.append(i) or get(s, i))
    monkeypatch.setattr(Evaluation, "infeasible", lambda s, i: read.append(i) or why(s, i))
    good, bad = steps[True], steps[False]
    assert type(good) is type(bad) is dict
    assert good["infeasible"] is None
    assert isinstance(good["cost"], Cost)
    assert isinstance(bad["infeasible"], Infeasible)
    assert bad["infeasible"].code is bad["reason"] is not ReasonCode.FEASIBLE
    assert read == []
    assert good["cost"].latency_cycles == good["latency_cycles"]
    assert good["cost"].macs > 0
    assert len(read) == 1
    assert bad["infeasible"].message
    assert len(read) >= 2
    assert bad["cost"].feasible is (bad["reason"] is ReasonCode.LIMIT)


class Made:
    """Counts how often a value is made."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return "made"


@pytest.fixture
def made() -> Made:
    return Made()


@pytest.fixture
def info(made: Made) -> LazyInfo:
    return LazyInfo({"value": 1.0}, {"cost": made})


WHOLE = {"value": 1.0, "cost": "made"}


def test_a_value_is_made_once_and_only_when_it_is_asked_for(info: LazyInfo, made: Made) -> None:
    assert "cost" in info
    assert len(info) == 2
    assert info["value"] == 1.0
    assert made.times == 0
    assert info["cost"] == info.get("cost") == "made"
    assert made.times == 1


@pytest.mark.parametrize(
    "plain",
    [
        dict,
        lambda info: {**info},
        lambda info: info | {},
        lambda info: {} | info,
        copy.copy,
        copy.deepcopy,
        lambda info: pickle.loads(pickle.dumps(info)),
        lambda info: json.loads(json.dumps(info)),
        lambda info: dict(info.items()),
    ],
)
def test_every_copy_is_a_plain_dict_of_all(info: LazyInfo, plain) -> None:
    assert plain(info) == WHOLE
    assert type(plain(info)) is dict
    assert info == WHOLE


def test_what_is_set_or_forgotten_is_not_made(info: LazyInfo, made: Made) -> None:
    other = LazyInfo({}, {"cost": made})
    other["cost"] = "set"
    assert (other["cost"], len(other)) == ("set", 1)
    info.update(more=3)
    del info["cost"]
    assert info == {"value": 1.0, "more": 3}
    with pytest.raises(KeyError):
        del info["cost"]
    with pytest.raises(KeyError):
        info["cost"]
    info.clear()
    assert (info, len(info), made.times) == ({}, 0, 0)


def test_setdefault_keeps_what_is_there(info: LazyInfo) -> None:
    assert info.setdefault("cost", "other") == "made"
    assert info.setdefault("new", 5) == 5
    assert list(info) == ["value", "cost", "new"]
    assert list(reversed(info)) == ["new", "cost", "value"]
    assert info.popitem() == ("new", 5)
    assert info.pop("cost") == "made"
    info |= {"cost": 2}
    assert info == {"value": 1.0, "cost": 2}
