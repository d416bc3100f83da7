"""Work shared out to workers that stay: order, place, errors, and time."""

import os
import time

import pytest

from marl_runs import gathered


def square(number):
    return number * number


def where(_):
    return os.getpid()


def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def fail(text):
    raise ValueError(text)


@pytest.fixture(scope="module", params=[1, 2])
def crew(request):
    with gathered(request.param) as made:
        yield made


def test_results_come_in_the_order_of_the_tasks(crew):
    assert list(crew.share_out(square, range(7))) == [n * n for n in range(7)]
    assert list(crew.share_out(square, [])) == []


def test_a_task_has_its_worker(crew):
    first, again = (list(crew.share_out(where, range(4))) for _ in range(2))
    assert first == again
    assert first[:2] == first[2:]


def test_an_error_of_a_task_comes_back_and_the_crew_goes_on(crew):
    with pytest.raises(ValueError, match="no such layer"):
        list(crew.share_out(fail, ["no such layer"]))
    assert list(crew.share_out(square, [3])) == [9]


def test_time_of_others_is_counted_and_none_stays():
    with gathered(1) as alone, gathered(2) as two:
        for crew in (alone, two):
            list(crew.share_out(spend, [0.05, 0.05]))
        assert alone.cpu_s == 0  # this process's own time, which its owner counts
        assert 0.1 <= two.cpu_s < 5
        pids = set(two.share_out(where, range(2)))
        assert len(pids) == 2
        assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
