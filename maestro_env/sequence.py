"""One action space for the mappings of several layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layers import DIMS
from maestro_env.action_space import ActionSpace, check_actions
from maestro_env.loop_orders import orders_of
from maestro_env.masks import Masks
from maestro_env.parameters import Parameter


class SharedSpace:
    """Translates one action space to the map spaces of several layers.

    It has the parameters of all layers; one that a layer lacks (of a batch or of groups) has one
    choice there. Every parameter has as many choices as the layer that offers most. Tiles,
    priorities, clusters and PEs are ordinal: choice ``a`` of ``n`` becomes choice ``a * m // n`` of
    a layer that has ``m``, so the smallest stays the smallest. Parallel dimensions and loop orders
    keep their meaning; a dimension that a layer does not offer is masked, and counts as its first.

    Args:
        spaces: Map spaces with the same options, at least one.

    Attributes:
        names: ``(P,)`` parameter names.
        nvec: ``(P,)`` choices of the shared space.
    """

    def __init__(self, spaces: Sequence[ActionSpace]) -> None:
        own = [{parameter.name: parameter for parameter in space.parameters} for space in spaces]
        self.names = _all_names([space.names for space in spaces])
        shared = [_shared_choices([o[name] for o in own if name in o]) for name in self.names]
        self.nvec = np.array([len(choices) for choices in shared], dtype=np.int64)
        self._columns = [
            np.array([self.names.index(name) for name in space.names]) for space in spaces
        ]
        self._tables = [
            [_table(shared[c], p) for c, p in zip(columns, space.parameters, strict=True)]
            for columns, space in zip(self._columns, spaces, strict=True)
        ]
        self._lookup = [np.zeros((len(t), int(self.nvec.max())), np.int64) for t in self._tables]
        for lookup, tables in zip(self._lookup, self._tables, strict=True):
            for column, table in enumerate(tables):
                lookup[column, : len(table)] = np.maximum(table, 0)

    def check(self, actions: Any) -> NDArray[np.int64]:
        """The actions as an ``(B, P)`` int64 array.

        Raises:
            ActionError: They are no integers, of another shape, or out of a parameter's range.
        """
        return check_actions(actions, self.nvec, self.names)

    def translate(self, actions: NDArray[np.int64], layer: int) -> NDArray[np.int64]:
        """Actions ``(B, P)`` of the shared space as actions of one layer's map space."""
        lookup = self._lookup[layer]
        return np.asarray(lookup[np.arange(len(lookup)), actions[:, self._columns[layer]]])

    def masks(self, own: Masks, layer: int) -> Masks:
        """A layer's own masks as masks of the shared space."""
        masks = [np.arange(n) == 0 for n in self.nvec]
        for column, table, mask in zip(self._columns[layer], self._tables[layer], own, strict=True):
            masks[column] = np.where(table >= 0, mask[np.maximum(table, 0)], 0)
        return tuple(mask.astype(np.int8) for mask in masks)


def _all_names(several: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The names of all layers, each after those that stand before it in its own layer."""
    names: list[str] = []
    for own in several:
        place = 0
        for name in own:
            if name in names:
                place = names.index(name) + 1
            else:
                names.insert(place, name)
                place += 1
    return tuple(names)


def _shared_choices(column: Sequence[Parameter]) -> tuple[int | str, ...]:
    """The choices of the layer with most of them; of dimensions and orders, all there are."""
    if column[0].ordinal or column[0].kind == "keeps":
        return max((parameter.choices for parameter in column), key=len)
    loops = {frozenset(str(parameter.choices[0])) for parameter in column}
    if column[0].kind == "order" and len(loops) > 1:  # of all dimensions that some layer has
        return orders_of("".join(dim for dim in DIMS if dim in frozenset.union(*loops))).names
    offered = {choice for parameter in column for choice in parameter.choices}
    return tuple(sorted(offered, key=lambda text: [DIMS.find(dim) for dim in str(text)]))


def _table(shared: tuple[int | str, ...], parameter: Parameter) -> NDArray[np.int64]:
    """The parameter's choice for each shared choice; -1 where it has none like it."""
    if parameter.ordinal:
        return np.arange(len(shared), dtype=np.int64) * len(parameter) // len(shared)
    places = {str(choice): i for i, choice in enumerate(parameter.choices)}
    if parameter.kind == "order":  # loops that a layer does not have leave the others' order
        own = set(str(parameter.choices[0]))
        texts = ["".join(dim for dim in str(choice) if dim in own) for choice in shared]
        return np.array([places.get(text, -1) for text in texts], dtype=np.int64)
    return np.array([places.get(str(choice), -1) for choice in shared], dtype=np.int64)
