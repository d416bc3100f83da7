"""Commands that search, on chips that are lists of levels."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import layers
from cost_models import CHAINS, load, load_chip, mapping_from
from maestro_env import ChainSpace
from mapper import cli
from mapper.verdicts import validate
from runs import Store

SEARCH = ("search", "--layer", "resnet18.5", "--method", "ga", "--budget", "300")


def mapper(*words: str, code: int = 0) -> str:
    """Standard output of a command."""
    result = CliRunner().invoke(cli.app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.stderr
    return result.stdout


def mapper_json(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mapper(*words, "--json"))
    return found


@pytest.mark.parametrize("chip", ["simba", "eyeriss-rs"])
def test_what_is_found_is_a_file_that_costs_as_much(chip: str, tmp_path: Path) -> None:
    found = mapper_json(*SEARCH, "-a", chip, "--out", str(tmp_path))
    mapping = mapping_from(yaml.safe_load((tmp_path / "mapping.yaml").read_text()))
    cost = load("exact").evaluate(layers.get("resnet18.5"), load_chip(chip), mapping)
    assert found["best"]["energy_nj"] == cost.energy_nj
    assert found["best"]["mapping"] == mapping.to_dict()
    assert found["bound"] <= found["best"]["objective"]
    assert not (tmp_path / "mapping.m").exists()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert load_chip(chip) == CHAINS[chip]
    assert manifest["problem"]["accelerator"] == CHAINS[chip].to_dict()


def test_a_file_with_a_chip_and_single_fields(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(yaml.safe_dump(CHAINS["nvdla-cacc"].to_dict()))
    whole = mapper_json(*SEARCH, "-a", str(path))
    assert whole["best"] == mapper_json(*SEARCH, "-a", "nvdla-cacc")["best"]
    half = mapper_json(*SEARCH, "-a", str(path), "--set", "levels.CBUF.bytes=16k")
    assert half["best"]["objective"] != whole["best"]["objective"]
    text = mapper(*SEARCH, "-a", str(path))
    assert "CBUF" in text
    assert "x the physical bound" in text


def test_stores_hold_chips_and_mappings_of_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    words = (*SEARCH, "-a", "eyeriss-rs", "--store", str(path), "--space", "uneven")
    first = mapper_json(*words)
    assert mapper_json(*words)["best"] == first["best"]  # not searched again
    with Store.open(path) as store:
        assert len(store.runs()) == 1
        (verdict,) = validate(store)
        assert verdict.holds
    with sqlite3.connect(path) as raw:
        (text,) = raw.execute("select result from runs where id = 1").fetchone()
        result = json.loads(text)
        result["best_mapping"]["levels"][0]["tiles"]["K"] += 1
        raw.execute("update runs set result = ? where id = 1", (json.dumps(result),))
    with Store.open(path) as store:
        (verdict,) = validate(store)
        assert not verdict.holds


def test_a_comparison_has_every_method(tmp_path: Path) -> None:
    text = mapper(
        *("compare", "--layers", "resnet18.5", "--objectives", "edp", "--methods"),
        *("random,ga,expert", "--budget", "100", "--seeds", "1", "-a", "simba", "--workers", "1"),
        *("--store", str(tmp_path / "c.sqlite"), "--format", "csv"),
    )
    assert all(method in text for method in ("random", "ga", "expert"))


def test_clusters_name_parameters_by_level(tmp_path: Path) -> None:
    mapper(
        *("cluster", "--layer", "resnet18.5", "-a", "nvdla-cacc", "--samples", "300", "--top"),
        *("30", "--agents", "3", "--out", str(tmp_path)),
    )
    agents = yaml.safe_load((tmp_path / "agents.yaml").read_text())
    assert "CACC.axis0.units" in str(agents)
    assert len(agents["agents"]) == 3


def test_the_space_is_counted_exactly() -> None:
    found = mapper_json("space", "--layer", "resnet18.5", "-a", "nvdla-cacc")["layers"][0]
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
