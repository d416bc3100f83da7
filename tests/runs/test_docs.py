"""The examples of docs/runs.md run."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from marl_runs import Autosave, CheckpointFormat, Context

PAGE = Path(__file__).resolve().parents[2] / "docs" / "runs.md"
EXPERIMENT, RESUMING = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


class Trainer:
    """Counts episodes."""

    episodes = 0

    def step(self):
        self.episodes += 1

    def state_dict(self):
        return {"episodes": self.episodes}

    def load_state_dict(self, state):
        self.episodes = state["episodes"]


def test_the_long_experiment_goes_on(tmp_path):
    pytest.importorskip("torch", reason="needs an extra with torch")
    form = CheckpointFormat("training", 1)
    form.save(tmp_path / "checkpoint.pt", {"episodes": 3})
    events, trainer = [], Trainer()
    names = {
        "Autosave": Autosave,
        "CheckpointFormat": CheckpointFormat,
        "context": Context(events.append, lambda: False, tmp_path, saves_first=True),
        "trainer": trainer,
        "self": SimpleNamespace(budget=5),
    }
    exec(RESUMING, names)
    assert trainer.episodes == 5
    assert [event.step for event in events] == [3]
    assert list(tmp_path.iterdir()) == []
