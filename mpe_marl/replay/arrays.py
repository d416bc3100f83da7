"""Layout `arrays`: per agent one array for each of observation, action, reward, next, done."""

from __future__ import annotations

import numpy as np

from mpe_marl.replay.layout import FIELDS, Layout, one_hot
from mpe_marl.replay.memory import Shapes
from mpe_marl.replay.ring import Rows
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition


class Arrays(Layout):
    """Float32 arrays gathered by fancy indexing, as most PyTorch implementations do."""

    name = "arrays"

    @classmethod
    def shapes(cls, schema: Schema, rows: int) -> Shapes:
        """Five tables an agent."""
        widths: dict[str, tuple[int, ...]] = {
            "obs": (schema.obs_dim,),
            "actions": (schema.act_dim,),
            "rewards": (),
            "next_obs": (schema.obs_dim,),
            "done": (),
        }
        return {
            f"{field}.{i}": ((rows, *widths[field]), np.float32)
            for field in FIELDS
            for i in range(schema.n_agents)
        }

    def write(self, first: int, step: Transition) -> None:
        """See :meth:`Layout.write`."""
        stop, actions = first + len(step.obs), one_hot(step, self.schema)
        for i in range(self.schema.n_agents):
            self.tables[f"obs.{i}"][first:stop] = step.obs[:, i]
            self.tables[f"actions.{i}"][first:stop] = actions[:, i]
            self.tables[f"rewards.{i}"][first:stop] = step.rewards[:, i]
            self.tables[f"next_obs.{i}"][first:stop] = step.next_obs[:, i]
            self.tables[f"done.{i}"][first:stop] = step.terminated

    def gather(self, rows: Rows, states_only: bool = False) -> ReplayBatch:
        """See :meth:`Layout.gather`."""
        n = self.schema.n_agents
        obs, actions, rewards, after, done = (
            tuple(self.tables[f"{field}.{i}"][rows] for i in range(n)) for field in FIELDS
        )
        return ReplayBatch(obs, actions, rewards, after, done[0], rows)
