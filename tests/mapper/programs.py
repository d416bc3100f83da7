"""Random layers, chips and mappings; their programs run, and followed MAC by MAC."""

import ctypes
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cost_models import Accelerator, Chain, load
from cost_models.chain.clusters import as_chain
from cost_models.exact.simulator import Execution
from layers import Layer, LayerKind
from maestro_env import Problem
from mapper.export.c_program import c_files
from mapper.export.export_source import ExportSource
from mapper.export.loop_program import LoopProgram
from mapper.export.python_program import python_files
from tests.cost_models.chains import random_chip, random_mapping
from tests.cost_models.tiny import random_whole_layer

Mac = tuple[int, ...]
Order = list[list[Mac]]
"""The MACs of every unit that has any, in order; units sorted by their first."""
HOOK = """
int logged[{most}][9];
int count = 0;
void note(int u, int k, int c, int y, int x, int r, int s, int n, int g) {{
  int one[9] = {{u, k, c, y, x, r, s, n, g}};
  memcpy(logged[count++], one, sizeof one);
}}
"""


def random_case(rng: np.random.Generator, memories: int) -> ExportSource:
    """A mapping of a tiny layer; of two levels where there are two memories, every other time."""
    layer = random_layer(rng)
    if memories == 2 and rng.random() < 0.5:
        chip = Accelerator(int(rng.integers(1, 17)), name="two")
        problem = Problem(layer, chip, "latency", space={"full": bool(rng.random() < 0.5)})
        looked = problem.look(problem.space.sample(20, int(rng.integers(1 << 30))))
        place = int(np.flatnonzero(looked.feasible)[0])
        return ExportSource(layer, chip, looked.mappings[place])
    chip = random_chip(rng, memories)
    return ExportSource(layer, chip, random_mapping(rng, chip, layer))


def random_layer(rng: np.random.Generator) -> Layer:
    """A layer of any kind, with strides, dilation, groups, batches and padding."""
    layer = random_whole_layer(rng, 150).renamed("<b>*/ layer\\")
    if layer.kind is LayerKind.GEMM:
        return layer
    top, left = (int(rng.integers(0, min(2, size))) for size in (layer.Y, layer.X))
    return replace(layer, padding=(top, 0, left, 0))


def operands(source: ExportSource, rng: np.random.Generator) -> list[np.ndarray]:
    """Input, filter and an output of zeros, as a program takes them."""
    inputs, filters, outputs = (tuple(axes.values()) for axes in LoopProgram.of(source).shapes)
    return [
        rng.integers(-128, 128, inputs).astype(np.int8),
        rng.integers(-128, 128, filters).astype(np.int8),
        np.zeros(outputs, np.int32),
    ]


def by_numpy(layer: Layer, inputs: np.ndarray, filters: np.ndarray, shape: tuple[int, ...]):
    """The layer's outputs by sliding windows and products of NumPy."""
    wide, taps = inputs.astype(np.int64), filters.astype(np.int64)
    if layer.kind is LayerKind.GEMM:
        return np.matmul(wide, taps).reshape(shape)
    n, c = layer.N, layer.C
    reach = (layer.reach_y, layer.reach_x)
    seen = np.lib.stride_tricks.sliding_window_view(
        wide.reshape(n, layer.groups, c, layer.Y, layer.X), reach, axis=(3, 4)
    )[:, :, :, :: layer.stride_y, :: layer.stride_x, :: layer.dilation_y, :: layer.dilation_x]
    if layer.depthwise:
        weights = taps.reshape(layer.groups, c, layer.R, layer.S)
        return np.einsum("ngcyxrs,gcrs->ngcyx", seen, weights).reshape(shape)
    weights = taps.reshape(layer.groups, layer.K, c, layer.R, layer.S)
    return np.einsum("ngcyxrs,gkcrs->ngkyx", seen, weights).reshape(shape)


def run_python(source: ExportSource, given: list[np.ndarray]) -> Order:
    """Run a mapping's Python program, which adds to the output; the order of its MACs."""
    ((name, text),) = python_files(source, hook="note").items()
    space: dict[str, Callable[..., None]] = {}
    exec(compile(text, name, "exec"), space)
    units: defaultdict[int, list[Mac]] = defaultdict(list)
    inputs, filters, outputs = given
    space[name.removesuffix(".py")](
        inputs.astype(np.int32), filters, outputs, lambda unit, *mac: units[unit].append(mac)
    )
    return sorted(units.values())


def run_c(
    source: ExportSource, given: list[np.ndarray], folder: Path, openmp: bool = False
) -> Order:
    """Compile and run a mapping's C program; with OpenMP nothing is followed."""
    ((name, text),) = c_files(source, openmp=openmp, hook="" if openmp else "note").items()
    most = source.layer.macs
    path, library = folder / name, folder / ("parallel.so" if openmp else "program.so")
    path.write_text(text + ("" if openmp else HOOK.format(most=most)), encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", *(["-fopenmp"] if openmp else [])]
    words = [str(shutil.which("gcc")), *flags, "-shared", "-fPIC", str(path), "-o", str(library)]
    subprocess.run(words, check=True, capture_output=True, text=True)
    loaded = ctypes.CDLL(str(library))
    getattr(loaded, name.removesuffix(".c"))(
        *(one.ctypes.data_as(ctypes.c_void_p) for one in given)
    )
    if openmp:
        return []
    logged = np.ctypeslib.as_array((ctypes.c_int * 9 * most).in_dll(loaded, "logged"))
    assert ctypes.c_int.in_dll(loaded, "count").value == most
    units: defaultdict[int, list[Mac]] = defaultdict(list)
    for unit, *mac in logged.tolist():
        units[unit].append(tuple(mac))
    return sorted(units.values())


class Followed(Execution):
    """The simulator's walk, which notes the MACs of each unit and moves nothing."""

    def __init__(self, nest) -> None:
        super().__init__(nest, 8)
        self.units: defaultdict[int, list[Mac]] = defaultdict(list)

    def _move(self, *_) -> None:
        pass

    def _drain(self, level: int) -> None:
        pass

    def _serve(self, units, traffic) -> None:
        level = self.depth + 1
        for at in self._loops(level, next(iter(units.values()))):
            for unit, tile in self._children(level, units, at).items():
                if all(tile):
                    self.units[unit].append(tuple(part[0] for part in tile))


def simulated(source: ExportSource) -> Order:
    """The order of MACs of each unit, step by step, as the simulator walks them."""
    model = load("exact")
    chip, mapping = source.chip, source.mapping
    if not isinstance(chip, Chain):
        chip, mapping = as_chain(chip, mapping, source.layer)
    followed = Followed(model.nest(source.layer, chip, mapping))
    followed.run()
    return sorted(followed.units.values())
