"""What `reset` and `step` tell beside observation and reward."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

from cost_models import ReasonCode
from maestro_env.feedback import OBSERVED
from maestro_env.outcome import Outcome
from maestro_env.worlds import Worlds

LATER = ("cost", "infeasible")
"""Keys of a step's info that are made when somebody looks: they cost as much as the step."""


class StepInfo(dict[str, Any]):
    """A dict whose `LATER` keys are made on first use; copies and pickles are plain dicts.

    Args:
        known: The other keys.
        outcome: Of the step.
        row: The world's row in it.
    """

    def __init__(self, known: dict[str, Any], outcome: Outcome, row: int) -> None:
        super().__init__(known)
        self._outcome = outcome
        self._row = row

    def __missing__(self, key: str) -> Any:
        if key not in LATER:
            raise KeyError(key)
        value = getattr(self._outcome, key)(self._row)
        self[key] = value
        return value

    def _whole(self) -> StepInfo:
        for key in LATER:
            self[key]
        return self

    def __contains__(self, key: object) -> bool:
        return key in LATER or super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self._whole())

    def __len__(self) -> int:
        return dict.__len__(self._whole())

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._whole(), other)

    __hash__ = None

    def __repr__(self) -> str:
        return dict.__repr__(self._whole())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - dict.get sees no LATER key

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All keys."""
        return dict.keys(self._whole())

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """All values."""
        return dict.values(self._whole())

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """All keys with their values."""
        return dict.items(self._whole())

    def copy(self) -> dict[str, Any]:
        """A plain dict of all keys."""
        return dict(dict.items(self._whole()))


def reset_info(worlds: Worlds, world: int) -> dict[str, Any]:
    """What is known of a world before a step.

    Returns:
        ``action_mask`` (see :func:`maestro_env.masks.action_masks`), ``layer`` (name of the layer
        to map next) and ``samples`` (used by this world so far).
    """
    place = worlds.position(world)
    return {
        "action_mask": worlds.masks_at(place),
        "layer": worlds.layer_names[place],
        "samples": int(worlds.samples[world]),
    }


def step_info(worlds: Worlds, world: int, outcome: Outcome, row: int) -> StepInfo:
    """What is known of a world after a step.

    Args:
        worlds: The worlds.
        world: Which one.
        outcome: Of the step.
        row: The world's row in it.

    Returns:
        :func:`reset_info`, and ``cost``, ``feasible``, ``reason``, ``infeasible``, ``value`` and
        the raw figures of the observation.
    """
    value = float(outcome.values[row])
    info = reset_info(worlds, world)
    info["feasible"] = feasible = math.isfinite(value)
    info["reason"] = ReasonCode.FEASIBLE if feasible else ReasonCode(int(outcome.reason[row]))
    info["value"] = value
    for figure in OBSERVED:
        info[figure] = float(outcome.figure(figure)[row])
    return StepInfo(info, outcome, row)
