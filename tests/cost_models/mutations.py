"""Mistakes put into the exact model's kernel, one at a time, and the nests that find them.

The kernel's sources run as plain Python, each with its text changed where a mutation says so. A
mutation is found by a nest whose counts are not those of the simulator, or are none. After a change
of the kernel, or of the random nests, this says which nest finds each first:

    python -m tests.cost_models.mutations --nests 10000
"""

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

import cost_models
from benchmarks.mutations import Mutation, mutations
from benchmarks.nest_features import differing
from cost_models import Cost, CostModelError
from cost_models.exact import model, nest_counts
from cost_models.exact.nest import Nest
from cost_models.exact.options import HALO_TIMES
from cost_models.exact.simulator import simulate
from marl_common import kernel_source
from tests.cost_models.nests import random_nest
from tests.cost_models.tiny import Case, random_full_case

PACKAGE = "cost_models.exact"
FOLDER = Path(model.__file__).parent
DEPTHS, MOST_MACS = 4, 100
MUTATIONS = tuple(one for one in mutations() if one.nest >= 0)
OPTIONS = [
    {"halo_time": time, "halo_space": space, "latency": latency}
    for time, space, latency in product(HALO_TIMES, ("union", "tile"), ("stepwise", "bound"))
]
_PART = re.compile(r"^@(part|entry)$", re.MULTILINE)
_IMPORT = re.compile(rf"^from {PACKAGE}\.(\w+) import", re.MULTILINE)


def sources() -> dict[str, str]:
    """Texts of the kernel's sources by module, those that others need first."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        if name in found or not _PART.search(text):
            return
        for other in _IMPORT.findall(text):
            add(other)
        found[name] = text

    add("kernel")
    return found


def plain_kernel(change: Mutation | None = None) -> ModuleType:
    """The kernel's module, run as plain Python, with a change of its sources.

    Raises:
        AssertionError: The text to be replaced does not occur once, so that the change would miss.
    """
    texts = sources()
    if change is not None:
        texts[change.module] = change.changed(texts[change.module])
    with patch.dict(sys.modules), patch.object(kernel_source, "PURE", True):
        for name, text in texts.items():
            module = ModuleType(f"{PACKAGE}.{name}")
            sys.modules[module.__name__] = module
            exec(compile(text, str(FOLDER / f"{name}.py"), "exec"), module.__dict__)
    return module


@contextmanager
def kernel_in_place(kernel: ModuleType) -> Iterator[None]:
    """Let the exact model count by another kernel, in a work space of its own."""
    space = nest_counts.WorkSpace()
    with (
        patch.dict(sys.modules, {f"{PACKAGE}.kernel": kernel}),
        patch.object(nest_counts, "WORK", space),
        patch.object(model, "WORK", space),
    ):
        yield


def nest_of(number: int) -> Nest:
    """A random nest of one to four memories."""
    return random_nest(np.random.default_rng((41, number)), 1 + number % DEPTHS, MOST_MACS)


def case_of(number: int) -> tuple[Case, dict[str, str]]:
    """A random mapping of two levels on a chip, and options."""
    return random_full_case(np.random.default_rng((41, number))), OPTIONS[number % len(OPTIONS)]


def mapping_cost(name: str, number: int) -> Cost:
    """What a model says of a random mapping."""
    case, options = case_of(number)
    return cost_models.load(name, **options).evaluate(case.layer, case.accelerator, case.mapping)


def executed(number: int, two_levels: bool) -> Any:
    """Counts of a nest, or the cost of a mapping, by execution."""
    return mapping_cost("simulator", number) if two_levels else simulate(nest_of(number))


def counted(number: int, two_levels: bool) -> Any:
    """Counts of a nest, or the cost of a mapping, by the kernel that is in place."""
    return mapping_cost("exact", number) if two_levels else nest_counts.count(nest_of(number))


def difference(kernel: ModuleType, number: int, two_levels: bool, right: Any) -> str:
    """How a kernel differs from what is right for a nest or a mapping; empty where it does not."""
    with kernel_in_place(kernel):
        try:
            found = counted(number, two_levels)
            if two_levels:
                return "" if found == right else "cost"
            return ", ".join(differing(found, right))
        except (ArithmeticError, CostModelError, IndexError, ValueError) as error:
            return f"{type(error).__name__}: {error}"


def first_found(change: Mutation, nests: int) -> tuple[int, str] | None:
    """The first nest that finds a mutation, and what differs.

    The kernel as it is stands in for the simulator, which is slower; it has the last word.
    """
    kernel, two_levels = plain_kernel(change), change.two_levels
    for number in range(nests):
        if difference(kernel, number, two_levels, counted(number, two_levels)):
            found = difference(kernel, number, two_levels, executed(number, two_levels))
            if found:
                return number, found
    return None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nests", type=int, default=10_000, help="nests that are tried at most")
    parser.add_argument("--module", help="mutations of this module alone")
    args = parser.parse_args()
    missed = 0
    print(f"{'module':16}{'nest':>6}  what is wrong, and what shows it")
    for change in MUTATIONS:
        if args.module not in (None, change.module):
            continue
        found = first_found(change, args.nests)
        missed += found is None
        number, shown = found or (-1, "not found")
        print(f"{change.module:16}{number:6}  {change.wrong}: {shown[:60]}", flush=True)
    raise SystemExit(missed > 0)


if __name__ == "__main__":
    main()
