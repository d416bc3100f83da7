"""Programs of mappings compute the layer, in the order of the simulator's MACs."""

import shutil

import numpy as np
import pytest

import layers
from cost_models import Accelerator
from layers import Layer
from maestro_env import Problem
from mapper.export.c_program import c_files
from mapper.export.export_files import files_for
from mapper.export.export_source import ExportSource
from mapper.export.python_program import python_files
from tests.cost_models.chains import random_chip, random_mapping
from tests.mapper.programs import by_numpy, operands, random_case, run_c, run_python, simulated

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def case(seed: int) -> tuple[ExportSource, list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng((49, seed))
    source = random_case(rng, 1 + seed % 4)
    given = operands(source, rng)
    return source, given, by_numpy(source.layer, given[0], given[1], given[2].shape)


@pytest.mark.parametrize("seed", range(16))
def test_python_computes_the_layer_in_the_simulators_order(seed):
    source, given, expected = case(seed)
    assert run_python(source, given) == simulated(source)
    np.testing.assert_array_equal(given[2], expected)


@needs_gcc
@pytest.mark.parametrize("seed", range(8))
def test_c_computes_the_layer_in_the_simulators_order(seed, tmp_path):
    source, given, expected = case(seed)
    assert run_c(source, given, tmp_path) == simulated(source)
    np.testing.assert_array_equal(given[2], expected)
    given[2][...] = 7  # the program sets it to 0
    run_c(source, given, tmp_path, openmp=True)
    np.testing.assert_array_equal(given[2], expected)


def test_parallel_loops_are_marked_and_shared_sums_atomic():
    layer = layers.parse("conv:K=4,C=4,Y=4,X=4,R=1,S=1")
    problem = Problem(layer, Accelerator(16), "latency")
    looked = problem.look(problem.space.sample(200, 0))
    seen = set()
    for mapping in looked.mappings:
        (text,) = c_files(ExportSource(layer, problem.accelerator, mapping), openmp=True).values()
        loops = mapping.loops(layer, 16)
        spatial = [loop for loop in loops if loop.spatial and loop.iterations > 1]
        assert text.count("omp parallel for") == len(spatial)
        shared = any(loop.dim in "CRS" for loop in spatial)
        assert text.count("omp atomic") == shared
        seen.add(shared)
    assert seen == {True, False}


def test_a_layer_of_no_loops_is_one_mac_and_names_cannot_leave_their_comment():
    layer = Layer('x"""\n*/ <script> \\', "CONV", K=1, C=1, Y=1, X=1, R=1, S=1)
    problem = Problem(layer, "edge", "latency")
    looked = problem.look(problem.space.sample(1, 0))
    source = ExportSource(layer, problem.accelerator, looked.mappings[0])
    for tool, loop in (("c", "for ("), ("python", "for ")):
        ((file, text),) = files_for(tool, source).items()
        assert file.startswith("layer_x_script")
        assert not any(words in text for words in ("<script>", "*/", loop))
    given = [np.full(shape, 3) for shape in ((1, 1, 1, 1), (1, 1, 1, 1))] + [np.zeros((1, 1, 1, 1))]
    run_python(source, given)
    assert given[2].item() == 9


def test_deep_nests_stay_within_pythons_blocks():
    layer = layers.parse("ngconv:K=64,C=64,Y=66,X=66,R=5,S=5,N=8,groups=8")
    rng = np.random.default_rng(0)
    chip = random_chip(rng, 4)
    drawn = (random_mapping(rng, chip, layer) for _ in range(200))
    deepest = max(drawn, key=lambda mapping: len(mapping.loops(layer, chip)))
    (text,) = python_files(ExportSource(layer, chip, deepest)).values()
    assert text.count("for ") > 20
    assert "def inside16():" in text
    compile(text, "deep.py", "exec")
