"""Hand mappings of a chain: each axis busy, one tensor stays, the largest tiles that fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cost_models import Chain, has_room
from layers import DIMS
from maestro_env import ActionSpace, Parameter
from marl_common import IntArray

Tiles = dict[str, int]
INPUT, FILTER, OUTPUT = range(3)


def hand_actions_of_chain(space: ActionSpace) -> Iterator[IntArray]:
    """``(1, P)`` actions: one for each tensor that may stay: filter, output, input.

    Axes take, one after the other, the dimension that has most of it left. Tiles then grow from the
    smallest, memory by memory from the outermost, one choice at a time: first along the dimensions
    of the tensor that stays, whose loops are outermost, then along the others.
    """
    for tensor in (FILTER, OUTPUT, INPUT):
        yield _ChainDraft(space, tensor).action()


class _ChainDraft:
    """A mapping while its tiles grow."""

    def __init__(self, space: ActionSpace, tensor: int) -> None:
        self.space, self.layer = space, space.layer
        self.chip: Chain = space.accelerator
        self.stays = {DIMS[d] for d in space.layer.coupled_dims[tensor]}
        self.actions = np.zeros((1, len(space.nvec)), np.int64)
        self.extents = dict(zip(DIMS, space.layer.extents, strict=True))
        self.columns = {parameter.name: i for i, parameter in enumerate(space.parameters)}
        self.units: dict[str, Tiles] = {}

    def action(self) -> IntArray:
        """``(1, P)``."""
        left = dict(self.extents)
        for level in self.chip.inner:
            self.units[level.name] = self._spread(level.name, left)
        around, shared = dict(self.extents), dict.fromkeys(DIMS, 1)
        for level in self.chip.inner:
            most = {d: -(-around[d] // shared[d]) for d in DIMS}
            if level.is_memory:
                self._order(level.name)
                around = self._grow(level.name, around, most)
            else:
                around = most
            shared = self.units[level.name]
        return self.space.canonical(self.actions)

    def _spread(self, name: str, left: Tiles) -> Tiles:
        """Give each axis of a level the dimension of which most is left; its units by dimension."""
        units = dict.fromkeys(DIMS, 1)
        for column, parameter in enumerate(self.space.parameters):
            if parameter.kind == "parallel" and parameter.name.startswith(f"{name}.axis"):
                free = [str(d) for d in parameter.choices if units[str(d)] == 1]
                dim = max(free or map(str, parameter.choices), key=lambda d: left[d])
                counts = [int(n) for n in self.space.parameters[column + 1].choices]
                taken = max([n for n in counts if n <= left[dim]], default=counts[0])
                self.actions[0, column] = parameter.choices.index(dim)
                self.actions[0, column + 1] = counts.index(taken)
                units[dim] *= taken
                left[dim] = -(-left[dim] // taken)
        return units

    def _order(self, name: str) -> None:
        column = self.columns[f"{name}.order"]
        names = [str(choice) for choice in self.space.parameters[column].choices]
        wanted = "".join(sorted(names[0], key=lambda d: d not in self.stays))
        if wanted in names:
            self.actions[0, column] = names.index(wanted)

    def _tiled(self, name: str) -> dict[str, Parameter]:
        return {
            p.dim: p
            for p in self.space.parameters
            if p.kind == "tile" and p.name == f"{name}.tile_{p.dim}"
        }

    def _grow(self, name: str, around: Tiles, most: Tiles) -> Tiles:
        """The largest tiles of a memory that fit, as found."""
        offered = self._tiled(name)
        tiles = {d: min(int(p.choices[0]), around[d]) for d, p in offered.items()}
        tiles = {d: tiles.get(d, most[d]) for d in DIMS}
        for phase in (True, False):
            dims = [d for d in offered if (d in self.stays) == phase]
            while sum(self._step(name, d, offered[d], tiles, most) for d in dims):
                continue  # each in turn, until none has grown
        return tiles

    def _step(self, name: str, dim: str, offered: Parameter, tiles: Tiles, most: Tiles) -> bool:
        """Take the next larger tile of a dimension if it is of use and fits."""
        column = self.columns[offered.name]
        place = int(self.actions[0, column]) + 1
        if tiles[dim] >= most[dim] or place == len(offered):
            return False
        larger = tiles | {dim: min(int(offered.choices[place]), most[dim])}
        if not has_room(self.layer, self.chip, name, tuple(larger[d] for d in DIMS)):
            return False
        self.actions[0, column] = place
        tiles.update(larger)
        return True
