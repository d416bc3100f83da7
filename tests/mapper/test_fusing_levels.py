"""Fused layers on lists of levels: optima beside brute force, floors, executions, refusals."""

import re
from pathlib import Path

import pytest
import yaml

import layers
from cost_models import load_chip
from mapper.fusing.fused_group import groups_of
from tests.mapper.commands import json_of, printed, said
from tests.mapper.small_networks import deep_setting
from tests.mapper.test_fusing import CHAIN
from tests.mapper.test_network_answer import ATTENTION, FILE, LONG, assert_costs

pytestmark = pytest.mark.usefixtures("folder")


SHORT = CHAIN.replace("24", "8").replace("22", "6")


@pytest.mark.parametrize(
    ("text", "filters", "size", "options", "fused"),
    [
        (SHORT, True, 300, "-o energy", 3),
        (SHORT, False, 300, "-o energy", 3),
        (ATTENTION, False, 40, "-o energy --passes counted", 2),
        (LONG, False, 12, "-o energy", 2),
    ],
)
def test_an_answer_costs_what_its_execution_says(folder, text, filters, size, options, fused):
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    chip = deep_setting(size, filters).chip.to_dict()
    (folder / "deep.yaml").write_text(yaml.safe_dump(chip), encoding="utf-8")
    search = "search --network net.yaml -a deep.yaml --fuse tiles --workers 1 --out out"
    answer = json_of(f"{search} {options}")
    assert answer["tiles"]["value"] < answer["keep"]["value"]
    assert sum("fused" in node for node in answer["nodes"]) == fused
    assert ("keys" in answer["nodes"][0]["fused"]) == (text is LONG)
    if not filters:
        assert not any(node["fused"]["filter_stays"] for node in answer["nodes"] if "fused" in node)
    assert_costs(answer, "tiles", ("exact", "simulator"))
    assert json_of(f"{search} {options}") == answer
    assert "Glb" in (folder / "out/report.html").read_text(encoding="utf-8")
    saved = (folder / FILE).read_text(encoding="utf-8")
    (folder / FILE).write_text(saved.replace(f'"bytes": {size}', '"bytes": 3'), encoding="utf-8")
    code, out, err = said(f"evaluate --network {FILE}")
    assert (code, out) == (2, "")
    assert "B of Glb, which has 3 B" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("chip", "says"),
    [
        ("eyeriss-rs", "no layers are fused: GLB does not hold what is between them"),
        ("nvdla-cacc", "no layers are fused: CBUF does not hold what is between them"),
        ("deep.yaml", "between them the smallest fused tile needs [0-9]+ B of Glb, which has 8 B"),
    ],
)
def test_levels_in_which_nothing_is_fused_say_why(folder: Path, chip: str, says: str) -> None:
    net = CHAIN.replace("24", "6").replace("22", "4")
    (folder / "net.yaml").write_text(net, encoding="utf-8")
    fields = deep_setting(8, False).chip.to_dict()
    (folder / "deep.yaml").write_text(yaml.safe_dump(fields), encoding="utf-8")
    out = printed(f"search --network net.yaml -a {chip} -o energy --fuse tiles --workers 1")
    assert re.search(says, " ".join(out.split())), out


def test_a_level_that_holds_filters_apart_fuses_nothing() -> None:
    """Nor on two levels: what lies between layers would take the capacity of filters."""
    graph = layers.graph_of("mobilenetv2")
    assert groups_of(graph, load_chip("simba"))
    assert not groups_of(graph, load_chip("eyeriss-rs"))
    assert not groups_of(graph, load_chip("eyeriss"))
    assert not groups_of(graph, load_chip("gemmini-16"))
