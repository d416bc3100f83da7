"""``mapper evaluate``, and the examples that the documentation shows."""

from functools import partial
from pathlib import Path

import pytest

import layers
from tests.mapper.commands import json_of, said

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
MAPPING = str(EXAMPLES / "mapping.yaml")


evaluate, evaluate_json = partial(said, "evaluate"), partial(json_of, "evaluate")


def test_all_cost_models_side_by_side() -> None:
    found = evaluate_json("-l", "mobilenetv2.2", "--mapping", MAPPING, "--cost-model", "all")
    code, out, _ = evaluate("-l", "mobilenetv2.2", "--mapping", MAPPING, "--cost-model", "all")
    assert code == 0
    assert len(found["causes"]) > 1
    for number, cause in enumerate(found["causes"], 1):
        assert f"{number}. {cause['title']}: {cause['why']}" in out


@pytest.mark.parametrize("model", ["exact", "maestro"])
def test_a_mapping_and_its_directives_cost_the_same(model: str, tmp_path: Path) -> None:
    words = ["-l", "mobilenetv2.2", "--cost-model", model]
    mapped = evaluate_json(*words, "--mapping", MAPPING)
    path = tmp_path / "directives.m"
    path.write_text(mapped["dataflow"])
    lowered = evaluate_json(*words, "--dataflow", str(path))
    assert lowered["costs"] == mapped["costs"]


def test_an_infeasible_mapping_is_exit_code_1_with_its_reason() -> None:
    words = ["-l", "mobilenetv2.2", "--mapping", MAPPING, "--l1-bytes", "4"]
    code, _, err = evaluate(*words)
    assert code == 1
    assert "L1" in err
    assert "limit 4 B" in err


def test_every_layer_of_the_example_file_can_be_searched() -> None:
    for layer in layers.read_file(EXAMPLES / "layers.yaml"):
        words = ["search", "-l", f"{EXAMPLES / 'layers.yaml'}:{layer.name}", "--budget", "200"]
        assert json_of(*words)


def test_the_example_accelerator() -> None:
    words = ["-l", "mobilenetv2.2", "--mapping", MAPPING]
    found = evaluate_json(*words, "--accelerator", str(EXAMPLES / "accelerator.yaml"))
    assert found["accelerator"]["num_pes"] == 256


def test_the_example_directives() -> None:
    path = str(EXAMPLES / "weight_stationary.m")
    found = evaluate_json("-l", "vgg16.conv3_1", "--dataflow", path, "-a", "archgym")
    assert found["costs"]["exact"]["macs"] == layers.get("vgg16.conv3_1").macs


def test_a_whole_network_brings_its_layers() -> None:
    path = str(EXAMPLES / "two_layers.m")
    found = evaluate_json("--dataflow", path, "-a", "archgym", "--cost-model", "maestro")
    assert [row["layer"]["name"] for row in found] == ["conv1", "conv2"]
    code, out, _ = evaluate("--dataflow", path, "-a", "archgym", "--cost-model", "maestro")
    assert code == 0
    assert "conv2" in out
    code, _, err = evaluate("--dataflow", path, "-l", "vgg16.1")
    assert code == 2
    assert "holds 2 layers" in err


def test_raw_figures_of_the_maestro_model() -> None:
    words = ["-l", "mobilenetv2.2", "--mapping", MAPPING, "--no-guard"]
    assert evaluate_json(*words, "--cost-model", "maestro")["costs"]["maestro"]["feasible"]
    code, _, err = evaluate(*words, "--cost-model", "exact")
    assert code == 2
    assert "exact" in err
