"""A mapping as a Python function over NumPy arrays: the tiled loops, for reading and checking."""

from __future__ import annotations

from layers import DIMS
from mapper.export.export_source import ExportSource
from mapper.export.loop_program import LoopProgram, Turn, comment

MOST_BLOCKS = 16
"""Loops in each other of one function: Python takes at most 20."""


def python_files(source: ExportSource, *, hook: str = "") -> dict[str, str]:
    """A file of Python with one function that computes the layer.

    Args:
        source: What is exported.
        hook: As for :func:`c_files`; an argument of the function.

    Raises:
        ExportError: The mapping is infeasible.
        MappingError: It is a mapping of another chip.
    """
    program = LoopProgram.of(source)
    body = program.body
    inputs, filters, outputs = (
        f"{name}[{', '.join(places)}]" for name, places in zip("IFO", program.places, strict=True)
    )
    inside = [f"{outputs} += {inputs} * {filters}"]
    if hook:
        unit = body.unit.replace("/", "//")
        inside.insert(0, f"{hook}({unit}, {', '.join(body.index(dim) for dim in DIMS)})")
    shapes = (f"{name} ({', '.join(f'{dim} {n}' for dim, n in axes.items())})"
              for name, axes in zip("IFO", program.shapes, strict=True))  # fmt: skip
    text = [
        f'"""{program.title}."""',
        "",
        "",
        f"def {program.name}(I, F, O{f', {hook}' if hook else ''}):",
        '    """Add to O; rows and columns of I with their padding.',
        "",
        *(f"    {shape}" for shape in shapes),
        '    """',
        *_indented(_nested(body.turns, inside, 0)),
        "",
    ]
    return {f"{program.name}.py": "\n".join(text)}


def _nested(turns: list[Turn], inside: list[str], depth: int) -> list[str]:
    """The loops with what stands inside them; a function of its own every so many."""
    if not turns:
        return inside
    turn, *rest = turns
    step = turn.loop.step
    end = f"{turn.end} = min({turn.counter} + {step}, {turn.high})"
    lines = [
        f"for {turn.counter} in range({turn.low}, {turn.high}, {step}):  # {comment(turn.loop)}",
        *_indented([end] if turn.end else []),
        *_indented(_nested(rest, inside, depth + 1)),
    ]
    if not depth or depth % MOST_BLOCKS:
        return lines
    return [f"def inside{depth}():", *_indented(lines), f"inside{depth}()"]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
