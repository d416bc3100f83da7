"""Options of a network that is searched, and of what its layers share."""

from __future__ import annotations

from dataclasses import dataclass

import layers
from mapper.commands import completion
from mapper.commands.options import OptionError
from mapper.commands.pass_options import PassOptions
from mapper.commands.stay_options import StayOptions
from marl_common import option


@dataclass(frozen=True)
class NetworkOption:
    """A network.

    Attributes:
        network: Search every layer of a network instead of one: of the zoo, or a YAML or CSV file.
    """

    network: str | None = option(None, autocompletion=completion.networks)


@dataclass(frozen=True)
class NetworkOptions(StayOptions, PassOptions, NetworkOption):
    """A network, and what its layers share.

    Attributes:
        inputs: Of --fuse keep: runs of the network, one after another. Filters may stay in L2 from
            one to the next; figures are a run's mean.
        carry: Of --network with marl, what a layer takes over from those before it: nearest
            (policies and best mappings of the nearest), shared (one set of policies, trained by all
            in turn), nothing.
    """

    inputs: int = option(1, low=1)
    carry: str | None = option(None, shown="nearest")

    def check_words(self) -> None:
        """Check the options; as :meth:`StayOptions.check_words`."""
        super().check_words()
        if self.inputs > 1 and self.fuse == "none":
            raise OptionError(
                f"--inputs {self.inputs}: runs share nothing without --fuse keep; give it"
            )

    def named(self) -> str | None:
        """The network with its forward pass; None where a layer is searched."""
        if self.network is None:
            return None
        return layers.in_pass(self.network, self.tokens, self.cache, self.batch)

    def check_absent(self, workers: int | None) -> None:
        """Refuse what says something of networks.

        Raises:
            OptionError: It is given.
        """
        for name in ("carry", "workers", "tokens", "cache", "batch"):
            if (workers if name == "workers" else getattr(self, name)) is not None:
                raise OptionError(f"--{name}: a single layer has one search; give --network N")
