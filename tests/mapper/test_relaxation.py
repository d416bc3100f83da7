"""The checker's own bounds: never above a mapping's figures, and no code of the model's bounds."""

from pathlib import Path

import numpy as np
import pytest

import cost_models
from baselines.optimal import StructureSpace
from benchmarks.chain_problems import random_problem as random_deep_problem
from maestro_env import Evaluation, Problem
from mapper.certificate import relaxation
from mapper.certificate.chain_grid import ChainGrid
from mapper.certificate.relaxation import Boxes, Floors, OwnBounds
from mapper.certificate.replay import Grid
from tests.baselines.proofs import boxes_around, random_problem, random_wide_problem
from tests.mapper.certificates import imports_of

BOUNDS = ("cost_models.exact.bounds", "cost_models.exact.chain_bounds")


def test_it_uses_nothing_of_the_bounds() -> None:
    """Every name that it imports lives elsewhere, and so does what its package hands it."""
    taken = imports_of(Path(relaxation.__file__))
    assert {module for module, name in taken if not name} <= {"math", "numpy"}
    homes = [
        getattr(cost_models, name).__module__ for module, name in taken if module == "cost_models"
    ]
    assert len(homes) >= 4
    for module in (*homes, *(module for module, _ in taken)):
        assert not module.startswith((*BOUNDS, "mapper", "baselines"))


def _holds(floors: Floors, found: Evaluation) -> int:
    """Compare the floors of boxes with the figures of a mapping in each; returns how many."""
    fits = found.costs.feasible
    accesses = found.costs.accesses
    dram = sum(accesses[t]["dram_read"] + accesses[t]["dram_write"] for t in accesses)
    figures = (
        (floors.dram, dram),
        (floors.compute, found.costs.latency_cycles),
        (floors.energy, found.costs.energy_nj),
        (floors.value, found.values),
    )
    for low, true in figures:
        assert (low <= np.asarray(true) * (1 + 1e-9))[fits].all()
    return int(fits.sum())


@pytest.mark.parametrize("seed", range(12))
def test_no_mapping_of_two_levels_is_below_its_boxes_floors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = (random_problem, random_wide_problem)[seed % 2](rng, most=(6, 24)[seed % 3 == 0])
    found = problem.look(problem.space.sample(150, rng))
    which, ranges = boxes_around(StructureSpace(problem.space), found.mappings, rng)
    boxes = Grid(problem.space).boxes(which, ranges)
    _holds(OwnBounds(problem).floors(boxes), found)


def _deep(seed: int) -> tuple[Floors, Evaluation]:
    """Mappings of a random problem of a list of levels, and the floors of boxes around them."""
    problem, rng = random_deep_problem(seed, 1_000, 10**12), np.random.default_rng(seed)
    found = problem.look(problem.space.sample(150, rng))
    return OwnBounds(problem).floors(_around(problem, found, rng)), found


@pytest.mark.parametrize("seed", range(12))
def test_no_mapping_of_a_chain_is_below_its_boxes_floors(seed: int) -> None:
    _holds(*_deep(seed))


def _around(problem: Problem, found: Evaluation, rng: np.random.Generator) -> Boxes:
    """A box around each mapping: its own tiles, or all of the memories inside a random one."""
    chip, grid = problem.accelerator, ChainGrid(problem)
    batch = found.mappings
    whole = batch.whole_tiles(problem.layer.extents)
    names = [level.name for level in chip.memories]
    high = whole[:, [batch.levels.index(name) for name in names]].astype(np.int64)
    units = np.ones((len(batch), len(grid.gaps), 8), np.int64)
    for gap, levels in enumerate(grid.gaps):
        for level in levels:
            if level:
                entry = batch.levels.index(chip.levels[level].name)
                units[:, gap] *= np.minimum(batch.units_along(entry), problem.layer.extents)
    for row, first in enumerate(rng.integers(0, len(names) + 1, len(high))):
        around = high[row, first - 1] if first else np.array(problem.layer.extents)
        high[row, first:] = around
    direct = np.broadcast_to(~np.array(chip.memories[0].holds), (len(high), 3))
    return Boxes(units, high, direct)


def test_a_floor_that_is_too_high_would_be_found() -> None:
    floors, found = _deep(4)
    assert _holds(floors, found) > 0
    with pytest.raises(AssertionError):
        _holds(floors._replace(energy=3 * floors.energy), found)
