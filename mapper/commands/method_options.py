"""Options of ``mapper search`` that say by which method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mapper.commands import completion
from mapper.commands.options import MOST_SAMPLES, OptionError, pairs_of, with_pairs
from marl_common import option
from marl_runs import check_ray_address

MARL = ("marl", "marl-rllib")
"""Methods that have agents."""
PRETRAINED = ("auto", "marl", "zero-shot")
"""Methods that may begin with what pre-trained agents propose."""


@dataclass(frozen=True)
class MethodOptions:
    """How is searched, and for how long.

    Attributes:
        method: Searcher, such as ga or random, or module:Class of your own.
        of_method: Option of the method; repeatable.
        agents: Of marl: auto (the stored assignment of the nearest zoo layer), a number of agents,
            or a file that `mapper cluster` wrote.
        learner: Of marl: batched or rllib.
        ray_address: Of the learner rllib: train on a Ray cluster, auto or HOST:PORT.
        pretrained: Of auto, marl and zero-shot: agents of `mapper pretrain` to begin with, or none.
        dataset: Of marl: cluster the agents from so many random samples first.
        count_dataset: Those samples count against the budget.
        budget: Samples to spend (on each layer), to the last one.
        patience: Stop after so many samples without a lower value.
        log: Draw the best value while it runs: tensorboard:FOLDER or mlflow:FOLDER.
    """

    method: str | None = option(
        None, shown="auto: a proof, see docs", autocompletion=completion.methods
    )
    of_method: tuple[str, ...] = option((), "", "--option", metavar="NAME=VALUE")
    agents: str | None = option(None, shown="auto")
    learner: str | None = option(None, shown="batched")
    ray_address: str | None = option(None)
    pretrained: str | None = option(None, metavar="none|FILE", shown="those of the package")
    dataset: int | None = option(None, kind=int, low=3)
    count_dataset: bool = option(False, "", "--count-dataset")
    budget: int | None = option(
        None, kind=int, low=1, high=MOST_SAMPLES,
        shown="20,000; of auto: none, where it proves or ends by time",
    )  # fmt: skip
    patience: int | None = option(None, kind=int, low=1)
    log: str | None = option(None, metavar="KIND:FOLDER")

    def chosen(self, carries: bool) -> tuple[str, dict[str, Any]]:
        """Name and options of the method.

        Args:
            carries: Whether an option is given that only agents take.

        Raises:
            ValueError: An option does not go with the method.
        """
        from mapper.search.methods import chosen_method

        given = pairs_of("--option", self.of_method)
        words = {"agents": self.agents, "learner": self.learner}
        options = self._of_marl({name: word for name, word in words.items() if word is not None})
        if self.ray_address is not None:
            options |= self._on_ray(self.ray_address)
        if self.dataset is not None or self.count_dataset:
            sampled = {"dataset": self.dataset or 0, "count_dataset": self.count_dataset}
            options |= self._of_marl(sampled)
        method = chosen_method(self.method, has_agents=bool(options) or carries)
        return method, with_pairs(options | self._begun_by(method), given)

    def _of_marl(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options that only the method marl takes.

        Raises:
            OptionError: Another method is asked for.
        """
        if options and self.method not in (None, *MARL):
            given = ", ".join("--" + name.replace("_", "-") for name in options)
            raise OptionError(f"{given}: only the method marl has agents, not {self.method}")
        return options

    def _begun_by(self, method: str) -> dict[str, Any]:
        """The option that names pre-trained agents, once their file is known to be good.

        Raises:
            OptionError: The method begins with none.
            PretrainedError: The file holds no agents.
        """
        if self.pretrained is None:
            return {}
        if method not in PRETRAINED:
            raise OptionError(
                f"--pretrained: {method} begins without agents; expected it with one of the "
                f"methods {', '.join(PRETRAINED)}"
            )
        from mapper.pretrained.weights import agents_of

        agents_of(self.pretrained)
        return {"pretrained": self.pretrained}

    def _on_ray(self, address: str) -> dict[str, Any]:
        """The option that trains on a Ray cluster.

        Raises:
            OptionError: The search does not run on Ray.
            RayConnectionError: The address is none.
        """
        on_ray = self.method in (None, "marl") and self.learner == "rllib"
        if self.method != "marl-rllib" and not on_ray:
            raise OptionError(
                "--ray-address: only the learner rllib of the method marl trains on Ray; add "
                "--learner rllib, or search with any method on a cluster by mapper compare "
                "--ray-address"
            )
        check_ray_address(address)
        return {"ray_address": address}
