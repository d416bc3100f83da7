"""How large and how plain the code is: the counts that the bars on size are held against.

    python -m benchmarks house
    python -m benchmarks house OTHER/CHECKOUT --depth 1

One row for each package, with what is below it. A code line has a token that is neither comment nor
part of a docstring (or of a text that stands alone). Parameters are counted without `self` and
`cls`; how complex functions are `ruff` says (C901). An index is a subscript, outside of type hints,
with a whole number above 1 or a name in capitals in it; `shape[...]` aside.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.frame import asked, refuse, show

MANY, MOST = 6, 10
"""Parameters above which a function is counted."""
_SILENT = {
    getattr(tokenize, name)
    for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER")
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Counts:
    """What is counted in some files."""

    lines: int = 0
    modules: int = 0
    longest: int = 0
    functions: int = 0
    many: int = 0
    most: int = 0
    indices: int = 0

    @property
    def share(self) -> float:
        """Share of the functions with more than `MANY` parameters [%]."""
        return 100 * self.many / self.functions if self.functions else 0.0

    def add(self, other: Counts) -> None:
        """Count files together."""
        for name, mine in vars(self).items():
            theirs = getattr(other, name)
            setattr(self, name, max(mine, theirs) if name == "longest" else mine + theirs)


def texts_alone(tree: ast.Module) -> set[int]:
    """Lines of docstrings and of other texts that stand alone."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines with code on them; a text of several lines that is code counts all of them."""
    silent = texts_alone(tree)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - silent)


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters without `self` and `cls`; `*args` and `**options` are one each."""
    held = function.args
    named = [arg.arg for arg in (*held.posonlyargs, *held.args, *held.kwonlyargs)]
    stars = (held.vararg is not None) + (held.kwarg is not None)
    return len(named) + stars - (named[:1] in (["self"], ["cls"]))


def without_hints(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those below it, but for type hints."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from without_hints(child)


def is_index(node: ast.AST) -> bool:
    """Whether a node is a subscript with a number above 1, or a name in capitals, in it."""
    if not isinstance(node, ast.Subscript) or ast.unparse(node.value).endswith("shape"):
        return False
    for part in ast.walk(node.slice):
        if isinstance(part, ast.Name) and part.id.strip("_").isupper():
            return True
        if isinstance(part, ast.Constant) and type(part.value) is int and part.value > 1:
            return True
    return False


def count(path: Path) -> Counts:
    """The counts of one module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    lines = code_lines(text, tree)
    found = Counts(lines=lines, modules=1, longest=lines)
    found.indices = sum(map(is_index, without_hints(tree)))
    for node in ast.walk(tree):
        if not isinstance(node, _FUNCTIONS):
            continue
        given = parameters(node)
        found.functions += 1
        found.many += given > MANY
        found.most += given > MOST
    return found


def packages(root: Path, depth: int) -> dict[str, Counts]:
    """Counts of the packages of a checkout, each with what is below it, by dotted name."""
    found: dict[str, Counts] = {}
    tops = sorted(init.parent for init in root.glob("*/__init__.py"))
    for path in (path for top in tops for path in sorted(top.rglob("*.py"))):
        own = count(path)
        places = path.parent.relative_to(root).parts
        for end in range(1, min(len(places), depth) + 1):
            found.setdefault(".".join(places[:end]), Counts()).add(own)
    return found


def main() -> None:
    """Print the table."""
    given = asked(__doc__, checkout_=[Path], depth=(3, "levels of packages"))
    root = (given.checkout or [Path(__file__).parents[1]])[0].resolve()
    rows = packages(root, given.depth)
    if not rows:
        refuse(f"{root}: no package there - expected a checkout of the project")
    show([{"package": name, **asdict(row)} for name, row in sorted(rows.items())])
