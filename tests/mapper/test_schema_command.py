"""``mapper schema`` and ``mapper accelerators --template``: what files may hold."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import layers
from cost_models import Accelerator
from mapper.clustering.assignment import Assignment
from mapper.commands.schema import SCHEMAS
from tests.mapper.commands import printed

jsonschema = pytest.importorskip("jsonschema", reason="part of the extra dev")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def validator(kind: str) -> Any:
    schema = json.loads(printed(f"schema {kind}"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_schema_is_one_and_refuses_what_has_other_fields(kind: str) -> None:
    assert not validator(kind).is_valid({"no_such_field": 1})


def test_the_examples_and_the_zoo_are_valid() -> None:
    validator("accelerator").validate(yaml.safe_load((EXAMPLES / "accelerator.yaml").read_text()))
    validator("layer").validate(yaml.safe_load((EXAMPLES / "layers.yaml").read_text()))
    for network in layers.networks():
        fields = [layers.to_fields(layer) for layer, _ in layers.distinct(network)]
        validator("layer").validate(json.loads(json.dumps({"layers": fields})))


def test_what_an_assignment_and_a_template_write_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "agents.yaml"
    Assignment((("outer_tile_K",), ("cluster_size", "x")), {"samples": 3}).save(path)
    validator("assignment").validate(yaml.safe_load(path.read_text()))
    assert not validator("assignment").is_valid({"agents": [[]]})
    path.write_text(printed("accelerators --template"))
    assert Accelerator.load(str(path)).num_pes == 168
    validator("accelerator").validate(yaml.safe_load(path.read_text()))
