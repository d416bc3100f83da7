"""The interface of a cost model, and the registry of those that are installed.

A model may also offer bounds over sets of mappings, so that a solver can prove an optimum. A set
holds all mappings of one allocation (units along dimensions, PEs, tensors that bypass a level)
whose tiles lie in given ranges, with every loop order. A range of one tile everywhere is one
structure; a set whose inner tiles are all open is what an outer structure leaves.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as MappingABC
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.chain.chip import Chain
from cost_models.cost import Cost, CostBatch
from cost_models.dataflow import Dataflow
from cost_models.laws import Laws
from cost_models.mapping import Mapping, MappingBatch
from cost_models.prices import is_open, open_levels
from layers import Layer
from marl_common import FloatArray, IntArray, check_name, plug_ins, suggest

ENTRY_POINT_GROUP = "mapper.cost_models"


class CostModelError(ValueError):
    """A cost model that is not known, or options it does not take."""


class RetiredOptionError(CostModelError):
    """An option's value that an earlier version took: figures made with it cannot be made again.

    Args:
        chosen: Option and value, such as ``"halo_time=slide"``.
        since: The version that took it away.
        instead: What to use.
    """

    def __init__(self, chosen: str, since: str, instead: str) -> None:
        super().__init__(f"{chosen} left in {since}: use {instead}")
        self.chosen = chosen


class Symmetry(IntEnum):
    """Which mappings a cost model is known to give the same cost; each kind includes those above.

    Searches ask no sample twice for mappings that are the same by this.
    """

    NONE = 0
    """Equal mappings only."""
    TILE = 1
    """A loop whose tile covers all that it walks may stand anywhere in its level's order, but for
    the loops over R and S in a mapping that spreads one of them."""
    NEST = 2
    """A loop that one step of all its units covers may stand anywhere, and units that never have
    work make no difference: the model counts what an execution of the loop nest does."""


@dataclass(frozen=True)
class ModelCapabilities:
    """What a cost model says of itself; whoever uses a model asks this, never its name.

    The defaults claim nothing, so that they hold for a model that declares nothing.

    Args:
        symmetry: Which mappings cost the same.
        laws: The physical laws that its figures obey, from which their lower bounds follow; None
            where only the latency has a bound, that of the MACs at the array's peak.
        objectives: Names of :data:`~cost_models.cost.FIGURES` that depend on the mapping, so that
            a search for a low value makes sense; None for all.
        mapping_fields: Optional fields of a mapping, such as ``"bypass"``, that it understands; a
            mapping that uses another is infeasible.
        repeated: Of N and G those that it cannot map: they only repeat the nest, outermost and one
            at a time, and a mapping that does more with them is infeasible.
        any_depth: Whether it takes chips that are a list of levels, and mappings of them.
        sound: Whether it gives figures only where they are possible. A search refuses a model that
            does not: the impossible points are what it would find.
        needs: By figure, levels whose capacity the accelerator must give before a search for that
            figure makes sense: a search refuses one that does not.
        doubts: By figure, why a search for a low value of it finds little of use: a search says so.
    """

    symmetry: Symmetry = Symmetry.NONE
    laws: Laws | None = None
    objectives: frozenset[str] | None = None
    mapping_fields: frozenset[str] = frozenset()
    repeated: str = "NG"
    any_depth: bool = False
    sound: bool = True
    needs: MappingABC[str, tuple[str, ...]] = field(default_factory=dict)
    doubts: MappingABC[str, str] = field(default_factory=dict)


@runtime_checkable
class CostModel(Protocol):
    """What every cost model offers; all of them are deterministic and keep no state.

    A model may also have ``capabilities``, see :func:`capabilities_of`.
    """

    name: str

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Estimate the cost of one mapping."""

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Estimate the costs of `B` mappings of one layer."""


def capabilities_of(model: CostModel) -> ModelCapabilities:
    """What a cost model declares in its attribute ``capabilities``; the defaults where it has none.

    Raises:
        CostModelError: The attribute holds something else.
    """
    declared = getattr(model, "capabilities", None)
    if declared is None:
        return ModelCapabilities()
    if not isinstance(declared, ModelCapabilities):
        raise CostModelError(
            f"cost model {model.name!r}: capabilities is {declared!r}, expected "
            "cost_models.ModelCapabilities(...)"
        )
    return declared


def check_objective(
    model: CostModel, accelerator: Accelerator | Chain, figures: Iterable[str]
) -> tuple[str, ...]:
    """Whether a search for low values of figures makes sense under a model on an accelerator.

    Args:
        model: The cost model.
        accelerator: The accelerator.
        figures: Names of :data:`~cost_models.cost.FIGURES`.

    Returns:
        Doubts worth a line to whoever searches; empty where there are none.

    Raises:
        CostModelError: It makes none, because the accelerator leaves a capacity open; names the
            field.
    """
    declared = capabilities_of(model)
    figures = tuple(dict.fromkeys(figures))
    for figure in figures:
        needed = declared.needs.get(figure, ())
        if missing := _open_fields(accelerator, needed) if needed else []:
            raise CostModelError(
                f"objective {figure}: the accelerator has no {' and no '.join(missing)}, so that "
                f"cost model {model.name!r} would price buffers of any size at what a mapping "
                f"requires; give {' and '.join(missing)}"
            )
    return tuple(
        f"objective {figure} under cost model {model.name!r}: {declared.doubts[figure]}"
        for figure in figures
        if figure in declared.doubts
    )


def _open_fields(accelerator: Accelerator | Chain, needed: tuple[str, ...]) -> list[str]:
    """Fields of the capacities that are needed and open; of a chain, of every memory."""
    if isinstance(accelerator, Chain):
        memories = accelerator.memories
        return [f"levels.{m.name}.bytes" for m in memories if is_open(m.buffer, m)]
    return [f"{name.lower()}_bytes" for name in open_levels(accelerator) if name in needed]


def check_depth(model: CostModel, accelerator: Accelerator | Chain) -> None:
    """Find out whether a model takes a chip.

    Raises:
        CostModelError: The chip is a list of levels, and the model knows chips of L2 and L1 alone.
    """
    if isinstance(accelerator, Chain) and not capabilities_of(model).any_depth:
        raise CostModelError(
            f"cost model {model.name!r} knows chips of two levels, L2 and L1, but the accelerator "
            "is a list of levels; use cost model 'exact', or a chip of two levels"
        )


def names() -> list[str]:
    """Names of the installed cost models, sorted."""
    return sorted(plug_ins(ENTRY_POINT_GROUP))


EARLIER_OPTIONS: dict[str, dict[str, Any]] = {
    name: {"halo_time": "slide", "energy": "maestro", "area": "maestro"}
    for name in ("exact", "simulator")
}
"""What a model's options were until records of searches named them."""


