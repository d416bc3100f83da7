"""Layout `joint`: one record a time step, everything of all agents side by side."""

from __future__ import annotations

import numpy as np

from mpe_marl.replay import gathers
from mpe_marl.replay.layout import Layout
from mpe_marl.replay.memory import Shapes
from mpe_marl.replay.ring import Rows
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition

_LINE = 16  # float32 numbers in a cache line


class Joint(Layout):
    """Float32 records: observations, actions, next observations, rewards, done.

    A drawn index is one contiguous copy, and a batch's observations and actions are the critics'
    input as they lie. Records start on cache lines.
    """

    name = "joint"

    @classmethod
    def shapes(cls, schema: Schema, rows: int) -> Shapes:
        """One table of records."""
        width = -(-schema.record_width // _LINE) * _LINE
        return {"records": ((rows, width), np.float32)}

    def write(self, first: int, step: Transition) -> None:
        """See :meth:`Layout.write`."""
        data = self.tables["records"]
        if self.schema.discrete:
            gathers.write_joint(
                data,
                first,
                step.obs,
                step.actions,
                step.rewards,
                step.next_obs,
                step.terminated,
                self.schema.act_dim,
            )
            return
        w = len(step.obs)
        parts = [step.obs, step.actions, step.next_obs, step.rewards, step.terminated]
        record = np.concatenate([p.reshape(w, -1).astype(np.float32) for p in parts], axis=1)
        data[first : first + w, : record.shape[1]] = record

    def row_bytes(self) -> int:
        """Bytes of a record without its padding."""
        return 4 * self.schema.record_width

    def gather(self, rows: Rows, states_only: bool = False) -> ReplayBatch:
        """See :meth:`Layout.gather`; every field is a view of one copied block."""
        data = self.tables["records"]
        out = self.scratch("records", (len(rows), data.shape[1]))
        gathers.gather_rows(data, rows, out)
        s, b = self.schema, len(rows)
        n, obs, act = s.n_agents, s.n_agents * s.obs_dim, s.n_agents * s.act_dim
        after = obs + act
        return ReplayBatch(
            obs=out[:, :obs].reshape(b, n, -1),
            actions=out[:, obs:after].reshape(b, n, -1),
            next_obs=out[:, after : after + obs].reshape(b, n, -1),
            rewards=out[:, after + obs : after + obs + n],
            done=out[:, after + obs + n],
            rows=rows,
            obs_actions=out[:, :after],
        )
