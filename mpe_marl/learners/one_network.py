"""One actor and one critic for equal agents, told apart by an id (parameter sharing).

The id is one number an agent, 1 for the agent itself: an input that only moves the first layer's
bias. So the layer runs once for all agents, and each adds the row of the weights that is its own.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from mpe_marl.errors import MpeError
from mpe_marl.learners import nets
from mpe_marl.learners.bank import Bank
from mpe_marl.learners.shared import FoldedLearner, SharedLearner


class OneNetwork(SharedLearner):
    """Mode `shared` with one network; its loss is the mean of the agents' losses."""

    def _make_banks(self, *place: Any) -> tuple[Bank, Bank]:
        schema, hidden = self.schema, self.config.hidden
        n, obs, act = schema.n_agents, schema.obs_dim, schema.act_dim
        self._scale = 1 / n
        actors = Bank(1, (obs + n, hidden, self.head.out_dim), *place)
        widths = (n * (obs + act) + n, hidden, 1)
        return actors, Bank(self.config.twins, widths, *place, wide=True)

    def _forbid(self, counts: Tensor) -> None:
        raise MpeError(
            f"share_parameters in a world whose agents have {counts.tolist()} actions; one network "
            "needs equal agents. Leave it out."
        )

    def _of_all(self, layers: nets.Layers) -> list[Tensor]:
        """The actor's layers as each agent has them, ``(N, ...)``, the id in the first bias."""
        n, width = self.schema.n_agents, self.schema.obs_dim
        weight, bias, *rest = layers
        shown = [weight[:, :width], *rest]
        first, *others = (p.expand(n, *p.shape[1:]) for p in shown)
        return [first, bias + weight[0, width:], *others]

    def _policy(self, layers: nets.Layers, data: dict[str, Tensor], when: str) -> Tensor:
        weight, *others = layers
        width = self.schema.obs_dim
        seen = data[f"{when}obs"].transpose(0, 1)
        return nets.own([weight[:, :width], *others], seen, weight[0, width:])

    def _first_layer(self, layers: nets.Layers) -> tuple[Tensor, Tensor]:
        return layers[0][: -self.schema.n_agents], layers[1]

    def _shift(self, critics: nets.Layers) -> Tensor:
        """``(N * twins, hidden)`` rows of the first layer's weights that the ids pick."""
        return critics[0][-self.schema.n_agents :].flatten(0, 1)

    def _action_rows(self, critics: nets.Layers) -> Tensor:
        n, a = self.schema.n_agents, self.schema.act_dim
        rows = critics[0][n * self.schema.obs_dim : -n]
        return rows.view(n, a, self.config.twins, -1).transpose(1, 2)

    def acting_layers(self) -> list[Tensor]:
        """See :meth:`Learner.acting_layers`."""
        return self._of_all(self.actors.online)


class FoldedOneNetwork(OneNetwork, FoldedLearner):
    """Mode `folded` with one network."""

    def _policy(self, layers: nets.Layers, data: dict[str, Tensor], when: str) -> Tensor:
        first, bias, *_ = self._of_all(layers)
        return nets.rest(layers, self._own_first(first, bias, data, when))
