"""The checker: every bound of a certificate is worked out again, and every box is counted.

It asks the cost model for bounds and costs, and the map space for its parameters; it runs nothing
of the solver.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from cost_models import LowerBounds, Mapping, MappingBatch, RetiredOptionError
from layers import DIMS
from maestro_env import Evaluation, MapSpaceError, Problem
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.named_limits import NamedLimits
from mapper.certificate.replay import RULED_OUT, SETTLED, CheckedLevel, Grid, Ranges, walk
from mapper.certificate.unit_spread import check_work
from marl_common import FloatArray, IntArray, brief, suggest

ROUNDING = 2e-9
"""Share by which bounds and values may differ from the claim: rounding, on another machine too."""
CHUNK = 1 << 16
RANDOM = 20_000
"""Random mappings that are looked at besides."""


@dataclass(frozen=True)
class Checked:
    """What was checked of a certificate that holds.

    Args:
        size: Mappings of the space, all of them in a box that is ruled out or settled.
        boxes: Boxes of the tree.
        ruled_out: Boxes whose bound is at or above the claimed one.
        settled: Structures whose loop orders were all evaluated.
        evaluated: Mappings evaluated for it.
        gap: How far above the optimum the claimed value may be, as a share.
        seconds: Processor time [s].
        limits: Where no mapping is feasible: boxes that each limit rules out.
    """

    size: int
    boxes: int
    ruled_out: int
    settled: int
    evaluated: int
    gap: float
    seconds: float
    limits: dict[str, int] = field(default_factory=dict)


def check_certificate(
    certificate: Certificate, on_level: Callable[[int], None] | None = None
) -> Checked:
    """Check that a certificate holds.

    Args:
        certificate: The certificate.
        on_level: Called with the number of boxes checked so far.

    Raises:
        CertificateError: It does not; says what is wrong.
        ValueError: The problem cannot be built any more.
    """
    began = time.process_time()
    problem = _built(certificate)
    _check_claim(certificate, problem)
    check_work(problem.space, len(certificate.tree))
    grid = Grid(problem.space)
    bounds = _bounds_of(problem, grid)
    target = certificate.bound * (1 - ROUNDING)
    orders = _Orders(grid)
    limits = NamedLimits(problem, grid.known)
    inherited = np.empty(0)
    covered = boxes = ruled_out = settled = evaluated = 0
    for level in walk(grid, certificate.tree):
        found = _bounds(bounds, level)
        if len(level.parents):
            found = np.maximum(found, inherited[level.parents])  # a half is part of the whole
        out = level.kinds == RULED_OUT
        if (found[out] < target).any():
            worst = float(found[out].min())
            raise CertificateError(
                f"tree: a box is ruled out whose bound is {worst:.9g}, below the claimed bound of "
                f"{certificate.bound:.9g}"
            )
        if certificate.mapping is None:
            limits.check(level, np.flatnonzero(out))
        here = np.flatnonzero(level.kinds == SETTLED)
        each = limits.check_mappings if certificate.mapping is None else None
        evaluated += _settle(problem, orders, level.which[here], level.ranges[here], target, each)
        leaves = level.kinds >= SETTLED
        covered += grid.size(level.which[leaves], level.ranges[leaves])
        boxes, ruled_out = boxes + len(out), ruled_out + int(out.sum())
        settled += len(here)
        inherited = found
        if on_level is not None:
            on_level(boxes)
    if covered != problem.space.size:
        raise CertificateError(
            f"tree: its boxes hold {covered:,} mappings, the space has {problem.space.size:,}"
        )
    seconds = time.process_time() - began
    gap, counts = certificate.gap, limits.counts
    return Checked(covered, boxes, ruled_out, settled, evaluated, gap, seconds, counts)


def _check_claim(certificate: Certificate, problem: Problem) -> None:
    """Check what the certificate says of its problem, mapping and value."""
    if certificate.size != problem.space.size:
        raise CertificateError(
            f"size: {certificate.size:,} mappings are claimed, the space has {problem.space.size:,}"
        )
    if certificate.bound > certificate.value:
        raise CertificateError(
            f"bound: {certificate.bound:.9g} is above the value {certificate.value:.9g}"
        )
    _check_emptiness(certificate)
    if certificate.mapping is not None:
        _check_value(certificate, problem)
    values = problem.look(problem.space.sample(RANDOM, 0)).values
    if float(values.min()) < certificate.bound * (1 - ROUNDING):
        raise CertificateError(
            f"bound: a random mapping has the value {values.min():.9g}, below the claimed bound of "
            f"{certificate.bound:.9g}"
        )


def _check_emptiness(certificate: Certificate) -> None:
    """Check that a mapping and a value are claimed, or neither and a bound of inf."""
    if (certificate.mapping is None) != math.isinf(certificate.value):
        there = "none, but a value" if certificate.mapping is None else "one, but no value"
        raise CertificateError(f"mapping: there is {there}; expected both or neither")
    if certificate.mapping is None and math.isfinite(certificate.bound):
        raise CertificateError(
            "value: no mapping is claimed to be feasible, but the bound is "
            f"{certificate.bound:.9g}, expected inf: no limit rules the space out; prove again"
        )


def _built(certificate: Certificate) -> Problem:
    """The problem, whose cost model's options are all known to it.

    Raises:
        CertificateError: It cannot be built, or has an option that changes nothing.
    """
    spec = certificate.problem
    table = str(spec.cost_model_options.get("energy", ""))
    if Path(table).suffix in (".yaml", ".yml") and not Path(table).is_file():
        raise CertificateError(
            f"problem.cost_model_options.energy: {brief(table)} is no file here; check the "
            "certificate where its energy table is"
        )
    try:
        problem = spec.build()
    except RetiredOptionError as error:
        raise CertificateError(f"not replayed: made with {error.chosen}") from None
    except (ValueError, TypeError) as error:
        raise CertificateError(f"problem: {error}") from None
    known = getattr(problem.cost_model, "options", {})
    for name in spec.cost_model_options:
        if name not in known:
            raise CertificateError(
                f"problem.cost_model_options: unknown option {brief(name)}; expected some of "
                f"{', '.join(known)}.{suggest(name, known)}"
            )
    return problem


def _check_value(certificate: Certificate, problem: Problem) -> None:
    assert certificate.mapping is not None
    batch = MappingBatch.from_mappings([certificate.mapping], problem.layer.extents)
    try:
        looked = problem.look(problem.space.encode(batch))
    except MapSpaceError as error:
        raise CertificateError(f"mapping: it is not in the space: {error}") from None
    if looked.mappings[0] != certificate.mapping:
        raise CertificateError(
            "mapping: it is not in the space, whose nearest one differs in "
            f"{_differences(looked.mappings[0], certificate.mapping)}"
        )
    again = float(looked.values[0])
    if not math.isclose(again, certificate.value, rel_tol=ROUNDING):
        raise CertificateError(
            f"value: {certificate.value:.9g} is claimed, the model gives the mapping {again:.9g}"
        )


def _differences(one: Mapping, other: Mapping) -> str:
    """The fields in which two mappings differ."""
    return ", ".join(
        item.name for item in fields(one) if getattr(one, item.name) != getattr(other, item.name)
    )


def _bounds_of(problem: Problem, grid: Grid) -> LowerBounds:
    found = problem.lower_bounds_of(grid.known)
    if found is None:
        raise CertificateError(
            f"problem: cost model {problem.cost_model.name!r} offers no bounds for it"
        )
    return found


def _bounds(bounds: LowerBounds, level: CheckedLevel) -> FloatArray:
    parts = [
        bounds.bounds(level.which[start : start + CHUNK], level.ranges[start : start + CHUNK])
        for start in range(0, len(level.which), CHUNK)
    ]
    return np.concatenate(parts)


def _settle(
    problem: Problem,
    orders: _Orders,
    which: IntArray,
    ranges: Ranges,
    target: float,
    check: Callable[[Evaluation], None] | None,
) -> int:
    """Evaluate every loop order of the structures that are settled; returns how many."""
    if (ranges[:, 0] != ranges[:, 1]).any() or (ranges[:, 2] != ranges[:, 3]).any():
        raise CertificateError("tree: a box of several structures is called evaluated")
    count = 0
    for actions in orders.of(which, ranges):
        for start in range(0, len(actions), CHUNK):
            evaluation = problem.look(actions[start : start + CHUNK])
            values = evaluation.values
            count += len(values)
            if check is not None:
                check(evaluation)
            if float(values.min()) < target:
                raise CertificateError(
                    f"bound: a mapping of the value {values.min():.9g} is below the claimed bound"
                )
    return count


class _Orders:
    """The loop orders of a space that can differ in cost.

    A loop that one step of all its units covers may stand anywhere: the cost model counts what an
    execution of the loop nest does (`Symmetry.NEST`), and whoever offers bounds declares that.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._known: dict[tuple[int, frozenset[int]], IntArray] = {}
        self._columns = [
            [
                i
                for i, p in enumerate(grid.space.parameters)
                if p.level == level and p.kind in ("priority", "order")
            ]
            for level in (0, 1)
        ]

    def of(self, which: IntArray, ranges: Ranges) -> list[IntArray]:
        """For each structure, ``(n, P)`` actions with all orders of the loops that iterate."""
        found = []
        plain = self._grid.actions(which, ranges)
        for action, allocation in zip(plain, which.tolist(), strict=True):
            mapping = self._grid.space.decode(action[None])
            units = self._grid.allocations.units(allocation)
            whole = np.array(self._grid.space.layer.extents)
            rows = action[None]
            for level in (0, 1):
                tiles = mapping.tiles[0, level].astype(np.int64)
                loops = frozenset(np.flatnonzero(tiles * units[level] < whole).tolist())
                choices = self._choices(level, loops)
                rows = np.repeat(rows, len(choices), axis=0)
                rows[:, self._columns[level]] = np.tile(choices, (len(rows) // len(choices), 1))
                whole = tiles
            found.append(rows)
        return found

    def _choices(self, level: int, loops: frozenset[int]) -> IntArray:
        """``(n, columns)`` choices of one level that give every order of some loops once."""
        if (level, loops) not in self._known:
            dims = {DIMS[d] for d in loops}
            parameters = self._grid.space.parameters
            columns = [
                c
                for c in self._columns[level]
                if parameters[c].kind == "order" or parameters[c].dim in dims
            ]
            sizes = [int(self._grid.space.nvec[column]) for column in columns]
            every = np.array(list(np.ndindex(*sizes)), dtype=np.int64).reshape(
                math.prod(sizes), len(columns)
            )
            actions = np.zeros((len(every), len(self._grid.space.nvec)), np.int64)
            actions[:, columns] = every
            orders = self._grid.space.decode(actions).orders[:, level]
            kept: dict[tuple[int, ...], int] = {}
            for row, order in enumerate(orders.tolist()):
                kept.setdefault(tuple(d for d in order if d in loops), row)
            self._known[level, loops] = actions[list(kept.values())][:, self._columns[level]]
        return self._known[level, loops]