def recorded_options(problem: MappingABC[str, Any]) -> dict[str, Any]:
    """The cost model's options in the record of a search, also one from before they were recorded.

    Args:
        problem: Fields of the record; `cost_model` and `cost_model_options` are read.
    """
    given = problem.get("cost_model_options")
    return given or EARLIER_OPTIONS.get(problem.get("cost_model", "exact"), {})


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """A cost model's name and options out of ``NAME:OPTION=VALUE:...``.

    Args:
        text: Such as ``exact:energy=maestro:area=maestro``.

    Raises:
        CostModelError: A part is no ``OPTION=VALUE``, or an option comes twice.
    """
    name, *parts = text.split(":")
    options: dict[str, Any] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        if not equals or not option or not value or option in options:
            raise CostModelError(
                f"cost model {text!r}: got {part!r}, expected OPTION=VALUE, each option once, such "
                "as exact:energy=maestro:area=maestro"
            )
        options[option] = _VALUES[value] if value in _VALUES else _number_or_text(value)
    return name, options


def _number_or_text(value: str) -> int | float | str:
    for number in (int, float):
        with suppress(ValueError):
            return number(value)
    return value


_VALUES: dict[str, Any] = {"true": True, "false": False, "True": True, "False": False}


def load(name: str, **options: Any) -> CostModel:
    """Load a cost model by name.

    Args:
        name: A name of :func:`names`, such as ``"exact"`` or ``"maestro"``; options may follow as
            :func:`split_options` has them.
        options: Options of that model, such as ``guard=False``.

    Raises:
        CostModelError: The name is unknown, or the model does not take an option.
    """
    name, written = split_options(name)
    options = written | options
    points = plug_ins(ENTRY_POINT_GROUP)
    check_name("cost model", name, sorted(points), CostModelError)
    factory = points[name].load()
    try:
        model: CostModel = factory(**options)
    except TypeError as error:
        known = _options_of(factory)
        for option in options.keys() - known:
            expected = "one of " + ", ".join(sorted(known)) if known else "none"
            raise CostModelError(
                f"cost model {name!r}: got option {option!r}, expected {expected}."
                f"{suggest(option, known)}"
            ) from error
        raise CostModelError(f"cost model {name!r}: {error}") from error
    return model


