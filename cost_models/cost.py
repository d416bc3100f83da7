"""What a mapping costs: one (`Cost`) or many as arrays (`CostBatch`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from math import nan
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from cost_models.buffers import LEVELS, TENSORS
from cost_models.infeasible import Infeasible, ReasonCode
from marl_common import Computed, FloatArray, engineering, html_table

T = TypeVar("T")


class LazyColumns(Mapping[str, T], Generic[T]):
    """A mapping from names to values that computes each value once, on first use.

    Args:
        names: The names, in order.
        compute: Gives the value of a name.
    """

    def __init__(self, names: tuple[str, ...], compute: Callable[[str], T]) -> None:
        self._names = names
        self._compute = compute
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            if name not in self._names:
                raise KeyError(name)
            self._values[name] = self._compute(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"LazyColumns({', '.join(self._names)})"


__all__ = ["FIGURES", "TENSORS", "Cost", "CostBatch", "FloatArray"]


HELD = "bytes."
"""Begins the name of what an instance of a level must hold."""
IN_HTML = (
    ("latency_cycles", "latency", "cycles"),
    ("energy_nj", "energy", "nJ"),
    ("power_mw", "power", "mW"),
    ("area_um2", "area", "um^2"),
    ("macs", "MACs", ""),
    ("utilized_pes", "PEs at work", ""),
    ("l1_bytes", "L1 of a PE", "B"),
    ("l2_bytes", "L2", "B"),
    ("arithmetic_intensity", "MACs an element moved", ""),
)
"""Figures of a cost in a notebook: field, title, unit."""


@dataclass(frozen=True)
class LevelCost:
    """What a mapping asks of a level, over the whole layer.

    Args:
        bytes: What one instance must hold [B]; nan for DRAM.
        capacity_bytes: What one instance has room for [B]; None for any, or where it is not known.
        instances: How many there are; None where a mapping chooses.
        accesses: Elements read and written in all instances: ``accesses["input"]["read"]``.
        energy_nj: Energy of these [nJ]; nan where the model does not tell levels apart.
        busy: Cycles of its port, each way: ``busy["read"]``; empty where they are not known.
    """

    bytes: float
    capacity_bytes: float | None
    instances: int | None
    accesses: Mapping[str, Mapping[str, float]]
    energy_nj: float
    busy: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """All accesses [elements]."""
        return sum(sum(ways.values()) for ways in self.accesses.values())


@dataclass(frozen=True)
class Cost(Computed):
    """Cost of one mapping; every figure is inf where the mapping is infeasible.

    Args:
        infeasible: Why there is no cost, or None.
        latency_cycles: Cycles of the whole layer.
        energy_nj: Energy by the cost model's own formula [nJ].
        energy_total_nj: Energy with all parts (MAC, L1, L2, and DRAM where it is modelled) [nJ].
        power_mw: Power of the array at the mapping's buffer sizes [mW].
        area_um2: Area of the array at the mapping's buffer sizes [um^2].
        throughput_macs_per_cycle: `macs` over `latency_cycles`.
        macs: Multiply-accumulates the model counts.
        l1_bytes: Bytes one PE's L1 must hold.
        l2_bytes: Bytes the L2 must hold.
        noc_bw_req: NoC bandwidth that the mapping asks for, by the model's formula
            [elements/cycle].
        offchip_bw_req: Off-chip bandwidth likewise [elements/cycle].
        utilized_pes: PEs at work, averaged over the steps.
        arithmetic_intensity: MACs per element moved over the outermost boundary that is modelled.
        accesses: Accesses in elements per tensor and kind: ``accesses["input"]["l2_read"]``.
        detail: Further figures of the model, by name.
        counts: The exact model's integers, by name; empty for other models.
        priced: How each buffer's energy and area are priced, by level: ``"provisioned"`` at the
            capacity the chip has, or ``"required"`` at what the mapping asks for; empty where no
            price depends on a buffer's size.
        by_level: What :attr:`levels` gives, where the chip is one of any depth. `l1_bytes`,
            `l2_bytes` and `noc_bw_req` are nan there, but for levels of these names.
    """

    infeasible: Infeasible | None
    latency_cycles: float
    energy_nj: float
    energy_total_nj: float
    power_mw: float
    area_um2: float
    throughput_macs_per_cycle: float
    macs: float
    l1_bytes: float
    l2_bytes: float
    noc_bw_req: float
    offchip_bw_req: float
    utilized_pes: float
    arithmetic_intensity: float
    accesses: dict[str, dict[str, float]] = field(default_factory=dict)
    detail: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    priced: Mapping[str, str] = field(default_factory=dict)
    by_level: Mapping[str, LevelCost] = field(default_factory=dict)

    @property
    def levels(self) -> Mapping[str, LevelCost]:
        """What the mapping asks of each memory, by the level's name, DRAM first."""
        if self.by_level or self.infeasible is not None:
            return self.by_level
        return {name: self._level(name) for name in LEVELS}

    def _level(self, name: str) -> LevelCost:
        """A level of a chip of two levels, from the figures that are named by it."""
        low = name.lower()
        accesses = {
            tensor: {way: kinds.get(f"{low}_{way}", 0.0) for way in ("read", "write")}
            for tensor, kinds in self.accesses.items()
        }
        energy = self.detail.get(f"energy_{low}_nj", nan)
        return LevelCost(getattr(self, f"{low}_bytes", nan), None, None, accesses, energy)

    @property
    def feasible(self) -> bool:
        """Whether the mapping has a cost."""
        return self.infeasible is None

    def __repr__(self) -> str:
        if self.infeasible is not None:
            return f"Cost(infeasible: {self.infeasible.message})"
        return (
            f"Cost({', '.join(f'{name}={getattr(self, name):.10g}' for name, *_ in IN_HTML[:6])})"
        )

    def _repr_html_(self) -> str:
        if self.infeasible is not None:
            return html_table((), [("infeasible", self.infeasible.message)])
        rows = [(title, engineering(getattr(self, name), unit)) for name, title, unit in IN_HTML]
        return html_table((), rows)


