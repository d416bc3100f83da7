"""What a particle world is: who moves, how large and fast they are, what each agent sees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from marl_common import at_least, check_name
from mpe_marl.errors import MpeError
from mpe_marl.worlds.moves import ACT_DIM
from mpe_marl.worlds.role_spec import ACCEL, ROLE_SCENARIOS, RoleSpec, cast

LINEAR_SCENARIOS = ("simple_spread", "simple_tag")
"""Worlds whose observations are a fixed linear map of the state."""
SCENARIOS = (*LINEAR_SCENARIOS, *ROLE_SCENARIOS)
VELOCITY_ORDERS = ("mpe2", "openai")

# mpe2 1.1.1, simple_tag.py make_world and simple_spread.py make_world
# radius, acceleration, top speed
_PREDATOR, _PREY, _OBSTACLE_RADIUS = (0.075, 3.0, 1.0), (0.05, 4.0, 1.3), 0.2
_SPREAD = (0.15, ACCEL, np.inf)


@dataclass(frozen=True)
class WorldSpec:
    """One scenario at one size.

    The state of a world is one row: positions of all movers (agents, then prey), their velocities,
    positions of the landmarks, every entry an (x, y) pair.

    Attributes:
        scenario: ``"simple_tag"`` or ``"simple_spread"``.
        n_agents: Agents that learn; in simple_tag the predators.
        n_prey: Prey that the environment moves (simple_tag).
        n_landmarks: Obstacles (simple_tag) or places to cover (simple_spread).
        continuous: Actions are five numbers in [0, 1] instead of one of five moves.
        episode_length: Steps until an episode is cut [steps].
        velocity_order: ``"mpe2"`` moves with the velocity before the step, ``"openai"`` (the
            original multiagent-particle-envs) with the one after it.
    """

    scenario: str
    n_agents: int
    n_prey: int
    n_landmarks: int
    continuous: bool = False
    episode_length: int = 25
    velocity_order: str = "mpe2"

    @property
    def n_movers(self) -> int:
        """Agents and prey."""
        return self.n_agents + self.n_prey

    @property
    def names(self) -> list[str]:
        """Agents that learn, as mpe2 calls them."""
        team = "adversary" if self.scenario == "simple_tag" else "agent"
        return [f"{team}_{i}" for i in range(self.n_agents)]

    @property
    def state_dim(self) -> int:
        """Numbers in one world's state."""
        return 4 * self.n_movers + 2 * self.n_landmarks

    @property
    def obs_dim(self) -> int:
        """Numbers in one agent's observation."""
        return int(self.observation_terms.shape[2])

    @property
    def obs_dims(self) -> tuple[int, ...]:
        """Of every agent."""
        return (self.obs_dim,) * self.n_agents

    @property
    def act_dim(self) -> int:
        """Moves, or numbers in a continuous action."""
        return ACT_DIM

    @property
    def act_dims(self) -> tuple[int, ...]:
        """Of every agent."""
        return (ACT_DIM,) * self.n_agents

    @property
    def first_team(self) -> int:
        """How many movers, from the first, are drawn in the first colour."""
        return self.n_agents

    @property
    def landmark_radii(self) -> NDArray[np.float64]:
        """``(L,)`` radii of landmarks; 0 where movers pass through."""
        return np.full(self.n_landmarks, self.landmark_radius)

    @cached_property
    def movers(self) -> NDArray[np.float64]:
        """``(M, 3)`` radius, acceleration and top speed of each mover."""
        agent = _SPREAD if self.scenario == "simple_spread" else _PREDATOR
        return np.array([agent] * self.n_agents + [_PREY] * self.n_prey)

    @property
    def landmark_radius(self) -> float:
        """Radius of a landmark that movers bump into; 0 when they pass through."""
        return _OBSTACLE_RADIUS if self.scenario == "simple_tag" else 0.0

    @cached_property
    def touch_square(self) -> float:
        """Squared distance below which what is rewarded touches: two agents, or predator and prey.

        The least whose root is not below the sum of the radii, so that squares compare exactly as
        their roots do.
        """
        reach = float(self.movers[0, 0] + self.movers[-1, 0])
        square = reach * reach
        while math.sqrt(square) >= reach:
            square = math.nextafter(square, 0.0)
        return math.nextafter(square, math.inf)

    @cached_property
    def start_extent(self) -> NDArray[np.float64]:
        """``(M + L, 1)`` half width of the square each entity starts in (mpe2 reset_world)."""
        landmark = 0.9 if self.scenario == "simple_tag" else 1.0
        return np.array([[1.0]] * self.n_movers + [[landmark]] * self.n_landmarks)

    @cached_property
    def observation_terms(self) -> NDArray[np.int32]:
        """Every observation as a difference of two state entries.

        Returns:
            ``(2, N, D)`` state columns: feature = state[first] - state[second]. Column
            ``state_dim`` stands for zero. So an observation is a fixed linear map of the state.
        """
        per_agent = [_terms_of(self, i) for i in range(self.n_agents)]
        return np.array(per_agent, dtype=np.int32).transpose(2, 0, 1).copy()


