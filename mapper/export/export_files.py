"""The files of every tool, written together."""

from __future__ import annotations

from pathlib import Path

from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError, loop_nest
from mapper.export.loop_program import check_feasible
from marl_common import suggest, write_text

PROGRAMS = ("c", "python")
"""Languages that a mapping's loops are written in."""
TOOLS = ("zigzag", "timeloop", "accelforge", "maestro", "gemmini", *PROGRAMS)
"""The tools and languages that mappings are exported to."""


def check_tool(tool: str) -> None:
    """Refuse a tool that is not known.

    Raises:
        ExportError: It is none of `TOOLS`.
    """
    if tool not in TOOLS:
        raise ExportError(
            f"--to: got {tool!r}, expected one of {', '.join(TOOLS)}.{suggest(tool, TOOLS)}"
        )


def files_for(
    tool: str, source: ExportSource, *, pad: bool = False, openmp: bool = False
) -> dict[str, str]:
    """The texts of a tool's files by name; each is checked against the tool's schema.

    Args:
        tool: One of `TOOLS`.
        source: What is exported.
        pad: See :func:`loop_nest` and :func:`gemmini_files`; the others take tiles that do not
            divide.
        openmp: In C, mark loops over units as parallel.

    Raises:
        ExportError: The tool has no words for the mapping, or it is infeasible on the chip: for
            tools that hold no tile twice, in capacities that hold each once. MAESTRO has none.
        MappingError: Likewise, of MAESTRO.
    """
    check_tool(tool)
    if openmp and tool != "c":
        raise ExportError(f"--openmp: got --to {tool}, expected --to c")
    if tool in PROGRAMS:
        from mapper.export.c_program import c_files
        from mapper.export.python_program import python_files

        return c_files(source, openmp=openmp) if tool == "c" else python_files(source)
    if tool == "gemmini":
        from mapper.export.gemmini_tiles import gemmini_files

        return gemmini_files(source, pad=pad)
    if tool == "maestro":
        from mapper.export.maestro_files import maestro_files

        return maestro_files(source)
    nest = loop_nest(source.layer, source.chip, source.mapping, pad=pad)
    if tool == "zigzag":
        from mapper.export.zigzag_files import zigzag_files as files
    elif tool == "timeloop":
        from mapper.export.timeloop_files import timeloop_files as files
    else:
        from mapper.export.accelforge_files import accelforge_files as files
    texts = files(nest)
    check_feasible(source, double_buffer=False)
    return texts


def write_files(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Write files into a folder, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in texts]
    for path in paths:
        write_text(path, texts[path.name])
    return paths
