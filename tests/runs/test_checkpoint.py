"""Checkpoints: what they hold, what they refuse, and saving a long run."""

import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs an extra with torch")

from marl_runs import (
    Autosave,
    CheckpointError,
    CheckpointFormat,
    Context,
    Experiment,
    SilentReporter,
    Store,
    run_all,
)

FORM = CheckpointFormat("toys", 3, {1: lambda s: {"a": s["x"]}, 2: lambda s: {"b": s["a"]}})
STATE = {
    "tensor": torch.arange(6.0).reshape(2, 3),
    "array": np.array([[1, 2]], dtype=np.uint64),
    "empty": np.empty((0, 3), dtype=np.bool_),
    "plain": [1, 2.5, "text", None, True, np.int64(3)],
    "deep": {"again": [np.arange(3, dtype=np.int8), {"t": torch.ones(1)}]},
}


def test_a_state_comes_back_as_it_was(tmp_path):
    FORM.save(tmp_path / "deep" / "a.pt", STATE)
    back = FORM.load(tmp_path / "deep" / "a.pt")
    assert torch.equal(back["tensor"], STATE["tensor"])
    for name in ("array", "empty"):
        assert back[name].dtype == STATE[name].dtype
        np.testing.assert_array_equal(back[name], STATE[name])
    assert back["plain"] == STATE["plain"]
    np.testing.assert_array_equal(back["deep"]["again"][0], np.arange(3))
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.pt"]


def test_a_view_does_not_carry_along_what_it_is_a_view_of(tmp_path):
    large = torch.zeros(100_000)
    FORM.save(tmp_path / "a.pt", {"part": large[:3], "rows": np.zeros((100_000, 2))[:3]})
    assert (tmp_path / "a.pt").stat().st_size < 5_000


def test_older_versions_are_upgraded_step_by_step(tmp_path):
    torch.save({"x": torch.ones(2), "version": 1}, tmp_path / "old.pt")
    assert torch.equal(FORM.load(tmp_path / "old.pt")["b"], torch.ones(2))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 0}, "version 0, written by an earlier version of marl-mapper, which named n"),
        ({"kind": "toys", "version": 9, "written_by": "marl-mapper 7", "state": {}}, "by marl-m"),
        ({"kind": "others", "version": 3, "written_by": "x", "state": {}}, "a checkpoint of oth"),
        ({"version": 1}, r"is damaged, or belongs to something else \(KeyError: 'x'\)"),
        ([1, 2], "holds a list"),
        ({"version": 3, "evil": Context}, "holds more than tensors and plain values"),
    ],
)
def test_what_is_no_such_checkpoint_is_refused(content, message, tmp_path):
    torch.save(content, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match=message) as caught:
        FORM.load(tmp_path / "a.pt")
    assert "\n" not in str(caught.value)


def test_files_that_are_no_checkpoint_are_refused(tmp_path):
    (tmp_path / "a.pt").write_bytes(b"no checkpoint")
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        FORM.load(tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="there is no such file"):
        FORM.load(tmp_path / "b.pt")


def test_what_no_checkpoint_holds_is_named_when_it_is_saved(tmp_path):
    with pytest.raises(TypeError, match=r"state\['a'\]\[1\] is a set"):
        FORM.save(tmp_path / "a.pt", {"a": [1, {2}]})
    assert list(tmp_path.iterdir()) == []


PAGE = Path(__file__).parents[2] / "docs" / "runs.md"
_, RESUMING = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@dataclass
class Trainer:
    """Counts episodes; interrupts itself after the seventh, unless it goes on from a checkpoint."""

    context: Context
    episodes: int = 0
    began: int = 0

    def step(self) -> None:
        self.episodes += 1
        self.context.metric("count", self.episodes, self.episodes)
        self.context.progress(self.episodes)
        if (self.episodes, self.began) == (7, 0):
            os.kill(os.getpid(), signal.SIGINT)

    def state_dict(self) -> dict[str, Any]:
        return {"episodes": self.episodes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.episodes = self.began = state["episodes"]


@dataclass(frozen=True)
class Long(Experiment):
    """The one of docs/runs.md that goes on."""

    kind: ClassVar[str] = "long"
    name: ClassVar[str] = "long"
    continues: ClassVar[bool] = True
    seed: int = 0
    budget: int = 20

    def spec(self) -> Mapping[str, Any]:
        return {}

    def run(self, context: Context) -> Mapping[str, Any]:
        trainer = Trainer(context)
        names = {"Autosave": Autosave, "CheckpointFormat": CheckpointFormat}
        exec(RESUMING, {**names, "context": context, "trainer": trainer, "self": self})
        return {"samples": self.budget, "began": trainer.began}


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    with Store.open(tmp_path / "runs.sqlite") as store:
        assert run_all([Long()], store, reporter=SilentReporter()).interrupted == ["long"]
        assert store.run(1).samples == 7
        (saved,) = tmp_path.rglob("checkpoint.pt")
        assert CheckpointFormat("training", 1).load(saved) == {"episodes": 7}
        assert run_all([Long()], store, reporter=SilentReporter()).finished == ["long"]
        assert store.run(1).result["began"] == 7
        assert store.metrics(1, "count")[0].tolist() == list(range(1, 21))
        assert not saved.exists()


def test_one_flipped_bit_of_a_tensor_is_noticed(tmp_path):
    path = tmp_path / "state.pt"
    kept = CheckpointFormat("a thing", 1)
    kept.save(path, {"weights": torch.arange(4096, dtype=torch.float32), "step": 3})
    content = torch.load(path, weights_only=True)
    content["state"]["weights"][2048] += 1
    torch.save(content, path)
    with pytest.raises(CheckpointError, match="its values are not those that were written"):
        kept.load(path)
