"""How good proposals of the trained agents are on layers and chips that they never saw.

    python -m benchmarks pretrained_cases --set in-range --out docs/data/pretrained.csv

Sets: ``in-range`` (every distinct shape of the zoo's eight networks, three objectives, the three
presets and a chip of 100 PEs), ``out-of-range`` (20,000 PEs, 6 PEs, 64 kB of L1, a prime number of
PEs), ``deep`` (a third of the shapes of three networks on three chips that are lists of levels).
The reference of a case is its proven optimum where the library of optima has it or ``optimal``
finds it in ``--proof-s`` seconds of processor time, else the best of the genetic algorithm's and
the agents' samples (``--known`` leaves cases out whose reference would have to be made); references
are kept in ``--reference`` and made once. Of deep chips docs/data/chain-proofs*.csv have some. Time
is processor time after the problem was built, of a search that draws in batches of its own size.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import baselines
import layers
from baselines import known_optimum
from benchmarks.chain_proofs import NETWORKS, proof_within
from benchmarks.frame import DATA, Row, Table, known, write
from benchmarks.optimal_speed import shapes as distinct_shapes
from cost_models import Accelerator
from layers import Layer
from maestro_env import Problem
from mapper.pretrained.local_search import ProposalSearch
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.weights import Agents, agents_of

OBJECTIVES = ("latency", "energy", "edp")
IN_RANGE = {name: Accelerator.preset(name) for name in ("edge", "cloud", "archgym")}
IN_RANGE["small"] = Accelerator(100, 700, 50_000, 24, 6)
OUT_OF_RANGE = {
    "20,000 PEs": Accelerator(20_000, 1024, 8 << 20, 1024, 128),
    "6 PEs": Accelerator(6, 2048, 64_000, 8, 4),
    "64 kB of L1": Accelerator(256, 64 << 10, 4 << 20, 128, 32),
    "9,973 PEs": Accelerator(9973, 512, 2 << 20, 512, 64),
}
SETS = ("in-range", "out-of-range", "deep")
DEEP = ("simba", "nvdla-cacc", "eyeriss-rs")
PROOFS = DATA / "chain-proofs.csv", DATA / "chain-proofs-60.csv"
COUNTS = (1, 16, 64, 256, 512)
MS = (5, 10)
LIMITS = (*(f"best_of_{count}" for count in COUNTS), *(f"at_{ms}_ms" for ms in MS))
AFTERWARDS = 32
"""Samples at a time after the last of `COUNTS`."""
NEVER = 100.0
"""Ratio to the reference that stands for no sample yet."""
SAMPLES = 20_000
LONG_DEEP = (("ga", 5_000, 0), ("zero-shot", 10_000, 12_345))
"""Searches of which the best is the reference on a deep chip, where there is no proof."""


@dataclass(frozen=True)
class Case:
    """One case of the table."""

    layer: str
    chip: str
    accelerator: Accelerator | str
    objective: str
    shape: Layer | None = None

    @property
    def name(self) -> str:
        """Key of its reference."""
        return f"{self.layer}|{self.chip}|{self.objective}"

    def problem(self) -> Problem:
        """The problem, in the default space."""
        return Problem(self.shape or self.layer, self.accelerator, self.objective)


def cases(which: str) -> Iterator[Case]:
    """The cases of a set."""
    if which == "deep":
        distinct = list(distinct_shapes(list(NETWORKS)))[::3]
        for chip, shape, objective in itertools.product(DEEP, distinct, OBJECTIVES):
            yield Case(shape.name, chip, chip, objective, shape)
        return
    chips = IN_RANGE if which == "in-range" else OUT_OF_RANGE
    shapes = {}
    for network in layers.networks(language=False):
        for number, layer in enumerate(layers.network(network)):
            shapes.setdefault(layer.shape, f"{network}.{number}")
    names = list(shapes.values())
    names = names if which == "in-range" else names[::5]
    for name, (chip, accelerator), objective in itertools.product(names, chips.items(), OBJECTIVES):
        yield Case(name, chip, accelerator, objective)


class References:
    """Best known value of each case, in a file that only grows better."""

    def __init__(self, path: Path, proof_s: float) -> None:
        self.path, self.proof_s = path, proof_s
        self.known = {r["case"]: (float(r["value"]), r["source"]) for r in known(path)}
        for row in itertools.chain.from_iterable(map(known, PROOFS)):
            name = f"{row['layer']}|{row['accelerator']}|{row['objective']}"
            value, proven = float(row["value"]), row["status"] == "optimal"
            if proven or value < self.known.get(name, (np.inf, ""))[0]:
                self.known[name] = value, "optimal" if proven else "search"

    def knows(self, case: Case) -> bool:
        """Whether the reference of a case needs no search and no proof."""
        return case.name in self.known or bool(
            (found := known_optimum(case.problem())) and found.proven
        )

    def of(self, case: Case) -> tuple[float, str]:
        """Value and its source: ``optimal`` or ``search``; a proof is tried where there is time."""
        value, source = self.known.get(case.name, (np.inf, ""))
        if source == "optimal" or (source and self.proof_s == 0):
            return value, source
        found, how = self._found(case)
        self._keep(case, min(value, found), how)
        return self.known[case.name]

    def _found(self, case: Case) -> tuple[float, str]:
        values = []
        if entry := known_optimum(case.problem()):
            if entry.proven:
                return entry.value, "optimal"
            values.append(entry.value)
        if self.proof_s > 0:
            problem = case.problem()
            if baselines.can_prove(problem) is None:
                status, proof = proof_within(problem, self.proof_s)
                if status in ("optimal", "empty"):
                    return proof.value, "optimal"
                values.append(proof.value)
        problem = case.problem()
        for method, samples, seed in LONG_DEEP if case.chip in DEEP else (("ga", SAMPLES, 0),):
            values.append(baselines.load(method).search(problem, samples, seed).best_value)
        return min(values), "search"

    def better(self, case: Case, value: float) -> None:
        """The agents found something better than the searches did."""
        if value < self.known[case.name][0] and self.known[case.name][1] != "optimal":
            self._keep(case, value, "search")

    def _keep(self, case: Case, value: float, source: str) -> None:
        self.known[case.name] = (value, source)
        columns = ("case", "value", "source")
        rows = ((name, repr(v), s) for name, (v, s) in sorted(self.known.items()))
        write(self.path, columns, (dict(zip(columns, row, strict=True)) for row in rows))


def best_of(agents: Agents, problem: Problem, seed: int) -> list[float]:
    """Best value of ``zero-shot`` at each of `LIMITS`; inf before the first sample."""
    search, counted = _search(agents, problem, seed), []
    for count in COUNTS:
        counted += [e.values for _, e in search.batches(count - problem.samples)]
    every = np.concatenate(counted)
    found = [float(every[:count].min()) for count in COUNTS]
    begin = time.process_time()
    timed: list[tuple[float, np.ndarray]] = []
    search = _search(agents, problem, seed)  # in batches of its own size
    while not timed or 1e3 * (timed[-1][0] - begin) < MS[-1]:
        count = COUNTS[-1] - problem.samples if problem.samples < COUNTS[-1] else AFTERWARDS
        timed += [(time.process_time(), e.values) for _, e in search.batches(count)]
    for ms in MS:
        seen = [values.min() for at, values in timed if 1e3 * (at - begin) <= ms]
        found.append(float(min(seen, default=np.inf)))
    return found


def _search(agents: Agents, problem: Problem, seed: int) -> ProposalSearch:
    """A search from the start."""
    problem.start()
    return search_from(agents.weights, problem, np.random.default_rng(seed))


def keys(given: Any) -> Iterator[tuple[str, str, str]]:
    """The cases of a set, with what their rows are made of."""
    given.agents = agents_of(given.agents)
    given.references = References(given.reference, given.proof_s)
    given.numbered = {
        (c.layer, c.chip, c.objective): (n, c) for n, c in enumerate(cases(given.set))
    }
    yield from given.numbered


def row_of(given: Any, *key: str) -> list[dict[str, str]]:
    """What the agents find of a case; nothing where no mapping of the default space fits."""
    (number, case), references = given.numbered[key], given.references
    if given.known and not references.knows(case):
        return []
    reference, source = references.of(case)
    if not np.isfinite(reference):
        return []
    best = best_of(given.agents, case.problem(), number)
    references.better(case, min(best))
    ratio = (min(value / min(reference, *best), NEVER) for value in best)
    return [{"reference": source} | {n: f"{r:.5g}" for n, r in zip(LIMITS, ratio, strict=True)}]


def told(rows: list[Row], _: Any) -> None:
    """Print how near to the references proposals are, and by chip and objective."""
    curves = np.array([[float(row[limit]) for limit in LIMITS] for row in rows])
    proven = sum(row["reference"] == "optimal" for row in rows)
    print(f"{len(rows)} cases, {proven} with a proven optimum")
    for limit, ratio in zip(LIMITS, curves.T, strict=True):
        print(
            f"{limit}, {len(ratio)} cases: median {np.median(ratio):.3f}, "
            f"90th percentile {np.quantile(ratio, 0.9, method='higher'):.3f}, "
            f"within 5 % {np.mean(ratio <= 1.05):.1%}, "
            f"within 15 % {np.mean(ratio <= 1.15):.1%}"
        )
    for name in ("chip", "objective"):
        for value in dict.fromkeys(row[name] for row in rows):
            ratio = curves[[row[name] == value for row in rows]]
            high = np.quantile(ratio, 0.9, method="higher", axis=0)
            shown = ", ".join(f"{at} {n:.3f}" for at, n in zip(LIMITS, high, strict=True))
            print(f"{name} {value}: 90th percentile: {shown}")


TABLE = Table(
    __doc__,
    ("layer", "chip", "objective", "reference", *LIMITS),
    keys,
    row_of,
    options={
        "set": ("in-range", None, SETS),
        "agents": "auto",
        "reference": DATA / "pretrained-reference.csv",
        "proof_s": 0.0,
        "known": (False, "cases with a reference only"),
    },
    quick={"known": True},
    told=told,
)
