import contextlib
import errno
import io
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event, text

from marl_runs import (
    LineReporter,
    RayConnectionError,
    RunStatus,
    RunSummary,
    SilentReporter,
    StopFlag,
    Store,
    StoreFault,
    StoreOptions,
    catch_interrupt,
    choose_reporter,
    run_all,
    run_alone,
)
from marl_runs.runner.live import BarReporter, LoneReporter
from tests.mapper import toys
from tests.mapper.toys import Link, Walk
from tests.terminals import terminal

ROOT = Path(__file__).resolve().parents[2]


def content(store: Store) -> dict[str, tuple]:
    """What a store holds of each run, apart from times and numbers."""
    table = {}
    for run in store.runs():
        actions, values = store.samples(run.id)
        shown = (run.status, run.samples, run.best_value, str(run.result))
        table[run.key] = (*shown, actions.tobytes(), values.tobytes())
    return table


def quiet(experiments, store, **options):
    return run_all(experiments, store, reporter=SilentReporter(), **options)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "runs.sqlite") as opened:
        yield opened


def test_runs_are_recorded_and_kept(store):
    walks = [Walk(seed) for seed in range(4)]
    first = quiet(walks, store, workers=2)
    assert sorted(first.finished) == sorted(walk.name for walk in walks)
    before = content(store)
    with Store.open() as alone:
        quiet(walks, alone)
        assert content(alone) == before  # workers do not change samples
    second = quiet([*walks, Walk(9)], store)
    assert (len(second.kept), second.finished) == (4, [Walk(9).name])
    assert second.keys == [walk.identity().key for walk in [*walks, Walk(9)]]
    assert before.items() <= content(store).items()
    for run in store.runs():
        assert run.status is RunStatus.FINISHED
        assert run.samples == 50
        assert store.samples(run.id)[1].min() == run.best_value
        assert store.metrics(run.id, "mean")[0].tolist() == [0, 10, 20, 30, 40]
        assert run.cpu_s >= 0
        assert run.wall_s > 0


def test_one_bad_run_does_not_stop_the_others(store, tmp_path):
    """It raises, has a result that is no JSON, or kills its worker: once, or always."""
    bad = [Walk(1, trouble="raise"), Walk(2, trouble="object")]
    once, always = (
        Walk(seed, trouble=trouble, marker=str(tmp_path / trouble))
        for seed, trouble in ((7, "die once"), (8, "die"))
    )
    summary = quiet([once, always, *bad, Walk(3)], store, workers=2, retries=1)
    assert sorted(summary.finished) == [Walk(3).name, once.name]
    errors = dict(summary.failed)
    assert errors[always.name] == "its worker process ended with exit code -9, 2 times"
    run = next(run for run in store.runs() if run.seed == once.seed)
    assert run.attempt == 2
    assert store.samples(run.id)[1].size == run.samples == 50  # counted once
    with Store.open() as calm:
        quiet([Walk(once.seed)], calm)
        np.testing.assert_array_equal(calm.samples(1)[0], store.samples(run.id)[0])
    for attempt in (1, 2):
        assert errors[bad[0].name] == "RuntimeError: the toy broke"
        assert "TypeError" in errors[bad[1].name]
        broken = next(run for run in store.runs() if run.seed == bad[0].seed)
        assert (broken.status, broken.attempt) == (RunStatus.FAILED, attempt)
        assert "Traceback" in broken.error
        assert broken.samples == 40  # kept up to the failure
        assert broken.result == {"so far": 40}
        errors = dict(quiet(bad, store).failed)  # tried again, in this process


def test_two_runners_share_the_work_and_wait_for_each_other(tmp_path):
    path = tmp_path / "runs.sqlite"
    first = start(path, runs=4, pause=0.05, workers=1)
    wait_for(path, finished=1)
    with Store.open(path) as store:
        summary = quiet([Walk(seed, budget=60) for seed in range(4)], store)
        assert (summary.busy, summary.failed, summary.interrupted) == ([], [], [])
        assert len(summary.kept) + len(summary.finished) == 4
        assert sorted(run.seed for run in store.runs()) == list(range(4))
        assert {(run.status, run.attempt) for run in store.runs()} == {(RunStatus.FINISHED, 1)}
    assert first.wait(timeout=60) == 0


