"""One action space for the mappings of several layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layers import DIMS
from maestro_env.map_space import MapSpace, check_actions
from maestro_env.masks import Masks
from maestro_env.parameters import Parameter


class SharedSpace:
    """Translates one action space to the map spaces of several layers.

    Every parameter has as many choices as the layer that offers most. Tiles, priorities, clusters
    and PEs are ordinal: choice ``a`` of ``n`` becomes choice ``a * m // n`` of a layer that has
    ``m``, so the smallest stays the smallest. Parallel dimensions and loop orders keep their
    meaning; a dimension that a layer does not offer is masked, and counts as its first.

    Args:
        spaces: Map spaces with the same options, at least one.

    Attributes:
        names: ``(P,)`` parameter names.
        nvec: ``(P,)`` choices of the shared space.
    """

    def __init__(self, spaces: Sequence[MapSpace]) -> None:
        self.names = spaces[0].names
        columns = list(zip(*(space.parameters for space in spaces), strict=True))
        shared = [_shared_choices(column) for column in columns]
        self.nvec = np.array([len(choices) for choices in shared], dtype=np.int64)
        self._tables = [
            [_table(*pair) for pair in zip(shared, space.parameters, strict=True)]
            for space in spaces
        ]
        widest = int(self.nvec.max())
        self._lookup = np.zeros((len(spaces), len(self.nvec), widest), dtype=np.int64)
        for layer, tables in enumerate(self._tables):
            for column, table in enumerate(tables):
                self._lookup[layer, column, : len(table)] = np.maximum(table, 0)

    def check(self, actions: Any) -> NDArray[np.int64]:
        """The actions as an ``(B, P)`` int64 array.

        Raises:
            ActionError: They are no integers, of another shape, or out of a parameter's range.
        """
        return check_actions(actions, self.nvec, self.names)

    def translate(self, actions: NDArray[np.int64], layer: int) -> NDArray[np.int64]:
        """Actions ``(B, P)`` of the shared space as actions of one layer's map space."""
        columns = np.arange(len(self.nvec))
        return np.asarray(self._lookup[layer][columns, actions])

    def masks(self, own: Masks, layer: int) -> Masks:
        """A layer's own masks as masks of the shared space."""
        return tuple(
            np.where(table >= 0, mask[np.maximum(table, 0)], 0).astype(np.int8)
            for mask, table in zip(own, self._tables[layer], strict=True)
        )


def _shared_choices(column: Sequence[Parameter]) -> tuple[int | str, ...]:
    """The choices of the layer with most of them; of dimensions and orders, all there are."""
    if column[0].ordinal:
        return max((parameter.choices for parameter in column), key=len)
    offered = {choice for parameter in column for choice in parameter.choices}
    return tuple(sorted(offered, key=lambda text: [DIMS.index(dim) for dim in str(text)]))


def _table(shared: tuple[int | str, ...], parameter: Parameter) -> NDArray[np.int64]:
    """The parameter's choice for each shared choice; -1 where it has none like it."""
    if parameter.ordinal:
        return np.arange(len(shared), dtype=np.int64) * len(parameter) // len(shared)
    places = {str(choice): i for i, choice in enumerate(parameter.choices)}
    return np.array([places.get(str(choice), -1) for choice in shared], dtype=np.int64)