def _terms_of(spec: WorldSpec, agent: int) -> list[tuple[int, int]]:
    """Feature order of mpe2's ``Scenario.observation``: own velocity, own position, the rest."""
    zero, speeds, places = spec.state_dim, 2 * spec.n_movers, 4 * spec.n_movers
    others = [m for m in range(spec.n_movers) if m != agent]
    terms = [(speeds + 2 * agent + c, zero) for c in (0, 1)]
    terms += [(2 * agent + c, zero) for c in (0, 1)]
    terms += [(places + 2 * k + c, 2 * agent + c) for k in range(spec.n_landmarks) for c in (0, 1)]
    terms += [(2 * m + c, 2 * agent + c) for m in others for c in (0, 1)]
    if spec.scenario == "simple_spread":  # what silent agents say: two zeros each
        return terms + [(zero, zero)] * (2 * len(others))
    prey = range(spec.n_agents, spec.n_movers)
    return terms + [(speeds + 2 * m + c, zero) for m in prey for c in (0, 1)]


AnySpec = WorldSpec | RoleSpec


def make_spec(
    scenario: str,
    n_agents: int | None = None,
    *,
    continuous: bool = False,
    episode_length: int = 25,
    velocity_order: str = "mpe2",
    n_prey: int | None = None,
    n_landmarks: int | None = None,
) -> AnySpec:
    """Describe a world.

    simple_spread and simple_tag come in any size, three agents by default. simple_tag grows as in
    "Towards Efficient Multi-Agent Learning Systems": one prey for three
    predators and as many obstacles as prey, at least two; a predator's observation is then 16, 26,
    50, 98 and 194 wide for 3, 6, 12, 24 and 48 predators. simple_adversary has one adversary
    among ``n_agents``, simple_world_comm a third of good agents; the others have two agents.

    Raises:
        MpeError: An unknown scenario or velocity order, or a size that the scenario has not.
    """
    check_name("world", scenario, SCENARIOS, MpeError)
    check_name("velocity order", velocity_order, VELOCITY_ORDERS, MpeError)
    at_least("episode_length", episode_length, 1, MpeError)
    if scenario in ROLE_SCENARIOS:
        for name, given in (("n_prey", n_prey), ("n_landmarks", n_landmarks)):
            if given is not None:
                raise MpeError(f"{name}={given} has no meaning in {scenario}; leave it out.")
        solid = scenario in ("simple_push", "simple_world_comm")
        return RoleSpec(
            scenario, *cast(scenario, n_agents), solid, continuous, episode_length, velocity_order
        )
    n = at_least("n_agents", 3 if n_agents is None else n_agents, 1, MpeError)
    if scenario == "simple_spread":
        if n_prey:
            raise MpeError(f"n_prey={n_prey} has no meaning in simple_spread; leave it out.")
        prey, landmarks = 0, n if n_landmarks is None else n_landmarks
    else:
        prey = max(1, n // 3) if n_prey is None else at_least("n_prey", n_prey, 1, MpeError)
        landmarks = max(2, n // 3) if n_landmarks is None else n_landmarks
    at_least("n_landmarks", landmarks, 0 if scenario == "simple_tag" else 1, MpeError)
    return WorldSpec(scenario, n, prey, landmarks, continuous, episode_length, velocity_order)
