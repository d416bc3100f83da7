"""What `reset` and `step` tell beside observation and reward, of one world and of many."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import ReasonCode
from maestro_env.batched_problem import BatchedProblem
from maestro_env.rewards import OBSERVED
from maestro_env.step_result import StepResult

Rows = NDArray[np.int64]

LATER = ("cost", "infeasible")
"""Keys of many worlds' infos that are made when somebody looks: object arrays of what costs as much
as the step. Of one world they are values that work themselves out; thousands of these a step would
cost more than all else."""


class LazyInfo(dict[str, Any]):
    """Infos of many worlds, costly arrays made on first use; copies and pickles are plain dicts.

    Args:
        known: The values that are there.
        later: How to make the others, by key.
    """

    def __init__(self, known: Mapping[str, Any], later: Mapping[str, Callable[[], Any]]) -> None:
        super().__init__(known)
        self._later = dict(later)

    def __missing__(self, key: str) -> Any:
        value = self._later.pop(key)()
        self[key] = value
        return value

    def _whole(self) -> LazyInfo:
        for key in list(self._later):
            self[key]
        return self

    def __setitem__(self, key: str, value: Any) -> None:
        self._later.pop(key, None)
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        if self._later.pop(key, None) is None:
            super().__delitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._later or super().__contains__(key)

    def __len__(self) -> int:
        return super().__len__() + len(self._later)

    def __or__(self, other: Any) -> Any:
        return self.copy() | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self.copy()

    def __ior__(self, other: Any) -> LazyInfo:  # type: ignore[override]  # as dict has it
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyInfo):
            other._whole()
        return dict.__eq__(self._whole(), other)

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - dict.get makes nothing

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a key, which becomes the default where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **values: Any) -> None:
        """Set several keys; what would be made of them later is forgotten."""
        for key, value in dict(*others, **values).items():
            self[key] = value

    def clear(self) -> None:
        """Forget all keys; nothing is made."""
        self._later.clear()
        super().clear()


def _of_whole(name: str) -> Callable[..., Any]:
    """A method of dict that first has everything made."""
    method = getattr(dict, name)

    @wraps(method)
    def called(self: LazyInfo, *arguments: Any) -> Any:
        return method(self._whole(), *arguments)

    return called


for _name in (
    *("__iter__", "__reversed__", "__repr__", "keys", "values", "items"),
    *("pop", "popitem", "copy"),
):
    setattr(LazyInfo, _name, _of_whole(_name))


def reset_info(worlds: BatchedProblem, world: int) -> dict[str, Any]:
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


def step_info(worlds: BatchedProblem, world: int, outcome: StepResult, row: int) -> dict[str, Any]:
    """What is known of a world after a step.

    Args:
        worlds: The worlds.
        world: Which one.
        outcome: Of the step.
        row: The world's row in it.

    Returns:
        :func:`reset_info`, and ``cost``, ``feasible``, ``reason``, ``infeasible``, ``value`` and
        the raw figures of the observation. ``cost`` and ``infeasible`` cost as much as the step:
        they work themselves out when somebody reads them.
    """
    value = float(outcome.values[row])
    info = reset_info(worlds, world)
    info["feasible"] = feasible = math.isfinite(value)
    info["reason"] = ReasonCode.FEASIBLE if feasible else ReasonCode(int(outcome.reason[row]))
    info["value"] = value
    for figure in OBSERVED:
        info[figure] = float(outcome.figure(figure)[row])
    info["cost"] = outcome.cost(row)
    info["infeasible"] = outcome.infeasible(row, info["reason"])
    return info


class VectorInfo:
    """Collects the infos of `N` worlds.

    Args:
        num_envs: `N`.
    """

    def __init__(self, num_envs: int) -> None:
        self._size = num_envs
        self._arrays: dict[str, NDArray[Any]] = {}
        self._masks: dict[str, NDArray[np.bool_]] = defaultdict(
            lambda: np.zeros(num_envs, np.bool_)
        )
        self._makers: dict[str, Callable[[int], Any]] = {}
        self._final: dict[str, Any] = {}

    def put(self, key: str, rows: Rows, values: NDArray[Any]) -> None:
        """Set an info of some worlds."""
        if key not in self._arrays:
            blank = None if values.dtype.kind == "O" else 0
            self._arrays[key] = np.full(self._size, blank, dtype=values.dtype)
        self._arrays[key][rows] = values
        self._masks[key][rows] = True

    def put_later(self, key: str, rows: Rows, make: Callable[[int], Any]) -> None:
        """Set how to make an info of some worlds when somebody looks at it."""
        self._makers[key] = make
        self._masks[key][rows] = True

    def finish(self, rows: Rows, observations: NDArray[np.float32]) -> None:
        """Move the infos of worlds whose episode ended to ``final_info``, beside ``final_obs``."""
        ended = np.zeros(self._size, dtype=np.bool_)
        ended[rows] = True
        final, running = VectorInfo(self._size), VectorInfo(self._size)
        for part, where in ((final, ended), (running, ~ended)):
            for key, mask in self._masks.items():
                chosen = np.flatnonzero(mask & where)
                if len(chosen) and key in self._makers:
                    part.put_later(key, chosen, self._makers[key])
                elif len(chosen):
                    part.put(key, chosen, self._arrays[key][chosen])
        last = np.full(self._size, None, dtype=object)
        for world in rows:
            last[world] = observations[world].copy()
        self._arrays, self._masks, self._makers = running._arrays, running._masks, running._makers
        self._final = {
            "final_obs": last,
            "_final_obs": ended,
            "final_info": final.infos(),
            "_final_info": ended.copy(),
        }

    def infos(self) -> LazyInfo:
        """The infos, each key with its mask ``_key``."""
        masks = {f"_{key}": mask for key, mask in self._masks.items()}
        later = {key: partial(_made, make, self._masks[key]) for key, make in self._makers.items()}
        return LazyInfo({**self._arrays, **masks, **self._final}, later)


def _made(make: Callable[[int], Any], mask: NDArray[np.bool_]) -> NDArray[np.object_]:
    """An array of what is made for each world of the mask; None elsewhere."""
    array = np.full(len(mask), None, dtype=object)
    for world in np.flatnonzero(mask):
        array[world] = make(int(world))
    return array
