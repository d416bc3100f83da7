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


WHOLE = {"value": 1.0, "cost": "made"}


def lazy(made: list[int]) -> LazyInfo:
    """Infos of which one value is made, which is noted."""
    return LazyInfo({"value": 1.0}, {"cost": lambda: made.append(1) or "made"})


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
def test_every_copy_is_a_plain_dict_of_all(plain: Any) -> None:
    info = lazy([])
    assert plain(info) == WHOLE
    assert type(plain(info)) is dict
    assert info == WHOLE


def test_a_value_is_made_once_and_only_when_it_is_asked_for() -> None:
    made: list[int] = []
    info, other = lazy(made), lazy(made)
    assert "cost" in info
    assert len(info) == 2
    assert info["value"] == 1.0
    other["cost"] = "set"
    assert (other["cost"], len(other)) == ("set", 2)
    other |= {"more": 3}
    del other["cost"]
    assert other == {"value": 1.0, "more": 3}
    for forgotten in (other.__getitem__, other.__delitem__):
        with pytest.raises(KeyError):
            forgotten("cost")
    other.clear()
    assert (other, len(other), made) == ({}, 0, [])
    assert info["cost"] == info.get("cost") == info.setdefault("cost", "other") == "made"
    assert info.setdefault("new", 5) == 5
    assert list(reversed(info)) == ["new", "cost", "value"]
    assert (info.popitem(), info.pop("cost"), made) == (("new", 5), "made", [1])
