"""``mapper evaluate``, and the examples that the documentation shows."""

from pathlib import Path

import pytest

import layers
from tests.mapper.commands import json_of, printed, refused, said

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
MAPPING = EXAMPLES / "mapping.yaml"
LAYER = f"evaluate -l mobilenetv2.2 --mapping {MAPPING}"


def test_all_cost_models_side_by_side() -> None:
    causes = json_of(f"{LAYER} --cost-model all")["causes"]
    out = printed(f"{LAYER} --cost-model all")
    assert len(causes) > 1
    for number, cause in enumerate(causes, 1):
        assert f"{number}. {cause['title']}: {cause['why']}" in out


@pytest.mark.parametrize("model", ["exact", "maestro"])
def test_a_mapping_and_its_directives_cost_the_same(model: str, tmp_path: Path) -> None:
    mapped = json_of(f"{LAYER} --cost-model {model}")
    path = tmp_path / "directives.m"
    path.write_text(mapped["dataflow"])
    words = f"evaluate -l mobilenetv2.2 --cost-model {model} --dataflow {path}"
    assert json_of(words)["costs"] == mapped["costs"]


def test_an_infeasible_mapping_is_exit_code_1_with_its_reason() -> None:
    code, _, err = said(f"{LAYER} --l1-bytes 4")
    assert (code, "L1" in err, "limit 4 B" in err) == (1, True, True)


def test_the_example_layers_accelerator_and_directives() -> None:
    for layer in layers.read_file(EXAMPLES / "layers.yaml"):
        assert json_of(f"search -l {EXAMPLES / 'layers.yaml'}:{layer.name} --budget 200")
    found = json_of(f"{LAYER} --accelerator {EXAMPLES / 'accelerator.yaml'}")
    assert found["accelerator"]["num_pes"] == 256
    path = EXAMPLES / "weight_stationary.m"
    found = json_of(f"evaluate -l vgg16.conv3_1 --dataflow {path} -a archgym")
    assert found["costs"]["exact"]["macs"] == layers.get("vgg16.conv3_1").macs


def test_a_whole_network_brings_its_layers() -> None:
    words = f"evaluate --dataflow {EXAMPLES / 'two_layers.m'}"
    on_chip = f"{words} -a archgym --cost-model maestro"
    assert [row["layer"]["name"] for row in json_of(on_chip)] == ["conv1", "conv2"]
    assert "conv2" in printed(on_chip)
    assert "holds 2 layers" in refused(f"{words} -l vgg16.1")


def test_raw_figures_of_the_maestro_model() -> None:
    found = json_of(f"{LAYER} --no-guard --cost-model maestro")
    assert found["costs"]["maestro"]["feasible"]
    assert "exact" in refused(f"{LAYER} --no-guard --cost-model exact")


def test_a_mapping_that_directives_have_no_words_for_has_a_cost_as_json() -> None:
    """Units take K, which a depthwise layer has not."""
    found = json_of(f"evaluate -l dsconv:C=32,Y=9,X=9,R=3,S=3 --l1-bytes none --mapping {MAPPING}")
    assert found["dataflow"] is None
    assert found["costs"]["exact"]["macs"] == 32 * 7 * 7 * 9


@pytest.mark.parametrize("model", ["exact", "maestro", "all"])
def test_a_mapping_of_another_kind_of_chip_is_refused(model: str) -> None:
    """By all models alike: it is no model's fault."""
    deep = EXAMPLES / "three_levels_mapping.yaml"
    words = f"evaluate -l mobilenetv2.2 --cost-model {model}"
    code, _, err = said(f"{words} --mapping {deep}")
    assert (code, "got an entry for each level" in err) == (2, True)
    code, _, err = said(f"{words} --mapping {MAPPING} -a simba")
    assert (code, "list of levels" in err) == (2, True)
