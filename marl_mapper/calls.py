"""What `mapper export`, `mapper explain` and `mapper validate` do, as calls."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from layers import Layer
from maestro_env import Problem
from mapper import Choice, ExportSource, agents_of, best_decisions, files_for, write_files
from marl_common import LARGEST_SEED, brief
from marl_mapper.mapped import Mapped
from marl_mapper.mapped_values import SAME
from marl_mapper.mapping import Chip
from marl_mapper.options import LibraryError


def export(
    mapped: Mapped,
    to: str,
    out: str | Path | None = None,
    *,
    pad: bool = False,
    openmp: bool = False,
) -> dict[str, str]:
    """Another tool's files, or a program, of a mapping.

    Args:
        mapped: A mapped layer.
        to: The tool, as ``mapper export --to`` takes it.
        out: Folder that the files are written into; None writes nothing.
        pad: Where a tile does not divide, export a larger layer.
        openmp: In C, mark loops over units as parallel.

    Returns:
        The files' texts by name.

    Raises:
        ExportError: The tool is not known, or has no words for the mapping.
        OSError: The folder cannot be written to.
    """
    source = ExportSource(_mapped(mapped).layer, mapped.accelerator, mapped.mapping)
    texts = files_for(to, source, pad=pad, openmp=openmp)
    if out is not None:
        write_files(Path(out), texts)
    return texts


def explain(
    layer: Layer | str,
    chip: Chip = "edge",
    objective: str = "edp",
    *,
    agents: str = "auto",
    seed: int = 0,
) -> list[Choice]:
    """The decisions of trained agents' best proposal for a layer, each with its probability.

    Args:
        layer: The layer, or its name.
        chip: The chip.
        objective: What is minimised.
        agents: ``"auto"`` for those of the package, or a file of ``mapper pretrain``.
        seed: Of the proposals.

    Raises:
        LibraryError: There are no such agents, or the seed is none.
        ValueError: An error of the layer, chip or objective.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise LibraryError(f"seed: got {brief(seed)}, expected a whole number from 0 to 2^63 - 1")
    problem = Problem(layer, chip, objective)
    found = agents_of(agents)
    if found is None:
        raise LibraryError(f"agents: got {brief(agents)}, expected 'auto' or a file of agents")
    return best_decisions(found, problem, np.random.default_rng(seed))[1]


def validate(mapped: Mapped) -> None:
    """Evaluate a mapping again, and hold its value against the bound that was proven.

    Raises:
        LibraryError: The cost model gives another value now, or one below the bound.
    """
    problem = _mapped(mapped).problem.build()
    now = float(problem.look(np.asarray(mapped.result.best_action)[None]).values[0])
    if not math.isclose(now, mapped.value, rel_tol=SAME):
        raise LibraryError(
            f"{mapped.layer.name}: value {mapped.value!r}, but the cost model gives {now!r} now"
        )
    if mapped.bound is not None and now < mapped.bound * (1 - SAME):
        raise LibraryError(
            f"{mapped.layer.name}: value {now!r} is below the bound {mapped.bound!r}"
        )


def _mapped(given: object) -> Mapped:
    if not isinstance(given, Mapped):
        raise LibraryError(f"got {brief(given)}, expected a Mapped, as marl_mapper.map gives it")
    return given
