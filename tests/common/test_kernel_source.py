"""Kernels that are compiled ahead: what the build makes of a source, and what it refuses."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from marl_common import check_built
from marl_common.kernel_source import source_hash

ROOT = Path(__file__).parents[2]
RECORDS = """
import numpy as np
Segment = np.dtype([("size", "i8"), ("counts", "i8", (3,)), ("scale", "f8")], align=True)
Nest = np.dtype(
    [("segments", Segment, (2, 4)), ("fill", Segment), ("flag", "i1"), ("total", "i8")], align=True
)
TABLE = (7, -9, 11)
HALF = 0.5
"""
KERNEL = """
import numpy as np
from marl_common import BoolArray, FloatArray, IntArray, address, entry, part
from toy.records import HALF, TABLE, Nest, Segment


@part
def weighed(segment: Segment, row: IntArray) -> tuple[int, bool]:
    found = 0
    for d in range(3):
        found += segment.counts[d] * row[d] + TABLE[d]
    segment.size += found
    segment.scale = np.ceil(found * HALF)
    return found // 7 + found % -4, found > 0


@entry
def run(nests: Nest, row: IntArray, out: FloatArray, chosen: BoolArray, count: int) -> int:
    last = -1
    for i in range(count):
        nest = address(nests[i])
        nest.fill = nest.segments[1][2]
        weighed(address(nest.fill), row)
        nests[i].segments[0][0] = nest.fill
        for a in range(2):
            for b in range(4):
                added, positive = weighed(address(nest.segments[a][b]), row)
                nest.total += added
                if positive:
                    last = i
        out[i] = nest.total / row[0] if nest.flag and chosen[i] else np.inf
    return min(last, 0xFFFFFFFF)
"""


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`setup_kernels.py`, which is beside the packages."""
    spec = importlib.util.spec_from_file_location("setup_kernels", ROOT / "setup_kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "setup_kernels", module)
    return module


@pytest.fixture
def toy(build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one kernel in a folder of its own."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "common").symlink_to(ROOT / "common")
    (tmp_path / "toy" / "__init__.py").write_text("raise SystemExit('not wanted')")
    (tmp_path / "toy" / "records.py").write_text(RECORDS)
    (tmp_path / "toy" / "kernel.py").write_text(KERNEL)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "toy"
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]


def test_two_sources_of_a_kernel_cannot_define_one_name(build: ModuleType, toy: Path) -> None:
    (toy / "other.py").write_text(
        "from marl_common import part\n@part\ndef weighed() -> int:\n    return 1\n"
    )
    (toy / "kernel.py").write_text(KERNEL.replace("import numpy as np", "from toy.other import x"))
    with pytest.raises(build.KernelError, match=r"weighed is defined in toy.*rename"):
        build.translate("toy.kernel")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            "@part\ndef log(value: float) -> float:\n    return value\n",
            r"log of toy.kernel is a name of C's too: rename",
        ),
        ("MORE = 3\n", r"kernel.py:\d+: constants belong"),  # beside functions
    ],
)
def test_what_a_source_cannot_define(build: ModuleType, toy: Path, more: str, says: str) -> None:
    (toy / "kernel.py").write_text(KERNEL + more)
    with pytest.raises(build.KernelError, match=says):
        build.translate("toy.kernel")


RUN = """
import sys, types, numpy as np
sys.path.insert(0, {folder!r})
toy = types.ModuleType("toy")
toy.__path__ = [{folder!r} + "/toy"]
sys.modules["toy"] = toy
import marl_common
from toy.kernel import run
from toy.records import Nest
rng = np.random.default_rng(0)
nests = np.zeros(5, Nest)
nests["segments"]["counts"] = rng.integers(-9, 9, (5, 2, 4, 3))
nests["flag"][1:] = 1
out = np.zeros(5)
chosen = np.array([1, 1, 1, 0, 1], bool)
row = rng.integers(-9, 9, {size})
last = run(nests, row, out, chosen, 5)
print(last, out, nests["segments"]["scale"].sum(), nests["fill"]["size"], nests["segments"]["size"])
"""


