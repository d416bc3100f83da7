"""Everything that defines a training run but its seed and length."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marl_common import check_settings, option
from mpe_marl.errors import MpeError
from mpe_marl.learners.config import LATER_OF_LEARNER, LearnerConfig
from mpe_marl.replay import NEIGHBORS
from mpe_marl.worlds import LINEAR_SCENARIOS, AnySpec, make_spec
from mpe_marl.worlds.imported import check_place

LAYOUTS = ("lists", "arrays", "joint", "state")
"""Names of the replay's layouts, known before these are compiled."""
MOST_ROWS = 10**9
MOST_AGENTS = 1000
"""A transition grows with the square of the agents: with more, a single one takes megabytes."""
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

    world: str = option(
        "simple_tag",
        "simple_tag, simple_spread (any number of agents), simple_adversary, simple_push, "
        "simple_speaker_listener, simple_reference, simple_world_comm, or module:function.",
        "--world", "-w",
    )  # fmt: skip
    n_agents: int = option(3, "Agents that learn.", "--agents", "-n", low=1, high=MOST_AGENTS)
    continuous: bool = option(False, "Continuous actions.", "--continuous")
    velocity_order: str = option(
        "mpe2", "Own worlds: which of velocity and position moves first, as mpe2 or openai has it."
    )
    engine: str = option("compiled", "compiled, or mpe2.", known=("compiled", "mpe2"))
    n_worlds: int = option(1, "Worlds side by side.", "--worlds", low=1, high=10**6)
    layout: str = option("joint", "Replay: lists, arrays, joint or state.", known=LAYOUTS)
    law: str = option(
        "uniform",
        "uniform, recent, neighbor, neighbor-drop, neighbor-clip, runs, prioritised; shared, "
        "shared-neighbor, ... for one batch of all trainers.",
    )
    neighbors: int = option(NEIGHBORS, "Neighbours on each side, of such laws.", low=1, high=10_000)
    capacity: int = option(1_000_000, "Transitions kept.", low=1, high=MOST_ROWS)
    batch: int = option(1024, "Transitions in a mini-batch.", low=1, high=MOST_ROWS)
    update_every: int = option(100, "Samples between updates.", low=1, high=MOST_ROWS)
    warmup: int | None = option(None, "Samples first.", kind=int, low=1, shown="25 batches")
    learner: LearnerConfig = field(default_factory=LearnerConfig)

    def __post_init__(self) -> None:
        from mpe_marl.replay import check_law  # compiled

        if self.spec is None:
            check_place(self.world)
        check_settings(self, MpeError)
        check_law(self.law, self.neighbors)
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
