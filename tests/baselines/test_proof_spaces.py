"""Proofs of spaces with many allocations: read some at a time, with what little memory there is."""

import numpy as np
import pytest

from baselines import StructureSpace, prove
from baselines.optimal import solver, structure_space
from cost_models import Accelerator
from layers import Layer
from maestro_env import Problem

LAYER, CHIP = Layer("few", "CONV", 2, 2, 3, 3, 2, 2), Accelerator(2, 64, 400, 2, 1)


@pytest.fixture
def problem() -> Problem:
    return Problem(LAYER, CHIP, space={"full": True, "tiles": "divisors"})


def test_allocations_are_numbered_one_by_one(problem):
    space = StructureSpace(problem.space)
    count = len(space.structures)
    which = np.arange(count)
    units = space.structures.units(which)
    mappings = problem.space.decode(space.allocations.actions(which))
    keys = [
        (*units[row].ravel().tolist(), *mappings.bypass[row].ravel().tolist(),
         *mappings.parallel[row].tolist(), *mappings.parallel2[row].tolist(),
         int(mappings.cluster_size[row]))
        for row in range(count)
    ]  # fmt: skip
    assert len(set(keys)) == count
    again = space.allocation_of(mappings)
    assert (space.structures.units(again) == units).all()
    assert sum(sum(space.sizes(*roots)) for roots in space.roots()) == problem.space.size


def test_roots_may_come_in_lots(problem, monkeypatch):
    whole = prove(problem)
    monkeypatch.setattr(structure_space, "AT_ONCE", 7)
    lots = prove(problem)
    assert lots.status == "optimal"
    assert lots.value == pytest.approx(whole.value, rel=1e-9)
    two = prove(problem, threads=2)
    assert two.value == pytest.approx(whole.value, rel=1e-9)


def test_a_proof_that_is_out_of_time_before_it_saw_all_roots_knows_physical_bounds(
    problem, monkeypatch
):
    whole = prove(problem)
    monkeypatch.setattr(structure_space, "AT_ONCE", 7)
    monkeypatch.setattr(solver, "SURE", 0)
    proof = prove(problem, timeout=0)
    assert proof.status == "timeout"
    assert problem.bound == pytest.approx(proof.bound)
    assert proof.bound <= whole.value <= proof.value
