"""Certificates of problems, and lies about them."""

import ast
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baselines
from cost_models import Accelerator
from layers import Layer
from maestro_env import Problem
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.checker import check_certificate
from mapper.certificate.making import make_certificate
from mapper.search.problem_spec import ProblemSpec

EDGE = Accelerator.load("edge")
Lies = dict[str, tuple[Callable[[Any], Any], str]]
"""What changes a certificate, and what is said of it, by what the lie is."""


def spec_of(layer: Layer, chip: Any = EDGE, **more: Any) -> ProblemSpec:
    """A layer's problem, of the product unless another objective is named."""
    return ProblemSpec(layer, layer.name, chip, "chip", **({"objective": "edp"} | more)).complete()


def certified(spec: ProblemSpec, **options: Any) -> Certificate:
    return make_certificate(spec, baselines.prove(spec.build(), record=True, **options))


def imports_of(path: Path) -> list[tuple[str, str]]:
    """Modules that a file imports, not only for its types, and the names that it takes of each."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for block in [node for node in ast.walk(tree) if isinstance(node, ast.If)]:
        if ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


def changed(**fields: Any) -> Callable[[Any], Any]:
    """A change of its own fields."""
    return lambda c: replace(c, **fields)


def scaled(**factors: float) -> Callable[[Any], Any]:
    """A change of its own fields by factors."""
    return lambda c: replace(c, **{name: by * getattr(c, name) for name, by in factors.items()})


def in_problem(**fields: Any) -> Callable[[Certificate], Certificate]:
    """A change of the problem."""
    return lambda c: replace(c, problem=replace(c.problem, **fields))


LIES: Lies = {
    "a higher bound": (scaled(bound=1.01), "is above the value"),
    "a lower value": (scaled(value=0.9, bound=0.9), "value: .* is claimed, the model gives"),
    "a smaller space": (lambda c: replace(c, size=c.size // 2), "mappings are claimed"),
    "a proof that is cut": (lambda c: replace(c, tree=c.tree[:-1]), "some (boxes )?are missing"),
    "a proof with more": (
        lambda c: replace(c, tree=np.append(c.tree, c.tree.dtype.type(255))), "1 .* too many"
    ),
}  # fmt: skip
"""Those that are told of any problem."""


def assert_refused(
    check: Callable[[Any], Any], lie: tuple[Callable[[Any], Any], str], good: Any
) -> None:
    """A lie is said in one line."""
    change, says = lie
    with pytest.raises(CertificateError, match=says) as caught:
        check(change(good))
    assert "\n" not in str(caught.value)


def read_again(
    write: Callable[[Path, Any], None], read: Callable[[Path], Any], good: Any, folder: Path
) -> Any:
    """A file keeps a certificate bit by bit; what is read again."""
    write(folder / "a", good)
    again = read(folder / "a")
    write(folder / "b", again)
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    return again


def assert_no_optimum(good: Certificate, worse: float) -> None:
    """The tree proves a bound; nobody can claim a worse value as the optimum with it."""
    problem: Problem = good.problem.build()
    looked = problem.look(problem.space.sample(2000, 0))
    rows = np.flatnonzero(np.isfinite(looked.values) & (looked.values > worse * good.value))
    row = rows[np.argmin(looked.values[rows])]
    claim = replace(good, mapping=looked.mappings[int(row)], value=float(looked.values[row]))
    assert check_certificate(claim).gap > 0.009  # it holds for what it says: a gap
    with pytest.raises(CertificateError):
        check_certificate(replace(claim, bound=claim.value))


def edit(path: Path, member: str, **fields: Any) -> None:
    """Change fields of a member of a certificate's file."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    members[member] = json.dumps(json.loads(members[member]) | fields).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
