"""A mapping as a C function: the tiled loops, each with the level that it serves."""

from __future__ import annotations

from layers import DIMS
from mapper.export.export_source import ExportSource
from mapper.export.loop_program import LoopProgram, Turn, comment

DECLARED = """#ifndef DATA
#define DATA int8_t
#endif
#ifndef SUM
#define SUM int32_t
#endif
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
"""


def c_files(source: ExportSource, *, openmp: bool = False, hook: str = "") -> dict[str, str]:
    """A file of C with one function that computes the layer.

    Args:
        source: What is exported.
        openmp: Mark loops over units as parallel; sums that units share become atomic.
        hook: A function that is called for each MAC with the number of its unit and the indices
            K C Y X R S N G, to follow the order of MACs; none if empty.

    Raises:
        ExportError: The mapping is infeasible.
        MappingError: It is a mapping of another chip.
    """
    program = LoopProgram.of(source)
    shapes, body = program.shapes, program.body
    inputs, filters, outputs = (
        name + "".join(f"[{place}]" for place in places)
        for name, places in zip("IFO", program.places, strict=True)
    )
    inside = [f"{outputs} += (SUM){inputs} * {filters};"]
    if openmp and any(t.loop.spatial and t.loop.dim not in shapes[2] for t in body.turns):
        inside.insert(0, "#pragma omp atomic")
    if hook:
        indices = ", ".join(body.index(dim) for dim in DIMS)
        inside.insert(0, f"{hook}({body.unit}, {indices});")
    lines = _nested(body.turns, inside, openmp)
    declared = ", ".join(
        f"{kind} {name}{_sizes(axes)}"
        for kind, name, axes in zip(("const DATA", "const DATA", "SUM"), "IFO", shapes, strict=True)
    )
    text = "\n".join(
        [
            f"// {program.title}",
            f"// I{_named(shapes[0])}  rows Y and columns X with their padding",
            f"// F{_named(shapes[1])}",
            f"// O{_named(shapes[2])}  set to 0 first",
            "#include <stdint.h>",
            "#include <string.h>",
            DECLARED,
            *([f"void {hook}(int unit, int k, int c, int y, int x, int r, int s, int n, int g);\n"]
              if hook else []),
            f"void {program.name}({declared}) {{",
            f"  memset(O, 0, sizeof(SUM){''.join(f' * {n}' for n in shapes[2].values())});",
            *_indented(lines),
            "}",
            "",
        ]
    )  # fmt: skip
    return {f"{program.name}.c": text}


def _nested(turns: list[Turn], inside: list[str], openmp: bool) -> list[str]:
    """The loops with what stands inside them."""
    if not turns:
        return inside
    turn, *rest = turns
    counter, step = turn.counter, turn.loop.step
    head = f"for (int {counter} = {turn.low}; {counter} < {turn.high}; {counter} += {step}) {{"
    end = f"const int {turn.end} = LEAST({counter} + {step}, {turn.high});"
    return [
        *(["#pragma omp parallel for"] if openmp and turn.loop.spatial else []),
        f"{head}  // {comment(turn.loop)}",
        *_indented([end] if turn.end else []),
        *_indented(_nested(rest, inside, openmp)),
        "}",
    ]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _sizes(axes: dict[str, int]) -> str:
    return "".join(f"[{n}]" for n in axes.values())


def _named(axes: dict[str, int]) -> str:
    return "".join(f"[{dim} {n}]" for dim, n in axes.items())
