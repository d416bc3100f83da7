"""The batched learner: decentralised PPO over many worlds in one process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines import Dedup, Moves, NestMemory, Screening
from cost_models import ChainBatch, MappingBatch
from maestro_env import BudgetExhausted, Evaluation, Problem
from mapper.clustering.assignment import Assignment
from mapper.marl.checkpoint import SEARCH, check_identity, identity_of
from mapper.marl.config import MarlConfig
from mapper.marl.elites import Elites, Plateau
from mapper.marl.learner_setup import policy_space, reproducible
from mapper.marl.observation_and_reward import Observer, problem_facts
from mapper.marl.policies import OBSERVATION, Mixture, Policies
from mapper.marl.policy_transfer import NamedPolicies, adopt, hand_on, warm
from mapper.marl.ppo import PPO, Transitions, entropy_left
from mapper.marl.proposals import Choices, Proposals
from mapper.marl.repeats import Repeats
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.weights import NONE, Agents, agents_of

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
NUMBERS = ("restarts", "before", "kept", "begun", "idle")
"""Counters of a search that its checkpoints keep."""
ATTEMPTS = 6
"""Draws after which a world that keeps repeating seen loop nests takes a random mapping."""
FEW, ARCHIVE = 8, 64
"""Mappings kept of each epoch, and of all."""
SPARE = 3
"""Worlds drawn for each one wanted, as many run a loop nest that was seen before."""


class BatchedLearner:
    """Agents that choose, are rewarded alike, and learn, `worlds` samples at a time.

    Args:
        problem: What to minimise; its counters are the run's.
        assignment: Which agent owns which parameter.
        config: The options.
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
        state = json.dumps(rng.bit_generator.state, sort_keys=True)
        self.seed_text = hashlib.sha256(state.encode()).hexdigest()
        space = problem.space
        self.columns: IntArray = np.flatnonzero(space.nvec > 1)
        self.space = policy_space(problem, assignment, self.columns)
        seed = int(rng.integers(2**31))
        facts = problem_facts(problem)
        self.policies = Policies(
            self.space, config.hidden, seed, config.own_choice, config.autoregressive, facts
        )
        names = tuple(space.names[column] for column in self.columns)
        self.named = NamedPolicies(names, self.space, self.policies)
        mixture = Mixture(self.space, config.share if config.learns else 0.0, config.local)
        self.worlds = Proposals(self.space, Moves(space), self.columns, mixture, config)
        self.ppo = PPO(self.policies, mixture, config)
        self.elites = self.archive = Elites.empty(len(self.columns), OBSERVATION)
        self.plateau = Plateau(config.elites, config.patience, config.growth)
        self.restarts = 0
        self.dedup = Dedup(problem)
        self.repeats = Repeats(self.dedup)
        self.pending: list[Transitions] = []
        self.feedback = Observer(problem)
        self.before = self.kept = self.idle = 0
        self.begun = False
        self.start = np.empty((0, len(self.columns)), np.int64)
        self.trained: Agents | None = None
        screened = config.surrogate // 2 if config.warm_start else config.surrogate
        if config.learns and problem.budget is not None:  # agents learn when it has ended
            screened = min(screened, problem.budget // 2)
        self.screening = Screening(problem, self.dedup, screened, not config.avoid_repeats)

    def run(self) -> None:
        """Search until nothing is left to gain, or the budget is used up."""
        config = self.config
        with reproducible():
            if config.checkpoint and Path(config.checkpoint).exists():
                SEARCH.restore(config.checkpoint, self._go_on)
            else:
                if config.warm_start:
                    self.start = warm(self.named, config.warm_start, self.rng)
                elif config.pretrained != NONE:
                    self.trained = agents_of(config.pretrained)
                if config.shared_policy:
                    adopt(self.named, config.shared_policy)
            with suppress(BudgetExhausted):
                while not self._spent():
                    self._epoch_counted()
            if config.shared_policy:
                hand_on(self.named, config.shared_policy)
            if config.checkpoint:
                SEARCH.save(config.checkpoint, self.state_dict())

    def _epoch_counted(self) -> None:
        """An epoch, and whether it gained anything."""
        best = self.problem.best_value
        self._epoch()
        gained = self.problem.best_value < best * (1.0 - Plateau.PROGRESS)
        self.idle = 0 if gained else self.idle + 1

    def _spent(self) -> bool:
        """Whether the last restarts of a search that trained agents began gained nothing."""
        config, feasible = self.config, np.isfinite(self.problem.best_value)
        began = config.pretrained != NONE and not config.warm_start
        return bool(began and feasible and 0 < config.idle <= self.idle)

    def state_dict(self) -> dict[str, Any]:
        """The whole state of the search, and what tells which search it is."""
        names, space, _ = self.named
        return {
            "identity": self._identity(),
            "space": {
                "names": list(names),
                "nvec": space.nvec,
                "owner": space.agent,
                "common": self.policies.common,
            },
            "bests": self.bests().actions,
            "policies": self.policies.state_dict(),
            "optimizer": self.ppo.optimizer.state_dict(),
            "elites": self.elites._asdict(),
            "archive": self.archive._asdict(),
            "pending": [part._asdict() for part in self.pending],
            "known": np.array(sorted(self.dedup.known), dtype=np.uint64),
            "repeats": self.repeats.state_dict(),
            "surrogate": self.screening.surrogate.state_dict(),
            "observer": self.feedback.state_dict(),
            "plateau": self.plateau.state_dict(),
            "rng": json.dumps(self.rng.bit_generator.state),
            "numbers": {name: getattr(self, name) for name in NUMBERS},
            "problem": self.problem.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken: what follows is what would have followed."""
        self.policies.load_state_dict(state["policies"])
        self.ppo.optimizer.load_state_dict(state["optimizer"])
        self.elites, self.archive = Elites(**state["elites"]), Elites(**state["archive"])
        self.pending = [Transitions(**part) for part in state["pending"]]
        self.dedup.known = NestMemory(state["known"].tolist())
        self.repeats.load_state_dict(state["repeats"])
        self.screening.surrogate.load_state_dict(state["surrogate"])
        self.feedback.load_state_dict(state["observer"])
        self.plateau.load_state_dict(state["plateau"])
        self.rng.bit_generator.state = json.loads(state["rng"])
        for name in NUMBERS:
            setattr(self, name, state["numbers"].get(name, 0))  # 0.2 counted no idle restarts
        self.problem.load_state_dict(state["problem"])

    def _go_on(self, state: dict[str, Any]) -> None:
        check_identity(self.config.checkpoint, state["identity"], self._identity())
        self.load_state_dict(state)

    def _identity(self) -> Any:
        return identity_of(self.problem.describe(), asdict(self.config), self.seed_text)

    def _epoch(self) -> None:
        """Search from one population until it makes no progress."""
        if not self.begun:
            self._populate()
            self.begun = True
        while not self._plateaued():
            if self.screening.ready:
                self._play_screened()
            else:
                self._play(self._fresh(self._from_elites, self.config.worlds))
            self._keep_checkpoint()
        self.archive = self.bests()
        self.restarts += 1
        self.begun = False
        if not self._reunites():
            self.plateau.grow()

    def _reunites(self) -> bool:
        """Whether the present epoch begins with the bests of all former ones."""
        every = self.config.reunion
        return every > 0 and self.restarts > 0 and self.restarts % every == 0

    def bests(self) -> Elites:
        """The best few mappings of every epoch so far."""
        actions, values, figures = self.elites
        return self.archive.join(
            actions[:FEW], values[:FEW], figures[:FEW], ARCHIVE, self.config.alike
        )

    def _keep_checkpoint(self) -> None:
        every = self.config.checkpoint_every
        if self.config.checkpoint and self.problem.samples // every > self.kept:
            self.kept = self.problem.samples // every
            SEARCH.save(self.config.checkpoint, self.state_dict())

    def _populate(self) -> None:
        """Begin an epoch: random mappings, and at a restart also some that the policies choose."""
        config = self.config
        if self._reunites():
            self.elites = self.archive
            self.plateau.begin(float(self.elites.values[0]))
            self.before = self.problem.samples
            return
        self.elites = Elites.empty(len(self.columns), OBSERVATION)
        count = config.start if self.restarts == 0 else max(config.worlds, 2 * self.plateau.size)
        chosen = round(config.restart_policy * count) if self.restarts and config.learns else 0
        if chosen:
            self._play(self._free(chosen))
        if len(self.start):
            known = self.start[self._unseen(self.start, len(self.start))]
            self.start = self.start[:0]
            self._remember(*self._evaluate(known))
            count = max(chosen + config.worlds, count - len(known))
        if self.trained is not None:
            count = max(config.worlds, count - self._tried(self.trained))
            self.trained = None
        self._remember(*self._evaluate(self._random(count - chosen)))
        self.plateau.begin(float(self.elites.values[0]))
        self.before = self.problem.samples

    def _plateaued(self) -> bool:
        spent = self.problem.samples - self.before
        self.before = self.problem.samples
        return self.plateau.reached(float(self.elites.values[0]), spent)

    def _play(self, choices: Choices) -> None:
        """Evaluate the agents' draws, keep the best, and learn when a batch is full."""
        actions, evaluation = self._evaluate(choices.chosen)
        self._remember(actions, evaluation)
        if not self.config.learns:
            return
        self._keep(choices, evaluation.values)
        for repeated, values in self.repeats.take():
            self._keep(repeated, values)
        if sum(len(part.reward) for part in self.pending) < self.config.batch:
            return
        batch = Transitions.join(self.pending)
        self.pending = []
        if self.config.reward == "rank":
            batch = batch._replace(reward=_ranked(batch.reward))
        self.ppo.update(batch, entropy_left(self.problem, self.config), self.elites)

    def _play_screened(self) -> None:
        """Draw many worlds and evaluate what the surrogate picks.

        The agents do not learn from its picks, whose law is not that of their draws.
        """
        drawn = self._from_elites(self.config.proposals * Screening.PICKED)
        rows = self.screening.pick(self._mappings(drawn.chosen), self.rng)
        if len(rows):
            self._remember(*self._evaluate(drawn.chosen[rows]))
        else:
            self._play(self._fresh(self._from_elites, Screening.PICKED))

    def _keep(self, choices: Choices, values: FloatArray) -> None:
        """Draws with their values, until a batch is full."""
        rewards = self._rewards(choices.parent, values)
        seen, current, chosen, acting, free, _ = choices
        self.pending.append(Transitions(seen, current, chosen, acting, free, rewards))

    def _rewards(self, parents: FloatArray, values: FloatArray) -> FloatArray:
        """``(B,)`` shared rewards, higher is better."""
        if self.config.reward == "relative":
            return self.feedback.relative(values)
        return self.feedback.gain(parents, values)

    def _evaluate(self, choices: IntArray) -> tuple[IntArray, Evaluation]:
        return choices, self.problem.evaluate(self._actions(choices))

    def _remember(self, choices: IntArray, evaluation: Evaluation) -> None:
        self.screening.learn(evaluation.mappings, evaluation.values)
        if self.config.learns:
            self.repeats.learn(evaluation.mappings, evaluation.values)
        figures = self.feedback.observed(evaluation)
        size = max(1, self.plateau.size)
        alike = self.config.alike
        self.elites = self.elites.join(choices, evaluation.values, figures, size, alike)

    def _random(self, count: int) -> IntArray:
        return self._fresh(self._scattered, count).chosen

    def _scattered(self, count: int) -> Choices:
        return self.worlds.scattered(self.policies, count, self.rng)

    def _tried(self, agents: Agents) -> int:
        """Let trained agents propose the first samples; how many these were."""
        begin = self.problem.samples
        search = search_from(agents.weights, self.problem, self.rng)
        for actions, evaluation in search.batches(self.config.proposed):
            choices = actions[:, self.columns]
            self._unseen(choices, len(choices))  # and so they are not sampled again
            self._remember(choices, evaluation)
        return self.problem.samples - begin

    def _free(self, count: int) -> Choices:
        best = self.elites.figures[:1]
        figures = best if len(best) else np.zeros((1, OBSERVATION), np.float32)

        def draw(worlds: int) -> Choices:
            seen = np.repeat(figures, worlds, axis=0)
            return self.worlds.free(self.policies, seen, worlds, self.rng)

        return self._fresh(draw, count)

    def _from_elites(self, count: int) -> Choices:
        return self.worlds.from_elites(self.policies, self.elites, count, self.rng)

    def _fresh(self, draw: Callable[[int], Choices], count: int) -> Choices:
        """Draw `count` worlds whose loop nests were not sampled before, as far as they exist."""
        if not self.config.avoid_repeats:
            return draw(count)
        kept: list[Choices] = []
        missing = count
        for _ in range(ATTEMPTS):
            drawn = draw(SPARE * missing)
            taken = self._unseen(drawn.chosen, missing)
            kept.append(drawn.rows(taken))
            missing -= len(taken)
            if self.config.learns:
                self._add_repeats(drawn, taken, missing == 0)
            if missing == 0:
                break
        if missing:
            kept.append(self._scattered(missing))
            self._unseen(kept[-1].chosen, missing)
        return Choices.join(kept)

    def _add_repeats(self, drawn: Choices, taken: IntArray, enough: bool) -> None:
        """Keep what was refused on the way; draws beyond the last taken one are dropped."""
        last = int(taken[-1]) if enough else len(drawn.chosen)
        refused = np.ones(last, dtype=np.bool_)
        refused[taken[taken < last]] = False
        repeated = drawn.rows(np.flatnonzero(refused))
        if repeated.acting.any():
            self.repeats.add(repeated, self._mappings(repeated.chosen))

    def _unseen(self, choices: IntArray, most: int) -> IntArray:
        """The first rows, at most so many, whose loop nest was not seen before; now they were."""
        return np.flatnonzero(self.dedup.fresh(self._actions(choices), most))

    def _mappings(self, choices: IntArray) -> MappingBatch | ChainBatch:
        found: MappingBatch | ChainBatch = self.problem.space.decode(self._actions(choices))
        return found

    def _actions(self, choices: IntArray) -> IntArray:
        """Choices as ``(B, all parameters)`` actions."""
        actions = np.zeros((len(choices), len(self.problem.space.nvec)), np.int64)
        actions[:, self.columns] = choices
        return actions


def _ranked(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks in the batch, from -1/2 to 1/2, ties alike."""
    _, place, counts = np.unique(rewards, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2.0
    ranks: NDArray[np.float64] = middle[place] / max(1, len(rewards) - 1) - 0.5
    return ranks
