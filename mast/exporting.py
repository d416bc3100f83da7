"""A trained team by itself: the kept values and where they stand, played without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled, write_arrays
from mast.agents import AGENTS
from mast.config import MastConfig
from mast.episodes import TaskShape
from mast.errors import MastError

if TYPE_CHECKING:
    from mast.algorithms import ValueLearner

_HEADER = "mast"
_ARRAYS = ("values", "columns", "ends", "bias")


@dataclass(frozen=True)
class KeptLayer:
    """One layer: its kept values row by row.

    Attributes:
        values: ``(k,)``.
        columns: ``(k,)`` the input of each, in the smallest type that holds it.
        ends: ``(O,)`` where each output's values end.
        bias: ``(O,)``.
        inputs: ``I``.
    """

    values: NDArray[Any]
    columns: NDArray[Any]
    ends: NDArray[Any]
    bias: NDArray[Any]
    inputs: int

    @classmethod
    def of(cls, weight: NDArray[Any], kept: NDArray[np.bool_], bias: NDArray[Any]) -> KeptLayer:
        """The layer of an ``(O, I)`` weight of which some are kept."""
        rows, columns = np.nonzero(kept)
        ends = np.cumsum(kept.sum(axis=1))
        return cls(weight[rows, columns], _smallest(columns), _smallest(ends), bias, kept.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of values, indices and biases."""
        return sum(getattr(self, name).nbytes for name in _ARRAYS)

    def __call__(self, x: NDArray[Any], relu: bool) -> NDArray[Any]:
        """``(I, rows)`` to ``(O, rows)``."""
        out = np.empty((len(self.ends), x.shape[1]), dtype=x.dtype)
        _multiply(self.values, self.columns, self.ends, self.bias, x, relu, out)
        return out


