"""Everything that defines a training run but its seed and length."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mpe_marl.errors import MpeError, at_least, unknown_name
from mpe_marl.learners.config import LATER_OF_LEARNER, LearnerConfig
from mpe_marl.replay import LAYOUTS, NEIGHBORS, check_law
from mpe_marl.worlds import LINEAR_SCENARIOS, AnySpec, make_spec
from mpe_marl.worlds.imported import check_place

LATER = {"neighbors": NEIGHBORS}
"""Settings that came after the first runs were stored, and what these had."""


@dataclass(frozen=True)
class TrainConfig:
    """A training run; the papers' values by default.

    Attributes:
        world: One of :data:`mpe_marl.worlds.SCENARIOS`, or ``"package.module:function"`` for any
            PettingZoo ParallelEnv that the function makes.
        n_agents: Agents that learn (own worlds; others bring their number).
        continuous: Continuous actions (own worlds).
        velocity_order: ``"mpe2"`` or ``"openai"`` (own worlds).
        engine: ``"compiled"``, or ``"mpe2"`` to step own worlds by mpe2, as the papers do.
        n_worlds: Worlds played side by side.
        layout: Replay layout.
        law: Sampling law.
        neighbors: Neighbours on each side, of laws that draw neighborhoods.
        capacity: Transitions kept.
        batch: Transitions in a mini-batch.
        update_every: Samples added between two updates of all trainers.
        warmup: Samples before the first update; None: 25 batches, as openai/maddpg.
        learner: The learner's settings.
    """

    world: str = "simple_tag"
    n_agents: int = 3
    continuous: bool = False
    velocity_order: str = "mpe2"
    engine: str = "compiled"
    n_worlds: int = 1
    layout: str = "joint"
    law: str = "uniform"
    neighbors: int = NEIGHBORS
    capacity: int = 1_000_000
    batch: int = 1024
    update_every: int = 100
    warmup: int | None = None
    learner: LearnerConfig = field(default_factory=LearnerConfig)

    def __post_init__(self) -> None:
        if self.spec is None:
            check_place(self.world)
        for what, name, known in (
            ("replay layout", self.layout, LAYOUTS),
            ("engine", self.engine, ("compiled", "mpe2")),
        ):
            if name not in known:
                raise unknown_name(what, name, known)
        check_law(self.law, self.neighbors)
        for name in ("n_worlds", "capacity", "batch", "update_every"):
            at_least(name, getattr(self, name), 1)
        mode, shared = self.learner.mode, self.law.startswith("shared")
        if mode in ("shared", "folded") and not shared:
            raise MpeError(
                f"update mode {mode!r} needs one batch for all trainers, law {self.law!r} draws "
                "one each; use law 'shared' or mode 'batched'."
            )
        if self.learner.on_policy:
            self._check_on_policy()
        if mode == "folded" and self.layout != "state":
            raise MpeError("update mode 'folded' needs states; use replay layout 'state'.")
        if self.layout == "state" and self.world not in LINEAR_SCENARIOS:
            raise MpeError(
                f"layout 'state' in world {self.world!r}: it needs observations that are a linear "
                f"map of the state; expected one of {', '.join(LINEAR_SCENARIOS)}. Use 'joint'."
            )

    def _check_on_policy(self) -> None:
        """Make sure that nothing is said of a replay, and that worlds fill a rollout together.

        Raises:
            MpeError: Something is.
        """
        algorithm = self.learner.algorithm
        for name in ("layout", "law", "neighbors", "warmup"):
            value, usual = getattr(self, name), getattr(TrainConfig, name)
            if value != usual:
                raise MpeError(
                    f"{name}={value!r} with algorithm {algorithm!r}, which has no replay; "
                    "expected the default. Leave it out."
                )
        if self.update_every % self.n_worlds:
            raise MpeError(
                f"update_every={self.update_every} with {self.n_worlds} worlds and algorithm "
                f"{algorithm!r}; expected a multiple of the worlds."
            )

    @property
    def spec(self) -> AnySpec | None:
        """The world, where it is one of this package's."""
        if ":" in self.world:
            return None
        return make_spec(
            self.world, self.n_agents, continuous=self.continuous,
            velocity_order=self.velocity_order,
        )  # fmt: skip

    @property
    def first_update(self) -> int:
        """Samples before the first update."""
        if self.learner.on_policy:
            return self.update_every
        return 25 * self.batch if self.warmup is None else self.warmup

    def plain(self) -> dict[str, Any]:
        """The settings as JSON values.

        What came later and is not used is left out, so that stored runs are the same ones still.
        """
        settings = dataclasses.asdict(self)
        for table, later in ((settings, LATER), (settings["learner"], LATER_OF_LEARNER)):
            for name, value in later.items():
                if table[name] == value:
                    del table[name]
        return settings

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TrainConfig:
        """Settings from what :meth:`plain` gave."""
        learner = LearnerConfig(**values["learner"])
        return cls(**{**values, "learner": learner})
