"""The info of a step: a dict, some of whose values are made when somebody looks."""

import copy
import json
import pickle

import pytest

from maestro_env.info import LazyInfo


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
    other = info.extended({})
    other["cost"] = "set"
    assert (other["cost"], len(other)) == ("set", 2)
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
