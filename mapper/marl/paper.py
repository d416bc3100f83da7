"""The paper's method as printed, in this process: every agent chooses anew in each sample."""

from __future__ import annotations

import numpy as np

from baselines import Moves
from maestro_env import Problem
from mapper.clustering.assignment import Assignment
from mapper.marl.config import MarlConfig
from mapper.marl.elites import Elites
from mapper.marl.learner_setup import policy_space, reproducible
from mapper.marl.observation_and_reward import PrintedFeedback
from mapper.marl.policies import OBSERVATION, Mixture, Policies
from mapper.marl.ppo import PPO, Transitions, entropy_left
from mapper.marl.proposals import Proposals
from marl_common import IntArray


class PaperLearner:
    """Decentralised PPO without elites, moves, a surrogate or proposals; repeats cost samples.

    An agent observes <latency, power, energy, area> of its world's last mapping, all agents are
    rewarded with 1 / X (Sec. V), and each learns from all of its own draws.

    Args:
        problem: What to minimise; its counters are the run's.
        assignment: Which agent owns which parameter.
        config: The options; `mode` is ``"paper"``.
        rng: Randomness of everything but the first weights, which it seeds.
    """

    def __init__(
        self,
        problem: Problem,
        assignment: Assignment,
        config: MarlConfig,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.config, self.rng = problem, config, rng
        self.columns: IntArray = np.flatnonzero(problem.space.nvec > 1)
        space = policy_space(problem, assignment, self.columns)
        seed = int(rng.integers(2**31))
        self.policies = Policies(space, config.hidden, seed, False, config.autoregressive)
        mixture = Mixture(space, share=1.0, local=0.0)
        self.worlds = Proposals(space, Moves(problem.space), self.columns, mixture, config)
        self.ppo = PPO(self.policies, mixture, config)
        self.feedback = PrintedFeedback(problem)
        self.none = Elites.empty(len(self.columns), OBSERVATION)

    def run(self) -> None:
        """Search until the problem's budget is used up (it raises BudgetExhausted)."""
        seen = np.zeros((self.config.worlds, OBSERVATION), np.float32)
        with reproducible():
            while True:
                parts: list[Transitions] = []
                while sum(len(part.reward) for part in parts) < self.config.batch:
                    part, seen = self._play(seen)
                    parts.append(part)
                batch = Transitions.join(_returned(parts, self.config.discount))
                self.ppo.update(batch, entropy_left(self.problem, self.config), self.none)

    def _play(self, seen: np.ndarray) -> tuple[Transitions, np.ndarray]:
        """A sample in every world; what the agents will observe of it next."""
        drawn = self.worlds.free(self.policies, seen, len(seen), self.rng)
        actions = np.zeros((len(seen), len(self.problem.space.nvec)), np.int64)
        actions[:, self.columns] = drawn.chosen
        observed, rewards = self.feedback(self.problem.evaluate(actions))
        observation, current, chosen, acting, free, _ = drawn
        return Transitions(observation, current, chosen, acting, free, rewards), observed


def _returned(parts: list[Transitions], discount: float) -> list[Transitions]:
    """Successive samples of some worlds, each rewarded with its discounted return."""
    found: list[Transitions] = []
    ahead = np.zeros(len(parts[-1].reward))
    for part in reversed(parts):
        ahead = part.reward + discount * ahead
        found.append(part._replace(reward=ahead))
    return found[::-1]
