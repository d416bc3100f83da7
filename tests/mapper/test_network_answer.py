"""``mapper evaluate --network``: answers of networks evaluated again, executed, and refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.mapper.commands import json_of, refused
from tests.mapper.edited import Edit, both, set_at
from tests.mapper.small_networks import CHAIN, NET, deep_setting

pytestmark = pytest.mark.usefixtures("quick_proofs")
ATTENTION = """
sources: {query: [2, 6, 2], key: [2, 6, 2], value: [2, 6, 2]}
layers:
  - {name: scores, kind: gemm, M: 6, N: 6, K: 2, batch: 2, inputs: [query, key]}
  - {name: softmax, kind: norm, inputs: [scores], shape: [2, 6, 6]}
  - {name: context, kind: gemm, M: 6, N: 2, K: 6, batch: 2, inputs: [softmax, value]}
"""
LONG = """
sources: {query: [1, 1, 1], key: [1, 16, 1], value: [1, 16, 1]}
layers:
  - {name: scores, kind: gemm, M: 1, N: 16, K: 1, inputs: [query, key]}
  - {name: softmax, kind: norm, inputs: [scores], shape: [1, 16]}
  - {name: context, kind: gemm, M: 1, N: 1, K: 16, inputs: [softmax, value]}
"""
FILE = "out/network.json"
TINY = "--l2-bytes 14 --num-pes 1 --l1-bytes 8 --cost-model-option double_buffer=false"
SHORT = CHAIN.replace("24", "8").replace("22", "6")
DEEP = {
    "whole.yaml": deep_setting(300, True), "less.yaml": deep_setting(40, False),
    "least.yaml": deep_setting(12, False),
}  # fmt: skip
"""Files of lists of levels: their first one holds filters, or none in so many bytes."""


def answered(folder: Path, text: str, options: str) -> Any:
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    for name, setting in DEEP.items():
        (folder / name).write_text(yaml.safe_dump(setting.chip.to_dict()), encoding="utf-8")
    if text == CHAIN:  # its answer is there
        return json.loads((folder / FILE).read_text(encoding="utf-8"))
    return json_of(f"search --network net.yaml --workers 1 --out out {options}")


@pytest.mark.parametrize(
    ("text", "options", "model", "fused"),
    [
        (CHAIN, "tiles", "simulator", 3),
        (ATTENTION, "--fuse tiles --l2-bytes 80 --l1-bytes 16 --passes counted", "simulator", 2),
        (LONG, f"-o energy --fuse tiles {TINY}", "simulator", 2),
        (NET, "-o latency --fuse tiles", "simulator", 0),
        (NET, "--fuse keep --inputs 3 --passes counted", "simulator", 0),
        (NET, "-o energy --fuse keep -a simba", "exact", 0),
        (SHORT, "-o energy --fuse tiles -a whole.yaml", "simulator", 3),
        (ATTENTION, "-o energy --fuse tiles -a less.yaml --passes counted", "simulator", 2),
        (LONG, "-o energy --fuse tiles -a least.yaml", "simulator", 2),
    ],
)
def test_an_answer_costs_what_it_says(fused_chain, text, options, model, fused):
    folder = fused_chain
    answer = answered(folder, text, options)
    tiled = [node["fused"] for node in answer["nodes"] if "fused" in node]
    assert len(tiled) == fused
    if tiled:
        assert answer["tiles"]["value"] < answer["keep"]["value"]
        assert ("keys" in tiled[0]) == (text is LONG)
        assert tiled[0].get("keys", 0) < 16
    best = answer["tiles" if "tiles" in options else "keep"]
    for name in {"exact", model}:
        again = json_of(f"evaluate --network {FILE} --cost-model {name}")
        assert {key: again[key] for key in best} == pytest.approx(best, rel=1e-9)
        for one, other in zip(again["nodes"], answer["nodes"], strict=True):
            for key in ("latency_cycles", "energy_nj", "dram_bytes"):
                assert one[key] == pytest.approx(other[key], rel=1e-9)
    if ".yaml" in options:
        assert any(one["filter_stays"] for one in tiled) == ("whole.yaml" in options)
        assert answered(folder, text, options) == answer
        assert "Glb" in (folder / "out/report.html").read_text(encoding="utf-8")
        set_at("accelerator", "levels", 1, "bytes", 3)(answer)
        (folder / FILE).write_text(json.dumps(answer), encoding="utf-8")
        assert "B of Glb, which has 3 B" in refused(f"evaluate --network {FILE}")


def of_all(name: str, value: Any) -> Edit:
    """An edit of how the layers of the group are fused."""
    return both(*(set_at("nodes", n, "fused", name, value) for n in range(3)))


EDITS: list[tuple[Edit, str]] = [
    (set_at("nodes", 0, "energy_nj", 5), "node wide: energy_nj: 5 is written, but its mappings"),
    (set_at("tiles", "latency_cycles", 5), "tiles: latency_cycles: 5 is written"),
    (set_at("tiles", "bound", 1), "tiles: gap: "),
    (set_at("nodes", 0, "kind", "pooling"), "node wide: is pooling with .* expected mac with"),
    (set_at("nodes", 0, "node", "broad"), "nodes: are not those of net.yaml"),
    (set_at("nodes", 0, "fused", "tile", [3, 11]), "group 0: tile: its layers differ"),
    (of_all("tile", [23, 11]), "tile: 23 rows, but its last layer has 22; expected at most 22"),
    (of_all("tile", [5, 11]), "group 0: tiles: got 12, expected 10"),
    (both(of_all("tile", [22, 22]), of_all("tiles", 1)),
     r"node wide: what is fused with it needs [\d,.e+]+ B of L2, which has 2000 B"),
    (of_all("keys", 3), "group 0: keys: got 3, expected fewer than the first of two products"),
    (of_all("group", 1), "node wide: group: got 1, expected 0"),
    (set_at("nodes", 2, "fused", "group", 1), "group 1: narrow to narrow is no chain"),
    (set_at("nodes", 0, "fused", "parts", 0, "count", 77), "node wide: parts: got 77 of"),
    (set_at("nodes", 0, "fused", "parts", 0, "layer", "Y", 9), "whose shapes meet the layer"),
    (set_at("nodes", 0, "fused", "parts", []), "node wide: parts: got None"),
    (set_at("nodes", 0, "fused", "parts", 0, "mapping", {}), "node wide: mapping: "),
    (set_at("stays", [{"tensors": ["deep"], "from": 1, "to": 2, "bytes": 5808}]),
     r"stays\[0\]: deep may not stay here"),
    (set_at("accelerator", "l2_bytes", 1000), "needs .* B of L2, which has 1000 B"),
    (set_at("accelerator", "l2_bytes", "x"), "l2_bytes"),
    (set_at("network", "nowhere.yaml"), "nowhere.yaml: not found"),
    (set_at("passes", "some"), "passes: got 'some'"),
    (set_at("colour", 1), "unknown field 'colour'"),
    (set_at("shapes", []), "is of a network that was searched layer by layer"),
    (lambda data: data.pop("accelerator"), "accelerator missing"),
]  # fmt: skip


def test_edited_answers_are_refused_in_one_line(fused_chain: Path) -> None:
    path = fused_chain / FILE
    answer = path.read_text(encoding="utf-8")
    for number, (edit, says) in enumerate(EDITS):
        changed = json.loads(answer)
        edit(changed)
        path.write_text(json.dumps(changed), encoding="utf-8")
        assert re.search(says, err := refused(f"evaluate --network {FILE}")), (number, says, err)
