"""The infos of a vector environment: an array and a mask a key, as Gymnasium's own have them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maestro_env.lazy_info import LazyInfo

Rows = NDArray[np.int64]


class VectorInfo:
    """Collects the infos of `N` worlds.

    Args:
        num_envs: `N`.
    """

    def __init__(self, num_envs: int) -> None:
        self._size = num_envs
        self._arrays: dict[str, NDArray[Any]] = {}
        self._masks: dict[str, NDArray[np.bool_]] = {}
        self._makers: dict[str, Callable[[int], Any]] = {}
        self._final: dict[str, Any] = {}

    def put(self, key: str, rows: Rows, values: NDArray[Any]) -> None:
        """Set an info of some worlds."""
        if key not in self._arrays:
            blank = None if values.dtype.kind == "O" else 0
            self._arrays[key] = np.full(self._size, blank, dtype=values.dtype)
        self._arrays[key][rows] = values
        self._mask(key)[rows] = True

    def put_later(self, key: str, rows: Rows, make: Callable[[int], Any]) -> None:
        """Set how to make an info of some worlds when somebody looks at it."""
        self._makers[key] = make
        self._mask(key)[rows] = True

    def _mask(self, key: str) -> NDArray[np.bool_]:
        if key not in self._masks:
            self._masks[key] = np.zeros(self._size, dtype=np.bool_)
        return self._masks[key]

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
