"""Experiments that are quick, deterministic, and misbehave on request; also a program of them."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from marl_runs import Context, Experiment, LineReporter, Store, run_all


@dataclass(frozen=True)
class Walk(Experiment):
    """Draws `budget` samples in batches of 10.

    `trouble` is ``"raise"``, ``"die"`` or ``"die once"`` (in the middle), or ``"object"`` (a result
    that JSON cannot hold); `marker` is a file that tells whether it died before; `pause_s` slows
    every batch.
    """

    kind: ClassVar[str] = "toy"
    seed: int
    budget: int = 50
    label: str = "walk"
    trouble: str = ""
    marker: str = ""
    pause_s: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.label} seed {self.seed}"

    def spec(self) -> Mapping[str, Any]:
        return {"label": self.label, "trouble": self.trouble}

    def run(self, context: Context) -> Mapping[str, Any]:
        rng = np.random.default_rng(self.seed)
        best = np.inf
        context.so_far = lambda: {"so far": context.recorded}
        for start in range(0, self.budget, 10):
            actions = rng.integers(0, 300, size=(min(10, self.budget - start), 3))
            values = actions.sum(axis=1).astype(float)
            values[actions[:, 0] > 250] = np.inf
            context.record(actions, values)
            context.metric("mean", float(actions.mean()), start)
            best = min(best, float(values.min()))
            if start >= self.budget // 2:
                self._misbehave()
            time.sleep(self.pause_s)
        curve = object() if self.trouble == "object" else [[self.budget, best]]
        return {"samples": self.budget, "best_value": best, "curve": curve}

    def _misbehave(self) -> None:
        if self.trouble == "raise":
            raise RuntimeError("the toy broke")
        if self.trouble == "die" or (self.trouble == "die once" and not Path(self.marker).exists()):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Link(Experiment):
    """Waits for others by their seeds, and writes its own seed into a log when it is over."""

    kind: ClassVar[str] = "link"
    seed: int
    log: str
    budget: int = 1
    after_seeds: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"link {self.seed}"

    def spec(self) -> Mapping[str, Any]:
        return {}

    @property
    def after(self) -> list[str]:
        return [Link(seed, self.log).identity().key for seed in self.after_seeds]

    def run(self, context: Context) -> Mapping[str, Any]:
        left = [int((context.folder_of(key) / "seed").read_text()) for key in self.after]
        time.sleep(0.3 if self.seed == 0 else 0.0)
        (context.folder / "seed").write_text(str(self.seed))
        with open(self.log, "a") as log:
            log.write(f"{self.seed}\n")
        return {"from": left}


def main() -> None:
    """``toys.py STORE RUNS PAUSE_S WORKERS``: run that many walks."""
    store, runs, pause, workers = sys.argv[1:5]
    walks = [Walk(seed, budget=60, pause_s=float(pause)) for seed in range(int(runs))]
    with Store.open(store) as opened:
        summary = run_all(walks, opened, workers=int(workers), reporter=LineReporter(sys.stderr))
    sys.exit(3 if summary.stopped else 0)


if __name__ == "__main__":
    main()