def _options_of(factory: Any) -> set[str]:
    """Names of the arguments of a class and of the classes that it hands other options on to."""
    found: set[str] = set()
    for part in inspect.getmro(factory) if inspect.isclass(factory) else (factory,):
        parameters = inspect.signature(part).parameters.values()
        found |= {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
        if all(p.kind is not p.VAR_KEYWORD for p in parameters):
            break
    return found


OUTER_FIRST, OUTER_LAST, INNER_FIRST, INNER_LAST = range(4)
"""Rows of a box: positions of the first and last outer tile, and of the inner tiles, likewise."""


class Places(NamedTuple):
    """Where allocations stand in the tables of :class:`Structures`.

    Args:
        bypass: ``(B,)`` rows of `bypasses`.
        array: ``(B,)`` rows of `arrays`.
        fans: ``(B, 2)`` rows of `fans`, of the outer and of the inner level.
    """

    bypass: IntArray
    array: IntArray
    fans: IntArray


@dataclass(frozen=True)
class Structures:
    """The structures of a map space: all that a mapping chooses but its loop orders.

    An allocation says which units work along which dimension, and which tensors bypass which level.
    There may be millions of them, so they are numbered, not listed: by bypass, then by
    the array of PEs, the outer level's fan and the inner level's fan, the last the quickest.

    Args:
        fans: ``(F, D)`` ways of spreading the units of a level: units along each dimension, at
            least 1.
        spread: ``(F,)`` dimensions in parallel, as bits.
        arrays: ``(G, 4)`` of each cluster size and number of PEs the first fan of the outer level,
            how many it has, and the same of the inner level.
        num_pes: ``(G,)`` PEs in use.
        bypasses: ``(V, 2, 3)`` whether input, filter and output bypass L2 and L1 (besides those
            that the accelerator does not hold there).
        outer_tiles: Per dimension, the outer tiles that are offered, ascending.
        inner_tiles: Per dimension, the inner tiles; one above the outer tile counts as that.
    """

    fans: NDArray[np.int32]
    spread: IntArray
    arrays: IntArray
    num_pes: IntArray
    bypasses: NDArray[np.bool_]
    outer_tiles: tuple[IntArray, ...]
    inner_tiles: tuple[IntArray, ...]

    @cached_property
    def starts(self) -> IntArray:
        """``(G + 1,)`` number of each array's first allocation; the last: of all of one bypass."""
        return np.append(0, np.cumsum(self.arrays[:, 1] * self.arrays[:, 3]))

    def __len__(self) -> int:
        return len(self.bypasses) * int(self.starts[-1])

    def places(self, which: IntArray) -> Places:
        """Where ``(B,)`` allocations stand."""
        bypass, rest = np.divmod(which, self.starts[-1])
        array = np.searchsorted(self.starts, rest, side="right") - 1
        first, _, second, many = self.arrays[array].T
        outer, inner = np.divmod(rest - self.starts[array], many)
        return Places(bypass, array, np.stack([first + outer, second + inner], axis=1))

    def units(self, which: IntArray) -> NDArray[np.int32]:
        """``(B, 2, D)`` clusters, and PEs of a cluster, along each dimension."""
        return self.fans[self.places(which).fans]


class LowerBounds(Protocol):
    """Bounds of an objective under one model, for one layer on one accelerator.

    Attributes:
        threads: Threads for a batch.
        sizes_priced: Whether the objective rises with what the buffers must hold. Outer and inner
            tiles then decide together, and are best narrowed in turn.
    """

    threads: int
    sizes_priced: bool

    def bounds(self, which: IntArray, boxes: NDArray[np.signedinteger[Any]]) -> FloatArray:
        """What no mapping of each set goes below.

        Args:
            which: ``(B,)`` allocation of each set, its number in the structures.
            boxes: ``(B, 4, D)`` positions of tiles, in the rows `OUTER_FIRST` to `INNER_LAST`.

        Returns:
            ``(B,)`` bounds in the objective's unit, inf where no mapping of the set is feasible or
            within the limits. Rounding may put a bound above a cost by one part in 10^12.
        """


def lower_bounds_of(
    model: CostModel,
    layer: Layer,
    accelerator: Accelerator,
    figures: Sequence[str],
    limits: MappingABC[str, float],
    structures: Structures,
) -> LowerBounds | None:
    """The bounds that a model offers by a method of this name; None where it offers none.

    Args:
        model: The cost model.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective, names of :data:`~cost_models.cost.FIGURES`.
        limits: Largest figures allowed, such as ``{"max_latency_cycles": 1e6}``; a bound may leave
            out any of them.
        structures: Allocations and tiles.
    """
    offer: Any = getattr(model, "lower_bounds_of", lambda *_: None)
    bounds: LowerBounds | None = offer(layer, accelerator, figures, limits, structures)
    return bounds