FIGURES = tuple(item.name for item in fields(Cost) if item.type == "float")
"""Scalar figures that every cost model gives, as `Cost` and `CostBatch` name them."""


@dataclass(frozen=True)
class CostBatch:
    """Costs of `B` mappings; every field of :class:`Cost` as a ``(B,)`` array.

    Args:
        reason: ``(B,)`` int8 of :class:`ReasonCode`; 0 is feasible.
        figures: The names of `FIGURES`, each a ``(B,)`` float64 array; inf where infeasible.
        accesses: ``accesses[tensor][kind]`` as ``(B,)`` arrays.
        detail: Further figures of the model, by name.
        counts: The exact model's integers as ``(B,)`` int64 arrays, by name.
        priced: As in :class:`Cost`, the same for all rows.
        explain: Builds the :class:`Infeasible` of one infeasible row.
        one: Builds the :class:`Cost` of one row, where a model has a faster way than its columns.
        held: What one instance of each level must hold [B], by its name, ``(B,)`` each; empty for
            chips of two levels.
    """

    reason: NDArray[np.int8]
    figures: Mapping[str, FloatArray]
    accesses: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict)
    detail: Mapping[str, FloatArray] = field(default_factory=dict)
    counts: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    priced: Mapping[str, str] = field(default_factory=dict)
    explain: Callable[[int], Infeasible] | None = None
    one: Callable[[int], Cost] | None = None
    held: Mapping[str, FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.reason)

    def __repr__(self) -> str:
        return f"CostBatch({len(self)} mappings, {np.count_nonzero(self.reason == 0)} feasible)"

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """``(B,)`` bool."""
        return np.asarray(self.reason == 0)

    def column(self, name: str) -> FloatArray:
        """``(B,)`` of a name of `FIGURES`, or of ``bytes.LEVEL``: what its instance must hold [B].

        Raises:
            KeyError: There is no such level.
        """
        if name.startswith(HELD):
            return self.held[name.removeprefix(HELD)]
        return self.figures[name]

    def __getattr__(self, name: str) -> FloatArray:
        if name in FIGURES:
            return self.figures[name]
        raise AttributeError(f"CostBatch has no field {name!r}")

    def __getitem__(self, index: int) -> Cost:
        if not -len(self) <= index < len(self):
            raise IndexError(f"cost {index} of a batch of {len(self)}")
        row = range(len(self))[index]
        if self.one is not None:
            return self.one(row)
        figures: dict[str, Any] = {name: float(self.figures[name][row]) for name in FIGURES}
        if self.reason[row] != 0:
            return Cost(self._why(row), **figures)

        def at(columns: Mapping[str, FloatArray]) -> dict[str, float]:
            return {name: float(values[row]) for name, values in columns.items()}

        accesses = {tensor: at(kinds) for tensor, kinds in self.accesses.items()}
        counts = {name: int(values[row]) for name, values in self.counts.items()}
        figures |= {"accesses": accesses, "detail": at(self.detail), "counts": counts}
        return Cost(None, **figures, priced=self.priced)

    def _why(self, row: int) -> Infeasible:
        if self.explain is not None:
            return self.explain(row)
        code = ReasonCode(int(self.reason[row]))
        return Infeasible(code, code.name.lower().replace("_", " "))

    def __iter__(self) -> Iterator[Cost]:
        return map(self.__getitem__, range(len(self)))
