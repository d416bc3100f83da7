"""Values whose fields are worked out when somebody looks at them."""

import copy
import pickle
from dataclasses import asdict, dataclass, field

import pytest

from marl_common import Computed


@dataclass(frozen=True)
class Sum(Computed):
    first: int
    total: int
    note: str = field(default_factory=str)


def test_fields_are_worked_out_once_and_only_when_they_are_read():
    asked = []

    def find(name):
        asked.append(name)
        return {"total": 5, "note": "late"}

    found = Sum.later(find, first=2)
    assert found.first == 2
    assert asked == []
    assert (found.total, found.note, found.total) == (5, "late", 5)
    assert asked == ["total"]
    with pytest.raises(AttributeError, match="no field 'other'"):
        _ = found.other


def test_it_equals_a_plain_one_and_its_copies_are_whole():
    plain = Sum(2, 5, "late")
    makes = [lambda v: v, copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
    for make in makes:
        made = make(Sum.later(lambda _: {"total": 5, "note": "late"}, first=2))
        assert made == plain
        assert hash(made) == hash(plain)
        assert repr(made) == repr(plain)
        assert asdict(made) == asdict(plain)


def test_what_is_found_may_leave_a_part_for_later():
    inner = Sum.later(lambda _: {"note": "last"}, first=2, total=5)
    outer = Sum.later(lambda _: vars(inner), first=2)
    assert outer.note == "last"
    assert outer == Sum(2, 5, "last")