@dataclass(frozen=True)
class SparsePolicy:
    """The agents of a trained team.

    Attributes:
        nets: For each network (one where agents share it) its layers by name.
        config: What was learnt how.
        shape: The task's.
    """

    nets: tuple[Mapping[str, KeptLayer], ...]
    config: MastConfig
    shape: TaskShape

    @classmethod
    def of(cls, learner: ValueLearner) -> SparsePolicy:
        """The agents of a learner as they are now."""
        made: list[dict[str, KeptLayer]] = []
        for name, layer in learner.layers.items():
            if not name.startswith("agents."):
                continue
            _, _, place, own = name.split(".")
            if int(place) == len(made):
                made.append({})
            kept = (
                np.ones(layer.shape, np.bool_) if layer.structure is None else layer.structure.mask
            )
            assert layer.bias is not None
            made[-1][own] = KeptLayer.of(
                layer.dense().cpu().numpy(), kept, layer.bias.detach().cpu().numpy().copy()
            )
        return cls(tuple(made), learner.config, learner.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all layers."""
        return sum(layer.nbytes for net in self.nets for layer in net.values())

    @property
    def dense_nbytes(self) -> int:
        """Bytes that dense layers of the same widths take."""
        return sum(
            (layer.inputs + 1) * len(layer.ends) * layer.values.itemsize
            for net in self.nets
            for layer in net.values()
        )

    def sizes(self, path: Path) -> dict[str, Any]:
        """Bytes of a file that holds it, and of its weights in memory, beside dense ones."""
        size = path.stat().st_size
        header = 8 + int.from_bytes(path.read_bytes()[:8], "little")
        return {
            "file": str(path), "file_bytes": size, "weights_bytes": self.nbytes,
            "dense_bytes": self.dense_nbytes,
            "file_times": (self.dense_nbytes + header) / size,
            "weights_times": self.dense_nbytes / self.nbytes,
        }  # fmt: skip

    def values(self, obs: NDArray[Any], hidden: Any = None) -> tuple[NDArray[Any], Any]:
        """Values of all actions of one step; see :class:`mast.playing.ValuesOf`."""
        f, n, w = obs.shape
        each = [obs.reshape(f, n * w)] if len(self.nets) == 1 else [obs[:, i] for i in range(n)]
        before = hidden or [None] * len(self.nets)
        made = [
            self._one(net, np.ascontiguousarray(x), h)
            for net, x, h in zip(self.nets, each, before, strict=True)
        ]
        values = np.stack([v.reshape(len(v), -1, w) for v, _ in made], axis=1)
        return values.reshape(values.shape[0], n, w), [h for _, h in made]

    def _one(self, net: Mapping[str, KeptLayer], x: NDArray[Any], hidden: Any) -> tuple[Any, Any]:
        def layer(name: str, inputs: NDArray[Any], relu: bool) -> NDArray[Any]:
            return net[name](inputs, relu)

        return AGENTS.make(self.config.agents, self.config).play(layer, x, hidden)

    def save(self, path: str | Path) -> None:
        """Write values and indices as a safetensors file, whole or not at all."""
        arrays = {
            f"{i}.{name}.{part}": getattr(layer, part)
            for i, net in enumerate(self.nets)
            for name, layer in net.items()
            for part in _ARRAYS
        }
        header = {"config": self.config.plain(), "shape": list(self.shape)}
        write_arrays(path, arrays, {_HEADER: json.dumps(header)})

    @classmethod
    def load(cls, path: str | Path) -> SparsePolicy:
        """Read a file that :meth:`save` wrote; it holds numbers and text alone.

        Raises:
            MastError: There is no such file, or it is no team.
        """
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "numpy") as file:
                header = json.loads((file.metadata() or {})[_HEADER])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            config = MastConfig.of(header["config"])
            shape = TaskShape(*header["shape"])
            return cls(_checked(arrays, config, shape), config, shape)
        except FileNotFoundError:
            raise MastError(
                f"{path}: not found; expected a file that `mast export` wrote."
            ) from None
        except (SafetensorError, KeyError, TypeError, ValueError, IndexError, OSError) as error:
            raise MastError(
                f"{path}: is no trained team ({error}); expected a file that `mast export` wrote."
            ) from None


def _checked(
    arrays: Mapping[str, NDArray[Any]], config: MastConfig, shape: TaskShape
) -> tuple[dict[str, KeptLayer], ...]:
    """The networks, if every layer fits the next one and every index its layer.

    Raises:
        ValueError: They do not.
    """
    reads = AGENTS.make(config.agents, config).reads
    nets = []
    for i in range(1 if config.share else shape.n_agents):
        widths = {"": shape.obs_dim + shape.n_agents * config.share}
        net: dict[str, KeptLayer] = {}
        for name, (source, fewer) in reads.items():
            held: dict[str, Any] = {part: arrays[f"{i}.{name}.{part}"] for part in _ARRAYS}
            net[name] = KeptLayer(**held, inputs=widths[source] // fewer)
            _check_layer(name, net[name])
            widths[name] = len(net[name].ends)
        if widths[name] != shape.n_actions:
            raise ValueError(f"{widths[name]} values, {shape.n_actions} actions")
        nets.append(net)
    return tuple(nets)


def _check_layer(name: str, layer: KeptLayer) -> None:
    k, ends = len(layer.values), layer.ends.astype(np.int64)
    rising = len(ends) > 0 and (np.diff(ends, prepend=0) >= 0).all() and ends[-1] == k
    fits = k == len(layer.columns) and (k == 0 or int(layer.columns.max()) < layer.inputs)
    known = np.isfinite(layer.values).all() and np.isfinite(layer.bias).all()
    if not (rising and fits and known and layer.bias.shape == layer.ends.shape):
        raise ValueError(f"layer {name} is out of shape or not finite")


def _smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    """The numbers in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


@compiled
def _multiply(
    values: Any, columns: Any, ends: Any, bias: Any, x: Any, relu: bool, out: Any
) -> None:
    """``act(W x + b)``, output by output, one kept weight after the other."""
    start = 0
    for o in range(len(ends)):
        out[o] = bias[o]
        for k in range(start, int(ends[o])):
            weight = values[k]
            row = x[int(columns[k])]
            for r in range(row.shape[0]):
                out[o, r] += weight * row[r]
        start = int(ends[o])
        if relu:
            for r in range(out.shape[1]):
                if out[o, r] < 0:
                    out[o, r] = 0
