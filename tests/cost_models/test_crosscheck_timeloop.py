"""Counts of Timeloop beside ours, for mappings in which tensors pass a level."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.crosscheck_timeloop import (
    LIKE,
    SPACES,
    TimeloopError,
    by_rules,
    compare,
    nest_counts,
    nest_input,
    program_path,
    statistics,
)
from benchmarks.crosscheck_timeloop_rules import (
    DROPS,
    EXTRAPOLATES,
    WHOLE,
    Rules,
)
from benchmarks.dividing_mapping import (
    INPUTS,
    NO_CAUSE,
    Compared,
)
from benchmarks.export_cases import cases
from benchmarks.frame import known

ROWS = known(Path(__file__).parent / "data" / "timeloop_bypass.csv")
"""What `python -m benchmarks.crosscheck --timeloop --out` kept of Timeloop 3.0.3: a sample."""


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    return list(compare(ROWS))


def test_all_but_inputs_are_equal_and_inputs_but_for_named_rules_of_timeloop(compared) -> None:
    relations = Counter[str]()
    for found in compared:
        relations[found.cause] += 1
        if found.cause not in LIKE.values():
            assert found.row["metric"] in INPUTS, found
    assert set(relations) == {*LIKE.values(), DROPS, EXTRAPOLATES, WHOLE}


def test_every_input_count_follows_from_timeloops_rules() -> None:
    rows = [row for row in ROWS if row["metric"] in INPUTS]
    assert len(rows) > 100
    for row in rows:
        assert by_rules(row) == int(row["timeloop"]), row


def test_a_rule_that_is_left_out_is_noticed(compared) -> None:
    wrong = Counter[str]()
    for found in compared:
        if found.row["metric"] in INPUTS:
            wrong["drops"] += by_rules(found.row, Rules(drops=False)) != found.theirs
            if found.cause == EXTRAPOLATES:
                # every iteration walked, as under TIMELOOP_DISABLE_TEMPORAL_EXTRAPOLATION=1
                assert by_rules(found.row, Rules(extrapolates=False)) == 30720 > found.theirs
                wrong["extrapolates"] += 1
    assert min(wrong["drops"], wrong["extrapolates"]) > 5


def test_a_wrong_count_is_noticed() -> None:
    changed = [row | {"timeloop": str(int(row["timeloop"]) - 1)} for row in ROWS]
    found = [one for one in compare(changed) if one.row["metric"] not in INPUTS]
    assert found
    assert all(one.cause == NO_CAUSE for one in found)


def steps_of(lines: list[dict[str, str]]) -> Counter[str]:
    """Steps of all loops of a mapping, by dimension."""
    steps = Counter[str]()
    for line in lines:
        for factor in line.get("factors", "").split():
            steps[factor[0]] = max(steps[factor[0]], 1) * int(factor[2:])
    return steps


def test_three_levels_are_given_to_timeloop_and_read(tmp_path: Path) -> None:
    case = next(iter(cases(1, 0)))
    steps = steps_of(nest_input(case.nest)["mapping"])
    assert [steps[name] for name in "KCPQRS"] == list(case.layer.extents[:6])
    level = case.nest.levels[0]
    space = SPACES[level.keeps[0]]
    program = tmp_path / "timeloop-model"
    program.write_text(
        f"#!/bin/sh\ngrep -q {level.level} input.yaml || exit 1\n"
        f"printf '=== {level.level} ===\\n    {space}:\\n'  > timeloop-model.stats.txt\n"
        "printf '   Scalar reads (per-instance) : 7\\n' >> timeloop-model.stats.txt\n"
        "printf '   Scalar fills (per-instance) : 5\\n' >> timeloop-model.stats.txt\n"
        "printf '   Utilized instances (max) : 3\\n' >> timeloop-model.stats.txt\n"
        "printf '   Energy (total) : 12.5 pJ\\n' >> timeloop-model.stats.txt\n"
        f"printf 'Networks\\n    {space}:\\n' >> timeloop-model.stats.txt\n"
        "printf '   Scalar reads (per-instance) : 512\\n' >> timeloop-model.stats.txt\n"
    )
    program.chmod(0o755)
    found = nest_counts(str(program), case.nest)
    assert {key: n for key, n in found.items() if n} == {
        (level.level, level.keeps[0], "read"): 21,
        (level.level, level.keeps[0], "write"): 15,
    }


def test_a_program_that_is_not_there_or_says_nothing() -> None:
    with pytest.raises(TimeloopError, match="'timeloop-nowhere' was not found; expected the path"):
        program_path("timeloop-nowhere")
    with pytest.raises(TimeloopError, match=r"wrote no timeloop-model\.stats\.txt"):
        statistics(program_path("false"), {})
