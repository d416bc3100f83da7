"""``mapper bench``: searchers that break the rules, and result files that do not hold."""

import json

from maestro_env import bench_digest
from tests.hostile.rows import Row, table

HEAD = """
from dataclasses import dataclass, replace
from baselines import BaseSearcher, Capabilities

@dataclass(frozen=True)
class Options:
    pass

class Mine(BaseSearcher):
    name, source, Config = "mine", "here", Options

    def _run(self, problem, rng):
        problem.evaluate(problem.space.sample(50, 0))
"""
SEARCH = "\n    def search(self, problem, budget, seed, recorded=None):\n        "
RUN = "\n    def _run(self, problem, rng):\n        "
WRONG = {
    "raises": (RUN + "raise RuntimeError('no luck\\nat all')", "RuntimeError: no luck$"),
    "lies": (
        SEARCH + "found = super().search(problem, budget, seed)"
        "\n        return replace(found, best_value=found.best_value / 2)",
        "it returned the value .*, but the best of its 50 samples is",
    ),
    "other_mapping": (
        SEARCH + "found = super().search(problem, budget, seed)"
        "\n        return replace(found, best_action=found.best_action * 0)",
        "it returned the value .*, but its mapping has",
    ),
    "overspends": (
        SEARCH + "return super().search(problem, 2 * budget, seed)"
        "\n" + RUN + "problem.evaluate(problem.space.sample(500, 0))",
        "it evaluated 200 mappings, expected at most 100",
    ),
    "looks": (
        RUN + "problem.look(problem.space.sample(500, 0)); super()._run(problem, rng)",
        "it evaluated .* mappings, expected at most 100",
    ),
    "forks": (
        RUN + "fork = problem.fork(); fork.start(None)"
        "\n        fork.evaluate(problem.space.sample(500, 0))",
        "it evaluated .* mappings, expected at most 100",
    ),
    "nothing": (SEARCH + "return None", "AttributeError"),
    "exits": (RUN + "raise SystemExit(3)", "SystemExit: 3"),
    "proves": ("\n    capabilities = Capabilities(proves_optimum=True)", "has no gap"),
}
"""Bodies of searchers, and what is said of each."""


def _searcher(name: str, body: str, says: str) -> Row:
    file = f"bench_{name}"
    code = f"{HEAD}\nclass Bad(Mine):{body}\n"
    return Row(f"mapper bench {file}:Bad --quick", says, files={f"{file}.py": code})


FILE = {"format": "marl-mapper bench", "version": 1, "problems": bench_digest()}
ROW = {"problem": 1, "task": "100", "seed": 0, "budget": 100, "samples": 100, "cpu_s": 0.1}
WHOLE = FILE | {
    "searcher": {"name": "ga", "label": "ga"},
    "seeds": 1,
    "rows": [ROW | {"value": 1.0, "action": [0]}],
    "versions": {},
    "command": "mapper bench ga",
    "sha256": "0" * 64,
}
FILES = {
    "": "not valid JSON",
    "[]": "expected the format",
    '{"version": 1, "version": 1}': "given twice",
    json.dumps(FILE | {"version": 2}): "version is 2, expected 1",
    json.dumps(FILE | {"version": True}): "version is True, expected 1",
    json.dumps(FILE | {"problems": "9"}): "problems is '9', expected '",
    json.dumps(FILE): "searcher",
    json.dumps(WHOLE | {"extra": 1}): "extra",
    json.dumps(WHOLE | {"seeds": "1"}): "seeds",
    json.dumps(WHOLE | {"rows": [ROW]}): "rows.0",
    json.dumps(WHOLE | {"rows": [ROW | {"value": -1.0, "action": [0]}]}): "rows.0.value",
    json.dumps(WHOLE | {"rows": [ROW | {"value": 1.0, "action": [-1]}]}): "rows.0.action",
    json.dumps(WHOLE | {"rows": [ROW | {"task": "5 s"}]}): "rows.0.task",
}
"""Result files, and what is said of each."""

COMMANDS = {
    "mapper": {
        "validate --bench missing.json": "not found",
        "validate --certificate x --bench f.json": "--certificate too",
        "bench": "Missing argument",
        "bench optimal": "has no gap",
        "bench ga --out .": "is a folder",
    },
}
ROWS = [
    *(_searcher(name, *row) for name, row in WRONG.items()),
    *(
        Row("mapper validate --bench f.json", says, files={"f.json": text})
        for text, says in FILES.items()
    ),
    *table(COMMANDS),
    Row("mapper validate 3 --bench f.json", "got a run", {"f.json": "{}"}),
]
