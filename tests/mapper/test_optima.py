"""The data set of proven optima: what it says stands without our code, and is checked."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from baselines import known_optimum
from benchmarks.optima import solving
from benchmarks.optima.problems import OptimaProblem, StatedProblem, problems, stated
from benchmarks.optima.solving import VALUES, solved, write_tables
from tests.mapper.commands import printed

KEPT = Path(__file__).parents[2] / "docs" / "data" / "optima"
SMALL = (
    "mlp.2-edge-edp-retain",
    "mlp.2-nvdla-small-edp-retain",
    "alexnet.4-nvdla-small-edp-retain",
)
DEEP = "bert_base.3-simba-edp-retain"


@pytest.fixture(scope="module")
def every() -> dict[str, OptimaProblem]:
    return {problem.id: problem for problem in problems()}


@pytest.fixture(scope="module")
def built(every, tmp_path_factory):
    folder = tmp_path_factory.mktemp("optima")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "BOXES", 100)
        rows = [solved(every[name], folder) for name in (*SMALL, DEEP)]
    write_tables(folder, rows)
    return folder, rows


def test_a_problem_is_stated_by_its_schema_and_its_certificate_holds(built: Any) -> None:
    folder, rows = built
    schema = json.loads((folder / "problem.schema.json").read_text())
    assert [row["status"] for row in rows] == ["optimal", "optimal", "empty", "boxes"]
    for row in rows:
        place = folder / "problems" / row["id"]
        said = json.loads((place / "problem.json").read_text())
        jsonschema.validate(said, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(said | {"more": 1}, schema)
        certificate = place / "optimum.cert"
        assert certificate.is_file() == (row["id"] != DEEP)
        if certificate.is_file():
            printed(f"validate --certificate {certificate}")


def test_the_table_has_a_row_for_each_problem_with_a_mapping(built: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    folder, rows = built
    with (folder / "optima.csv").open() as stream:
        found = list(csv.DictReader(stream))
    assert [row["id"] for row in found] == [SMALL[0], SMALL[1], DEEP]
    assert float(found[0]["value"]) == rows[0]["value"] == rows[0]["bound"]
    assert float(found[2]["bound"]) < float(found[2]["value"])
    again = parquet.read_table(folder / "optima.parquet").to_pylist()
    assert [row["value"] for row in again] == [float(row["value"]) for row in found]
    card = (folder / "README.md").read_text()
    assert "3 problems" in card
    assert "2 have a proven optimum" in card
    croissant = json.loads((folder / "croissant.json").read_text())
    fields = croissant["recordSet"][0]["field"]
    assert [field["name"] for field in fields] == list(found[0])


def test_what_is_solved_is_not_solved_again(built, every, monkeypatch):
    folder, rows = built
    monkeypatch.setattr(solving, "prove", None)
    assert solved(every[SMALL[0]], folder) == rows[0]
    monkeypatch.setattr(solving, "DATA_VERSION", "9.9.9")
    with pytest.raises(TypeError):
        solved(every[SMALL[0]], folder)


def test_a_statement_has_the_chip_s_prices_and_all_choices(every):
    problem = every["resnet18.1-edge-edp-none"]
    said = stated(problem)
    assert said.rules["halo_time"] == "none"
    assert said.layer.loops["Y"] == 56
    assert said.layer.macs == problem.spec.layer.macs
    assert said.chip.prices["DRAM"].read_pj["input"] == pytest.approx(64.0)
    choices = math.prod(len(parameter.choices) for parameter in said.space.parameters)
    assert choices == int(said.space.size)
    assert StatedProblem.model_validate_json(said.model_dump_json()) == said


def test_no_shape_is_in_two_splits(every: dict[str, OptimaProblem]) -> None:
    splits: dict[Any, set[str]] = {}
    for problem in every.values():
        shape = problem.spec.layer.renamed("")
        splits.setdefault(shape, set()).add(problem.splits["split_network"])
    assert all(len(found) == 1 for found in splits.values())
    chips = {problem.splits["split_chip"] for problem in every.values()}
    assert chips == {"train", "validation", "test"}


def test_the_kept_values_are_those_of_problems_and_of_the_library(every):
    with (KEPT / "optima.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert set(rows[0]) == set(VALUES)
    assert len({row["id"] for row in rows}) == len(rows)
    assert {row["id"] for row in rows} <= every.keys()
    compared = 0
    for row in rows[::7]:
        problem = every[row["id"]]
        known = None if problem.deep else known_optimum(problem.spec.build())
        if known is not None and row["status"] == "optimal":
            assert float(row["value"]) == pytest.approx(known.value, rel=1e-9)
            compared += 1
    assert compared > 10
    card = (KEPT / "README.md").read_text()
    proven = sum(row["status"] == "optimal" for row in rows)
    assert f"{len(rows):,} problems" in card
    assert f"{proven:,} have a proven optimum" in card
