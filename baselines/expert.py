"""Hand mappings: what an expert would write down for the dataflows that have a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from baselines.chain_hand import hand_actions_of_chain
from baselines.hand_mapping import hand_mapping
from baselines.searcher import BaseSearcher, Capabilities, SearcherError
from cost_models import Chain, MappingBatch
from maestro_env import DATAFLOWS, MapSpace, MapSpaceError, NamedDataflow, Problem, dataflow_named
from marl_common import IntArray

HALVINGS = 12
"""How often buffers are halved before a dataflow is given up."""


@dataclass(frozen=True)
class ExpertConfig:
    """Options of :class:`Expert`.

    Args:
        dataflow: A name of ``maestro_env.DATAFLOWS``; ``"best"`` tries all of them.
    """

    dataflow: str = "best"

    def __post_init__(self) -> None:
        if self.dataflow != "best":
            try:
                dataflow_named(self.dataflow)
            except MapSpaceError as error:
                text = str(error).replace("expected one of", "expected best, or one of")
                raise ValueError(text) from None


class Expert(BaseSearcher):
    """One sample a dataflow: its array and loop order, with the largest tiles that fit.

    On a chain one a tensor that stays, see :func:`baselines.chain_hand.hand_actions_of_chain`.

    Dataflows that the space has no mapping of are left out (the row-stationary one, where filters
    are kept whole). A model that refuses a tiling is asked for a smaller one, one more sample each.
    """

    name = "expert"
    source = "the papers of the dataflows, see maestro_env.DATAFLOWS"
    Config = ExpertConfig
    config: ExpertConfig
    capabilities = Capabilities(batch=False, guided=False, warm_up=8, fixed=True)

    def check_depth(self, problem: Problem) -> None:
        """Refuse a dataflow of two levels on a list of levels.

        Raises:
            SearcherError: One is chosen.
        """
        one = self.config.dataflow
        if isinstance(problem.accelerator, Chain) and one != "best":
            raise SearcherError(
                f"searcher 'expert': dataflow {one} is of chips of two levels, and this one is "
                "a list of levels; leave dataflow out"
            )

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        one = self.config.dataflow
        if isinstance(problem.accelerator, Chain):
            for action in hand_actions_of_chain(problem.space):
                problem.evaluate(action)
            return
        for dataflow in [dataflow_named(one)] if one != "best" else DATAFLOWS.values():
            for action in hand_actions(problem, dataflow, required=one != "best"):
                if np.isfinite(problem.evaluate(action).values[0]):
                    break


def hand_actions(problem: Problem, dataflow: NamedDataflow, required: bool) -> Iterator[IntArray]:
    """``(1, P)`` actions of a dataflow's hand mapping: the largest tiles first, then smaller ones.

    Raises:
        SearcherError: It is required, and the space has no such mapping.
    """
    try:
        yield from _largest_first(problem.space, dataflow)
    except MapSpaceError as error:
        if required:
            raise SearcherError(
                f"searcher 'expert': dataflow {dataflow.name}: {error}; "
                f"search a space with dataflow={dataflow.name!r}"
            ) from None


def _largest_first(space: MapSpace, dataflow: NamedDataflow) -> Iterator[IntArray]:
    """The dataflow's mappings with the largest tiles that fit, then with less and less of buffers.

    Raises:
        MapSpaceError: The space has no such mapping.
    """
    own = MapSpace(space.layer, space.accelerator, **{**space.options, "dataflow": dataflow.name})
    last = None
    for halving in range(HALVINGS):
        mapping = hand_mapping(own, dataflow, 1 << halving)
        if mapping is None:
            return
        if mapping != last:
            yield space.encode(MappingBatch.from_mappings([mapping], space.layer.extents))
        last = mapping
