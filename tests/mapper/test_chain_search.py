"""Commands that search, on chips that are lists of levels."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

import layers
import marl_mapper
from cost_models import CHAINS, PRESETS, Accelerator, load_chip, mapping_from
from maestro_env import ChainSpace
from mapper.results.verdicts import validate
from marl_runs import Store
from tests.mapper.commands import json_of, printed

SEARCH = "search --layer resnet18.5 --method ga --budget 300"


@pytest.mark.parametrize("chip", ["simba", "eyeriss-rs", "edge"])
def test_what_is_found_is_a_file_that_costs_as_much(chip: str, tmp_path: Path) -> None:
    found = json_of(f"{SEARCH} -a {chip} --space uneven --no-proof --out {tmp_path}")
    mapping = mapping_from(yaml.safe_load((tmp_path / "mapping.yaml").read_text()))
    words = f"evaluate -l resnet18.5 -a {chip} --mapping {tmp_path}/mapping.yaml"
    assert found["best"]["energy_nj"] == json_of(words)["costs"]["exact"]["energy_nj"]
    assert found["best"]["mapping"] == mapping.to_dict()
    assert found["bound"] <= found["best"]["objective"]
    assert not (tmp_path / "mapping.m").exists()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    loaded = load_chip(chip)
    chain = loaded.to_levels() if isinstance(loaded, Accelerator) else loaded
    assert chain == CHAINS.get(chip, chain)
    assert manifest["problem"]["accelerator"] == chain.to_dict()


def test_a_folder_of_results_is_reported_with_the_front(folder: Path) -> None:
    printed("search --network mlp -a simba --method random --budget 200 --out out")
    sweep = "--sweep levels.InputBuffer.bytes=8k,16k --timeout 0 --workers 1"
    printed(f"explore --network mlp -a simba {sweep} --out out")
    printed("report out --out page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "accelerator simba" in page
    assert "InputBuffer.bytes 8 kB" in page


def test_a_file_with_a_chip_and_single_fields(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(yaml.safe_dump(CHAINS["nvdla-cacc"].to_dict()))
    whole = json_of(f"{SEARCH} -a {path}")
    assert whole["best"] == json_of(f"{SEARCH} -a nvdla-cacc")["best"]
    half = json_of(f"{SEARCH} -a {path} --set levels.CBUF.bytes=16k")
    assert half["best"]["objective"] != whole["best"]["objective"]
    text = printed(f"{SEARCH} -a {path}")
    assert "CBUF" in text
    assert "above the optimum" in text


@pytest.mark.parametrize("chip", ["eyeriss-rs", "edge"])
def test_stores_hold_chips_and_mappings_of_any_depth(chip: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    words = f"{SEARCH} -a {chip} --store {path} --space uneven --no-proof"
    first = json_of(words)
    assert json_of(words)["best"] == first["best"]  # not searched again
    with Store.open(path) as store:
        assert len(store.runs()) == 1
        (verdict,) = validate(store)
        assert verdict.holds
    with sqlite3.connect(path) as raw:
        place = "$.best_mapping.levels[0].tiles.K"
        more = f"json_set(result, '{place}', 1 + json_extract(result, '{place}'))"
        raw.execute(f"update runs set result = {more}")
    with Store.open(path) as store:
        (verdict,) = validate(store)
        assert not verdict.holds


def test_a_stored_proof_on_a_list_of_levels_holds(tmp_path: Path) -> None:
    words = f"search -l gemm:M=2,N=2,K=2 -a simba --method optimal --store {tmp_path}/a.sqlite"
    assert json_of(words)["proof"]["optimal"]
    with Store.open(tmp_path / "a.sqlite") as store:
        (verdict,) = validate(store)
        assert verdict.holds, verdict.fault


@pytest.mark.usefixtures("one_format")
def test_clusters_name_parameters_by_level(tmp_path: Path) -> None:
    words = "cluster --layer resnet18.5 -a nvdla-cacc --samples 300 --top 30 --agents 3"
    printed(f"{words} --out {tmp_path}")
    agents = yaml.safe_load((tmp_path / "agents.yaml").read_text())
    assert "CACC.axis0.units" in str(agents)
    assert len(agents["agents"]) == 3


def test_the_space_is_counted_exactly() -> None:
    found = json_of("space --layer resnet18.5 -a nvdla-cacc")["layers"][0]
    layer, chip = layers.get("resnet18.5"), CHAINS["nvdla-cacc"]
    assert found["map_space"] == ChainSpace(layer, chip).size
    assert found["uneven"] == ChainSpace(layer, chip, uneven=True).size
    assert found["full"] == ChainSpace(layer, chip, full=True).size
    assert [key for key in found if key.startswith("equation1")] == ["equation1_l3"]


def test_the_library_says_where_figures_are_from() -> None:
    from cost_models.chips import fields_of

    for name, chip in CHAINS.items():
        fields = fields_of(name)
        assert chip.name == name
        assert len(fields["sources"]) >= 5
        for level in chip.inner:  # every capacity, and every fan-out, has a source
            if level.is_memory:
                assert any(key.startswith(f"levels.{level.name}") for key in fields["sources"])


def test_the_library_call_takes_them() -> None:
    found = marl_mapper.map("resnet18.5", "simba", method="ga", budget=200)
    assert "GlobalBuffer" in found.nest
    assert found.gap is not None
    assert "simba" in str(found)
    assert "GlobalBuffer" in found._repr_html_()
    asked: dict[Any, Any] = {
        PRESETS["edge"].to_levels(): {"uneven": True, "axis_dims": 3},
        "edge": {"uneven": True},
    }
    own, named = (
        marl_mapper.map("resnet18.5", chip, method="ga", budget=200, space=space)
        for chip, space in asked.items()
    )
    assert [entry["level"] for entry in own.mapping.to_dict()["levels"]].count("L2") == 3
    assert named.mapping == own.mapping


EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
EVALUATE = "evaluate -l conv:K=16,C=8,Y=6,X=6,R=3,S=3"
DEEP = f"-a {EXAMPLES / 'three_levels.yaml'} --mapping {EXAMPLES / 'three_levels_mapping.yaml'}"


def test_evaluate_says_what_each_level_holds_and_costs() -> None:
    found = json_of(f"{EVALUATE} {DEEP}")["costs"]["exact"]
    assert list(found["levels"]) == ["DRAM", "GlobalBuffer", "Weights"]
    assert "l1_bytes" not in found
    energies = [level["energy_nj"] for level in found["levels"].values()]
    assert sum(energies) < found["energy_nj"]
    halved = json_of(f"{EVALUATE} {DEEP} --set levels.Weights.read_pj=0")["costs"]["exact"]
    assert halved["levels"]["Weights"]["energy_nj"] < found["levels"]["Weights"]["energy_nj"]


def test_all_models_that_take_any_depth_stand_one_after_another(tmp_path: Path) -> None:
    chip = yaml.safe_load((EXAMPLES / "three_levels.yaml").read_text(encoding="utf-8"))
    for level in chip["levels"][1:]:
        level["fanout"] = {"units": 2}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(chip), encoding="utf-8")
    entries = [
        {"level": level, "tiles": {}, "parallel": [{"dim": dim}]}
        for level, dim in (("GlobalBuffer", "K"), ("Weights", "C"), ("Lanes", "Y"))
    ]
    entries[-1]["tiles"] = {"Y": 2}
    (tmp_path / "m.yaml").write_text(yaml.safe_dump({"levels": entries}), encoding="utf-8")
    files = f"-a {tmp_path / 'c.yaml'} --mapping {tmp_path / 'm.yaml'}"
    text = printed(f"{EVALUATE} {files} --cost-model all")
    first, second = text.split("Cost model simulator")
    assert "Cost model exact" in first
    cycles = [part.split("latency ")[1].split()[0] for part in (first, second)]
    assert cycles[0] == cycles[1]


def test_a_chip_is_drawn_level_by_level() -> None:
    text = printed(f"accelerators {EXAMPLES / 'three_levels.yaml'}")
    assert [line.split()[0] for line in text.splitlines() if not line.startswith("  |")] == [
        *("DRAM", "GlobalBuffer", "Weights", "Lanes", "MAC"),
    ]
    assert max(map(len, text.splitlines())) <= 80
    assert json_of("accelerators edge")["num_pes"] == 168