def outcome(folder: Path, size: int = 3, **environment: str) -> tuple[int, str, str]:
    return executed(RUN.format(folder=str(folder), size=size), **environment)


def executed(code: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def compile_toy(build: ModuleType, toy: Path, checked: bool) -> None:
    """As `setup.py` does, with the compiler of this machine."""
    import sysconfig
    from shutil import which

    if importlib.util.find_spec("Cython") is None or which("cc") is None:
        pytest.skip("needs Cython and a C compiler")
    source = toy / "kernel.pyx"
    source.write_text(build.translate("toy.kernel", checked)[0])
    cython = [sys.executable, "-m", "cython", "--module-name", "toy.kernel", str(source)]
    subprocess.run(cython, check=True, capture_output=True)
    target = toy / f"kernel{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = f"-I{sysconfig.get_path('include')}"
    flags = ["-shared", "-fPIC", "-O0", "-fwrapv"]
    subprocess.run(["cc", *flags, include, source.with_suffix(".c"), "-o", target], check=True)


def test_a_compiled_kernel_does_what_its_source_does(build: ModuleType, toy: Path) -> None:
    expected = outcome(toy.parent, MAPPER_PURE="1")
    assert expected[0] == 0, expected[2]
    code, _, error = outcome(toy.parent)
    assert code == 1
    assert "toy.kernel.run is not compiled - expected an extension beside it - build it" in error
    compile_toy(build, toy, checked=False)
    assert outcome(toy.parent) == expected
    (toy / "records.py").write_text(RECORDS.replace("0.5", "0.25"))
    assert (
        "toy.kernel was compiled before toy/records.py changed - build it" in outcome(toy.parent)[2]
    )


def test_a_checked_kernel_finds_a_place_outside_of_an_array(build: ModuleType, toy: Path) -> None:
    compile_toy(build, toy, checked=True)
    assert outcome(toy.parent) == outcome(toy.parent, MAPPER_PURE="1")
    assert "IndexError: Out of bounds" in outcome(toy.parent, size=2)[2]


MODELS = """
import sys
import numpy as np
from cost_models import Accelerator, load
from cost_models.exact.nest_counts import count
from layers import get
from tests.cost_models.batches import whole_filter_batch
from tests.cost_models.nests import random_nest
for number in range(10):
    print(sorted(count(random_nest(np.random.default_rng(number), 1 + number % 5)).items()))
layer, chip, model = get("mobilenetv2.2"), Accelerator.preset("edge"), load("maestro")
batch = whole_filter_batch(layer, 30, 6, 199)
costs = model.evaluate_batch(layer, chip, batch)
print(costs.latency_cycles.tolist(), costs.reason.tolist())
print(model.evaluate(layer, chip, batch[0].dataflow(layer)).latency_cycles)
print([sys.modules[f"cost_models.{name}.kernel"].__file__[-3:] for name in ("exact", "maestro")])
"""


def test_the_models_say_the_same_by_their_kernels_and_by_their_sources() -> None:
    compiled, source = (executed(MODELS, MAPPER_PURE=pure, PYTHONHASHSEED=pure) for pure in "01")
    assert compiled[0] == source[0] == 0, compiled[2] + source[2]
    (*figures, kernels), (*same, sources) = (out.splitlines() for _, out, _ in (compiled, source))
    assert figures == same
    assert sources == "['.py', '.py']"
    assert ".py" not in kernels


def test_an_extension_is_refused_once_a_source_has_changed(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("a = 1\n")
    extension = str(tmp_path / "kernel.so")
    stamps = {"kernel.py": source_hash(source), "not_installed.py": "0"}
    check_built("kernel", extension, stamps)
    source.write_text("a = 2\n")
    with pytest.raises(ImportError, match=r"compiled before kernel.py changed - build it: pip"):
        check_built("kernel", extension, stamps)