def test_a_run_of_a_process_that_is_killed_meanwhile_is_done_here(tmp_path):
    path = tmp_path / "runs.sqlite"
    first = start(path, runs=2, pause=1000.0, workers=1)
    wait_for(path, begun=1)

    class Killing(SilentReporter):
        def note(self, text):
            assert text == "waiting for 1 of another process"
            first.kill()

    with Store.open(path) as store:
        summary = run_all([Walk(0, budget=60), Walk(1, budget=60)], store, reporter=Killing())
        assert summary.finished == [Walk(1).name, Walk(0).name]
        assert store.run(1).attempt == 2
    first.wait(timeout=30)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_run_begins_after_those_it_takes_over_from(store, tmp_path, workers):
    log = tmp_path / "log"
    first, second, third = Link(0, str(log)), Link(1, str(log)), Link(2, str(log))
    second = replace(second, after_seeds=(0,))
    third = replace(third, after_seeds=(0, 1))
    quiet([first, second, third], store, workers=workers)
    assert log.read_text().split() == ["0", "1", "2"]
    assert store.run(3).result["from"] == [0, 1]
    again = replace(third, budget=2)  # what it takes over from is no part of this call
    assert quiet([again], store).finished == [again.name]


def test_a_full_disk_leaves_no_run_behind(store):
    """The claims are given up, so that the same process can do the runs when there is room."""
    limit = [1]
    event.listen(
        store.engine, "begin", lambda c: c.exec_driver_sql(f"PRAGMA max_page_count={limit[0]}")
    )
    with pytest.raises(StoreFault, match="cannot write: database or disk is full"):
        quiet([Walk(0, budget=20_000, label="long")], store)
    assert [run.standing for run in store.runs()] in ([], ["killed"])
    limit[0] = 1_000_000
    assert len(quiet([Walk(0, budget=20_000, label="long")], store).finished) == 1


def start(path: Path, runs: int, pause: float, workers: int) -> subprocess.Popen:
    command = [sys.executable, "-m", toys.__name__, str(path), str(runs), str(pause), str(workers)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, finished: int = 0, begun: int = 0) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.stat().st_size:
            with Store.open(path) as store:
                ended = len(store.runs(status="finished"))
                if ended >= finished and len(store.runs()) >= begun:
                    return
        time.sleep(0.05)
    raise AssertionError(f"never saw {finished} finished runs and {begun} begun")


def test_interrupt_keeps_what_was_recorded(tmp_path):
    path = tmp_path / "runs.sqlite"
    process = start(path, runs=100, pause=0.1, workers=2)
    wait_for(path, finished=1)
    time.sleep(0.25)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=30)
    assert process.returncode == 3, text
    assert "Stopping" in text
    assert "interrupted" in text
    with Store.open(path) as store:
        stopped = store.runs(status="interrupted")
        assert 1 <= len(stopped) <= 2
        assert store.runs(status="running") == []
        for run in stopped:
            assert run.samples == store.samples(run.id)[1].size
        assert any(0 < run.samples < 60 for run in stopped)


