"""The agents' turns as RLlib's multi-agent environment: one agent acts at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv

import cost_models
from maestro_env import Objective
from mapper.pretrained.proposer import ProposedMappings
from mapper.pretrained.state import arrange, begin, take
from mapper.pretrained.training.sampling import Batch
from mapper.pretrained.turns import KINDS, Turn, all_turns
from mapper.pretrained.view import CHOICE_FEATURES, CONTEXT_FEATURES, STATE_FEATURES, View, look

MOST = 192
"""Choices that an observation has room for; problems of more are drawn anew."""
OBSERVATION = CONTEXT_FEATURES + MOST * (CHOICE_FEATURES + 1)
UNFIT = -1e4
"""Reward of an infeasible mapping; others get minus the logarithm of their value."""
ROW = np.zeros(1, np.int64)
ALL_SEEN = np.ones(STATE_FEATURES, np.float32)


class TurnEnv(MultiAgentEnv):
    """A random problem for some episodes, then another; an episode makes one mapping.

    An agent is a kind of parameter (`KINDS`). It observes the context, the features of each choice
    and which ones are legal, as one vector, and picks a choice. A loop order is picked loop by
    loop, the outermost first, by the same agent from the same scores: Plackett and Luce's model.
    All agents that acted get the same reward at the end.

    Args:
        config: ``cost_model``, ``samples`` (episodes a problem) and ``seed``.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.model = cost_models.load(config["cost_model"])
        self.samples = int(config["samples"])
        self.rng = np.random.default_rng(config["seed"])
        self.possible_agents = list(KINDS)
        self.agents = list(KINDS)
        box = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATION,), np.float32)
        self.observation_spaces = dict.fromkeys(KINDS, box)
        choice: gymnasium.spaces.Space[Any] = gymnasium.spaces.Discrete(MOST)
        self.action_spaces: dict[str, Any] = dict.fromkeys(KINDS, choice)
        self.episodes = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin a mapping, of a fresh problem after `samples` of the last one."""
        if self.episodes % self.samples == 0:
            self.batch = self._problem()
        self.episodes += 1
        self.state = begin(self.batch.tables, ROW)
        self.left = list(all_turns())
        self.acted: set[str] = set()
        self._advance()
        return self._observed(), {}

    def step(self, action_dict: Mapping[str, Any]) -> Any:
        """Carry out the choice of the agent whose turn it is."""
        picked = int(action_dict[self.turn.kind])
        if not (0 <= picked < len(self.legal) and self.legal[picked]):
            raise ValueError(f"{self.turn.kind}: choice {picked} is not legal")
        self.acted.add(self.turn.kind)
        self.picks.append(picked)
        self.legal[picked] = False
        more = self.turn.is_order and self.legal.sum() > 1
        if not more:
            self._carry_out()
            more = self._advance()
        if not more:
            return self._ended()
        going = {"__all__": False}
        return self._observed(), {self.turn.kind: 0.0}, going, going, {}

    def _problem(self) -> Batch:
        while True:
            batch = Batch.random(1, self.model, self.rng)
            if batch.tables.counts.max() <= MOST:
                return batch

    def _advance(self) -> bool:
        """Go to the next turn in which there is something to choose; False where none is left."""
        while self.left:
            self.turn: Turn = self.left.pop(0)
            tables, index = self.batch.tables, self.turn.index
            self.view: View = look(index, tables, ROW, self.state, ALL_SEEN)
            self.legal: NDArray[np.bool_] = self.view.legal[0].copy()
            self.picks: list[int] = []
            if self.legal.sum() > 1:
                return True
            self._carry_out()
        return False

    def _carry_out(self) -> None:
        tables, index = self.batch.tables, self.turn.index
        if self.turn.is_order:
            ranks = np.array([[*self.picks, *np.flatnonzero(self.legal)]], np.int64)
            arrange(index, tables, ROW, ranks, self.view.legal, self.state)
        else:
            picked = self.picks[0] if self.picks else int(np.argmax(self.view.legal[0]))
            take(index, tables, ROW, np.array([picked]), self.state)

    def _observed(self) -> dict[str, NDArray[np.float32]]:
        seen = np.zeros(OBSERVATION, np.float32)
        width = len(self.legal)
        seen[:CONTEXT_FEATURES] = self.view.context[0]
        choices = seen[CONTEXT_FEATURES:].reshape(MOST, CHOICE_FEATURES + 1)
        choices[:width, :-1] = self.view.choices[0]
        choices[:width, -1] = self.legal
        return {self.turn.kind: seen}

    def _ended(self) -> Any:
        problem = self.batch.problems[0]
        mappings = ProposedMappings(ROW, self.state).mappings()
        costs = self.model.evaluate_batch(problem.layer, problem.accelerator, mappings)
        value = Objective.parse(problem.objective).values(costs)[0]
        reward = -float(np.log(value)) if np.isfinite(value) else UNFIT
        agents = sorted(self.acted)
        last = dict.fromkeys(agents, np.zeros(OBSERVATION, np.float32))
        return last, dict.fromkeys(agents, reward), {"__all__": True}, {"__all__": False}, {}
