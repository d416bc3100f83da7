"""Threads over rows, and lazy columns."""

import threading

import pytest

from cost_models import CostModelError
from cost_models.cost import LazyColumns
from cost_models.threads import CHUNK, default_threads, run_rows


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("rows", [0, 1, CHUNK, CHUNK + 1, 5 * CHUNK - 3])
def test_every_row_is_done_once(threads: int, rows: int) -> None:
    done = [0] * rows
    lock = threading.Lock()

    def work(low: int, high: int) -> None:
        with lock:
            for row in range(low, high):
                done[row] += 1

    run_rows(work, rows, threads)
    assert done == [1] * rows


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def work(low: int, high: int) -> None:
        if low:
            raise ValueError(f"row {low}")

    with pytest.raises(ValueError, match="row"):
        run_rows(work, 4 * CHUNK, 3)
    assert threading.active_count() < 20


@pytest.mark.parametrize("given", ["0", "-3", "all", "1.5"])
def test_threads_come_from_the_environment(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert default_threads() == 3
    monkeypatch.delenv("NUMBA_NUM_THREADS")
    assert default_threads() >= 1
    monkeypatch.setenv("NUMBA_NUM_THREADS", given)
    with pytest.raises(CostModelError, match=f"NUMBA_NUM_THREADS: got '{given}', expected a whole"):
        default_threads()


def test_columns_are_worked_out_once_and_only_when_looked_at() -> None:
    asked: list[str] = []

    def compute(name: str) -> int:
        asked.append(name)
        return len(name)

    columns = LazyColumns(("a", "bb"), compute)
    assert list(columns) == ["a", "bb"]
    assert asked == []
    assert (columns["bb"], columns["bb"]) == (2, 2)
    assert asked == ["bb"]
    assert dict(columns) == {"a": 1, "bb": 2}
    with pytest.raises(KeyError):
        columns["c"]
