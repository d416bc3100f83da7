"""What command lines ask for: settings of a run, and of a measurement, on top of what is usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from marl_common import LARGEST_SEED, MOST_THREADS, Given, option
from marl_runs import RunningOptions, writable
from mpe_marl.experiment import Training
from mpe_marl.learners.config import LearnerConfig
from mpe_marl.train_config import MOST_ROWS, TrainConfig
from mpe_marl.usual import PLAYED, QUICK, usual_config

if TYPE_CHECKING:
    from mpe_marl.policy import Policy

_OR_PPO = "{}; ippo, mappo: {}"
_QUICK = "simple_tag, simple_spread: {}; else, and beside other such options: {}"


def _usually(name: str) -> Any:
    """The default of a setting."""
    return getattr(LearnerConfig if hasattr(LearnerConfig, name) else TrainConfig, name)


class Settings(Given):
    """Settings of a training run that a command line gives."""

    parts = (TrainConfig, LearnerConfig)

    def split(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Fields of :class:`TrainConfig`, and of :class:`LearnerConfig`, that are given."""
        found: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for part, name, key, _, _ in self.settings():
            if key in self.given:
                found[part is LearnerConfig][name] = self.given[key]
        return found


@dataclass(frozen=True)
class TrainingAsked(Settings):
    """What `train` is asked for.

    Attributes:
        preset: What the options that are left out stand for: fast (what is quickest here), or paper
            (uniform batches from lists, one network after the other, mpe2's worlds).
    """

    shown: ClassVar[Mapping[str, Any]] = {
        "n_agents": "3, or as many as the world has",
        **{name: _QUICK.format(value, _usually(name)) for name, value in QUICK.items()},
        **{name: _OR_PPO.format(_usually(name), value) for name, value in PLAYED.items()},
        "engine": "as the preset has it",
    }

    preset: str = option("fast")

    def config(self) -> TrainConfig:
        """Settings of the run.

        Raises:
            MpeError: They do not fit together, or there is no such preset.
        """
        return usual_config(*self.split(), self.preset)


class MeasuredAsked(Settings):
    """What is measured: worlds, learners and replay, of each number of agents."""

    several: ClassVar[Sequence[str]] = ("n_agents",)
    shown: ClassVar[Mapping[str, Any]] = {"n_agents": "3 6 12"}
    said: ClassVar[Mapping[str, Any]] = {
        "n_agents": "Repeatable.",
        "algorithm": "maddpg, masac, matd3 or iddpg.",
    }
    only: ClassVar[Sequence[str]] = ("n_agents", "world", "algorithm", "batch")
    defaults: ClassVar[Mapping[str, Any]] = {
        "world": "simple_tag",
        "algorithm": "maddpg",
        "batch": 1024,
    }

    def configs(self, rows: int) -> list[TrainConfig]:
        """Settings for each algorithm and number of agents.

        Args:
            rows: Transitions in the replay.

        Raises:
            MpeError: They do not fit together.
        """
        train, learner = self.split()
        sizes, algorithm = train.pop("n_agents", None) or [3, 6, 12], learner.pop("algorithm", None)
        return [
            TrainConfig(**train, n_agents=n, capacity=rows, learner=LearnerConfig(name, **learner))
            for name in ([algorithm] if isinstance(algorithm, str) else algorithm or ["maddpg"])
            for n in sizes
        ]


class ProfiledAsked(MeasuredAsked):
    """What `profile` measures; by default the papers' baseline."""

    several = ("n_agents", "algorithm")
    said: ClassVar[Mapping[str, Any]] = dict.fromkeys(several, "Repeatable.")
    only = (*MeasuredAsked.only, "mode", "layout", "law", "engine", "device")
    defaults: ClassVar[Mapping[str, Any]] = {
        **MeasuredAsked.defaults, "mode": "loop", "layout": "lists", "law": "uniform",
        "engine": "mpe2", "device": "cpu",
    }  # fmt: skip


@dataclass(frozen=True)
class OnceEffort:
    """How much is measured.

    Attributes:
        rows: Transitions in the store.
        repeats: Cycles; each phase keeps its fastest.
        threads: Processor threads.
        figures: Folder for pictures; else none.
    """

    rows: int = option(20_000, low=1, high=MOST_ROWS)
    repeats: int = option(5, low=1, high=10**6)
    threads: int = option(1, low=1, high=MOST_THREADS)
    figures: Path | None = option(None, kind=Path)

    def __post_init__(self) -> None:
        if self.figures is not None:
            writable(self.figures)


@dataclass(frozen=True)
class Effort(OnceEffort):
    """How much is measured of variants that take turns.

    Attributes:
        rounds: Fresh processes of each variant, in turn.
    """

    rows: int = option(100_000, low=1, high=MOST_ROWS)
    rounds: int = option(3, low=1, high=1000)


@dataclass(frozen=True)
class Playing:
    """Episodes that a policy plays.

    Attributes:
        seed: The same seed, the same starts.
        store: Where the run is kept.
    """

    seed: int = option(0, low=0, high=LARGEST_SEED)
    store: str = option("mpe-runs.db")

    def policy(self, run: str) -> Policy:
        """The policy that a finished run kept."""
        from marl_runs import Store, kept_run
        from mpe_marl.policy import POLICY, Policy

        with Store.open(self.store, create=False) as opened:
            return Policy.load(opened.folder(kept_run(opened, run, ["mpe"]).key) / POLICY)


@dataclass(frozen=True)
class TrainingOptions(RunningOptions):
    """How training runs are done.

    Attributes:
        episodes: Episodes of a run.
        replay_dir: Folder for replay that does not fit in memory.
    """

    store: str = option("mpe-runs.db")
    episodes: int = option(60_000, low=1, high=10**12)
    replay_dir: Path | None = option(None, kind=Path)

    def runs(self, config: TrainConfig, seeds: Sequence[int]) -> list[Training]:
        """A run of each seed."""
        every = min(100, max(1, self.episodes // 20))
        place = None if self.replay_dir is None else str(self.replay_dir)
        return [
            Training(config, seed, self.episodes, every, place, self.threads, self.log)
            for seed in seeds
        ]
