"""Builds the kernels: typed Python, compiled ahead by Cython and a C compiler.

Where there is no C compiler on PATH, PyPI's `ziglang` is one. ``MAPPER_CHECKED=1`` builds kernels
that check the bounds of arrays, for tests. The rest of the project is described in pyproject.toml.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from shutil import which

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent))

KERNELS = (
    "cost_models.exact.kernel",
    "cost_models.exact.bounds.kernel",
    "cost_models.exact.chain_bounds.kernel",
    "cost_models.maestro.kernel",
    "maestro_env.kernel",
    "baselines.optimal.kernel",
    "mapper.pretrained.kernel",
    "mapper.marl.kernel",
)
"""Modules that hold a kernel's entries; `setup_kernels.py` finds the other sources."""
CHECKED = os.environ.get("MAPPER_CHECKED", "0") not in ("", "0")
FLAGS = ["-O3", "-DNDEBUG", "-g0", "-fwrapv", "-fno-math-errno", "-ffp-contract=off"]
BOUNDS = ["-O1", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]
"""Arrays inside records know their shapes: the compiler checks them."""


def system_compiler() -> list[str] | None:
    """The C compiler on PATH: the one that CC names, Python's own, or any other."""
    for words in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        command = shlex.split(words or "")
        if command and which(command[0]):
            return command
    return None


class BuildKernels(build_ext):
    """Translates each kernel's sources, has Cython make C of them, and compiles it."""

    def finalize_options(self) -> None:
        """Use all cores; compile what is checked anew, and once more what was."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        self.force = self.force or CHECKED

    def build_extensions(self) -> None:
        """Choose the compiler, and translate all kernels."""
        from setup_kernels import translate

        command = system_compiler() or [sys.executable, "-m", "ziglang", "cc"]
        self.compiler.set_executables(
            compiler_so=[*command, "-fPIC"], linker_so=[*command, "-shared"]
        )
        self.translated = {ext.name: translate(ext.name, CHECKED) for ext in self.extensions}
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Compile one kernel."""
        text, files = self.translated[ext.name]
        source = Path(self.build_temp) / f"{ext.name.replace('.', '_')}.pyx"
        source.parent.mkdir(parents=True, exist_ok=True)
        if not source.exists() or source.read_text(encoding="utf-8") != text:
            source.write_text(text, encoding="utf-8")
        in_c = source.with_suffix(".c")
        if self.force or not in_c.exists() or in_c.stat().st_mtime < source.stat().st_mtime:
            cython = [sys.executable, "-m", "cython", "--module-name", ext.name]
            subprocess.run([*cython, str(source), "-o", str(in_c)], check=True)
        ext.sources, ext.depends = [str(in_c)], [str(source), *map(str, files)]
        super().build_extension(ext)


setup(
    ext_modules=[
        Extension(
            name,
            [f"{name.replace('.', '/')}.py"],
            extra_compile_args=[*FLAGS, *(BOUNDS if CHECKED else [])],
        )
        for name in KERNELS
    ],
    cmdclass={"build_ext": BuildKernels},
    setup_requires=[] if system_compiler() else ["ziglang"],
)