def test_kill_and_resume_equals_uninterrupted(tmp_path):
    path = tmp_path / "killed.sqlite"
    process = start(path, runs=8, pause=0.03, workers=2)
    wait_for(path, finished=2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    with Store.open(path) as store:
        finished = {run.key: run.ended for run in store.runs(status="finished")}
        assert 2 <= len(finished) < 8
    with Store.open(path) as store, Store.open() as whole:
        for one in (store, whole):
            quiet([Walk(seed, budget=60) for seed in range(8)], one)
        assert content(store) == content(whole)
        assert len(content(store)) == 8
        after = {run.key: run.ended for run in store.runs()}
        assert finished.items() <= after.items()  # kept, not done again


def test_lines_name_every_run(store):
    stream = io.StringIO()
    walks = [Walk(1), Walk(2, trouble="raise")]
    run_all(walks, store, reporter=LineReporter(stream))
    run_all(walks[:1], store, reporter=LineReporter(stream))
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("[1/2] finished  walk seed 1: 50 of 50, best ")
    assert lines[1] == "[2/2] failed    walk seed 2: RuntimeError: the toy broke"
    assert lines[2] == "1 of 1 runs needed nothing (done, or under way)"


def test_an_interrupted_run_of_other_options_is_named_and_left(store):
    store.claim(Walk(1, budget=7).identity())
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE runs SET status = 'interrupted', git_revision = 'abc'"))
    stream = io.StringIO()
    run_all([Walk(1), Walk(2)], store, reporter=LineReporter(stream))
    assert re.search(
        r"run 1, walk seed 1, was interrupted under other .* by marl-mapper [0-9.]+ \(abc\)",
        stream.getvalue(),
    )
    assert [run.status for run in store.runs()] == ["interrupted", "finished", "finished"]


def test_bars_show_runs(store):
    with terminal(80) as stream:
        run_all([Walk(1, pause_s=0.1), Walk(1, pause_s=0.1)], store, reporter=BarReporter(stream))
    assert "finished  walk seed 1" in stream.text
    assert "2/2" in stream.text


def test_an_address_without_a_cluster_is_an_error_at_once(store):
    pytest.importorskip("ray", reason="needs the extra rllib")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # free again when the block ends
    with pytest.raises(RayConnectionError, match="nobody answers there"):
        quiet([Walk(1)], store, ray_address=f"127.0.0.1:{port}")
    assert store.runs() == []


class Gone(io.StringIO):
    """A terminal that went away."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("reporter", [LineReporter, BarReporter, LoneReporter])
def test_a_terminal_that_went_away_ends_no_run(store, reporter):
    walks = [Walk(seed, pause_s=0.02) for seed in range(2)]
    assert len(run_all(walks, store, reporter=reporter(Gone())).finished) == 2


def test_one_experiment_alone_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream = io.StringIO()
    ended, failure = run_alone(Walk(1, pause_s=0.1), choose_reporter(1, stream))
    assert (ended.outcome, ended.samples, failure) == ("finished", 50, None)
    last = stream.getvalue().splitlines()[-1]
    assert last.startswith("50 of 50 samples, best ")
    assert "samples/s" in last
    assert "% infeasible" in last
    ended, failure = run_alone(Walk(2, trouble="raise"), SilentReporter())
    assert ended.outcome == "failed"
    assert isinstance(failure, RuntimeError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("hang_ups_heard")
@pytest.mark.parametrize(("second", "ends"), [(signal.SIGHUP, False), (signal.SIGINT, True)])
def test_a_second_signal_ends_at_once_unless_the_terminal_is_gone(second, ends):
    flag, told = StopFlag(), []
    with catch_interrupt(flag, lambda: told.append(1)):
        os.kill(os.getpid(), signal.SIGHUP)
        assert flag
        with pytest.raises(KeyboardInterrupt) if ends else contextlib.nullcontext():
            os.kill(os.getpid(), second)
    assert told == [1]


@pytest.mark.usefixtures("hang_ups_heard")
def test_a_hang_up_that_is_ignored_stays_ignored():
    """As ``nohup`` does."""
    flag = StopFlag()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with catch_interrupt(flag, lambda: None):
        os.kill(os.getpid(), signal.SIGHUP)
    assert not flag


def test_what_another_process_still_does_is_not_complete(tmp_path, monkeypatch):
    def stopped(runs, _store, workers):
        return RunSummary(busy=["walk"] * workers, keys=[run.identity().key for run in runs])

    monkeypatch.setattr("marl_runs.runner.runner.run_all", stopped)
    with Store.open(tmp_path / "runs.db") as other:
        other.claim(Walk(0).identity())
        stored, complete = StoreOptions(str(tmp_path / "runs.db")).done([Walk(0)])
    assert [run.status for run in stored] == [RunStatus.RUNNING]
    assert not complete
