"""What command lines ask for: a configuration, and how runs are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from marl_common import Given, option, settings_of
from marl_runs import RunningOptions, StoreOptions, tell
from mast.config import MastConfig
from mast.experiment import ValueTraining


@dataclass(frozen=True)
class MastAsked(Given):
    """Settings of one configuration.

    Attributes:
        faithful: Buffers, operator and optimiser as the paper has them.
        settings_by_name: A setting that only a part has, such as one of your own: NAME=VALUE.
            Repeatable.
    """

    parts = (MastConfig,)
    takes_rest = True

    faithful: bool = option(False, "", "--faithful")
    settings_by_name: tuple[str, ...] = option((), "", "--set")

    def config(self) -> MastConfig:
        """The configuration.

        Raises:
            MastError: A setting is wrong, or a text no NAME=VALUE.
            DeviceError: The device cannot be used here.
        """
        return self.varied([{}])[0]

    def varied(self, cells: Sequence[Mapping[str, Any]]) -> list[MastConfig]:
        """The configuration with each of some settings in place of those that are given.

        Raises:
            MastError: See :meth:`config`.
        """
        from marl_runs import usable_device
        from mast.settings import make_config, parsed

        by_name = parsed(self.settings_by_name)
        values = {**self.rest, **self.given}
        configs = [make_config({**values, **c, **by_name}, faithful=self.faithful) for c in cells]
        if configs[0].device != "cpu":
            usable_device(configs[0].device)
        for name in by_name:
            if (setting := settings_of(MastConfig).get(name)) is not None:
                flag = (*setting[1].names, f"--{name.replace('_', '-')}")[0]
                tell(f"--set {name}=VALUE leaves with the next version; write {flag} instead")
        return configs


class ComparedAsked(MastAsked):
    """What all arms of a comparison share; tasks and sparsities may be several."""

    several = ("task", "sparsity")
    without = ("arm", "without")
    shown: ClassVar[Mapping[str, str]] = {"task": "tag-3", "sparsity": "0.9"}
    defaults: ClassVar[Mapping[str, Any]] = {"backend": "compiled"}

    def cells(self, arms: str) -> list[MastConfig]:
        """The configuration of each task, arm and sparsity.

        Args:
            arms: Arms by commas.
        """
        from mast.running import cells_of

        tasks, sparsities = self.given.get("task", ["tag-3"]), self.given.get("sparsity", [0.9])
        cells = cells_of(tasks, arms.split(","), sparsities, self.given["backend"])
        return self.varied(cells)


class CountedAsked(MastAsked):
    """What operations are counted of; sparsities may be several."""

    several = ("sparsity",)
    shown: ClassVar[Mapping[str, str]] = {"sparsity": "0.9 0.95"}
    defaults: ClassVar[Mapping[str, Any]] = {"backend": "compiled"}

    def configs(self) -> list[MastConfig]:
        """The configuration of each sparsity."""
        return self.varied([{"sparsity": s} for s in self.given.get("sparsity", [0.9, 0.95])])


@dataclass(frozen=True)
class MastStore(StoreOptions):
    """Where runs are kept."""

    store: str = option("mast-runs.db")


@dataclass(frozen=True)
class MastRunning(RunningOptions):
    """How runs are done and kept.

    Attributes:
        steps: Steps of the environment.
        episodes: Greedy episodes to play.
        keep_all: Keep the team of every evaluation, not of the best alone.
    """

    store: str = option("mast-runs.db")
    steps: int = option(300_000, low=1, high=10**12)
    episodes: int = option(1024, low=1, high=10**6)
    keep_all: bool = option(False, "", "--keep-all")

    def runs(self, configs: Sequence[MastConfig], seeds: Sequence[int]) -> list[ValueTraining]:
        """A run of each configuration and seed, checked.

        Raises:
            MastError: A configuration cannot be trained.
        """
        from mast.costs import check_run

        for config in configs:
            check_run(config)
        return [
            ValueTraining(
                config, seed, self.steps, self.episodes, self.threads, self.log, self.keep_all
            )
            for config in configs
            for seed in seeds
        ]
