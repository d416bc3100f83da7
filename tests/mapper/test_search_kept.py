"""``mapper search --network --fuse keep``: totals, resuming, the page, and what is refused."""

import json
import sqlite3
from pathlib import Path

import pytest

import marl_mapper
from layers.graph_builder import GraphBuilder
from layers.layer import Layer
from marl_mapper import LibraryError
from tests.mapper.commands import json_of, printed
from tests.mapper.small_networks import EXPERTS, NET

pytestmark = pytest.mark.usefixtures("quick_proofs")
SEARCH = "search --network net.yaml -o energy"
KEEP = f"{SEARCH} --fuse keep --workers 1"


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    (folder / "net.yaml").write_text(NET, encoding="utf-8")
    return folder


def test_what_stays_saves_what_it_says(folder: Path) -> None:
    found = json_of(f"{KEEP} --gap 0 --out out")
    keep, none = found["keep"], found["none"]
    plain = json_of(f"{SEARCH} --method optimal")["totals"]
    assert none["energy_nj"] == pytest.approx(plain["energy_nj"], rel=1e-12)
    assert keep["gap"] == none["gap"] == 0
    assert keep["energy_nj"] < 0.9 * none["energy_nj"]
    assert [stay["tensors"] for stay in found["stays"]] == [["a"], ["b", "sum"], ["pool"]]
    assert (found["stays"][1]["from"], found["stays"][1]["to"]) == (1, 3)
    assert sum(node["energy_nj"] for node in found["nodes"]) == pytest.approx(keep["energy_nj"])
    images, filters, results = 3 * 10 * 10, 4 * 9 * (3 + 4) + 8, 2
    assert keep["dram_bytes"] == images + filters + results  # everything once
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "b = sum" in page
    assert page.count("<svg") == 1
    assert json.loads((folder / "out/network.json").read_text(encoding="utf-8")) == found


def test_a_language_model_says_tokens_per_second_and_energy_by_token(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(EXPERTS), encoding="utf-8")
    words = "search --network config.json --tokens 1 --cache 20 --batch 4 --fuse keep --workers 1"
    found = json_of(words)
    assert found["language_model"]["experts"]["expected_distinct"] == 3.75
    assert found["tokens"] == 4
    assert found["tokens_per_s"] == pytest.approx(4e9 / found["keep"]["latency_cycles"])  # 1 GHz
    assert found["j_per_token"] == pytest.approx(found["keep"]["energy_nj"] * 1e-9 / 4)
    assert "tokens/s at 1,000 MHz" in printed(words)


def test_a_store_is_gone_on_with_and_the_library_answers_alike(folder: Path) -> None:
    first = json_of(KEEP)

    def ids() -> list[tuple[int, str]]:
        with sqlite3.connect(folder / "runs.sqlite") as store:
            return store.execute("select id, ended from runs where status = 'finished'").fetchall()

    done = ids()
    assert json_of(KEEP) == first
    assert ids() == done
    with sqlite3.connect(folder / "runs.sqlite") as store:
        store.execute("delete from runs where id = ?", done[0][:1])
    assert json_of(KEEP)["keep"]["value"] == first["keep"]["value"]
    assert len(ids()) == len(done)
    assert (
        marl_mapper.map_network("net.yaml", "edge", "energy").keep.value == first["keep"]["value"]
    )


def test_a_chip_too_small_says_so(folder: Path) -> None:
    (folder / "net.yaml").write_text(NET.partition("  - {name: pool")[0], encoding="utf-8")
    small = printed(f"{KEEP} --l2-bytes 60")
    assert "nothing can stay: no tensor that a later node reads is small enough" in small
    assert "L2 has no capacity: every tensor may stay" in printed(f"{KEEP} --set l2_bytes=null")


def test_passes_are_counted_in_every_mode() -> None:
    free, counted = (
        json_of(f"{SEARCH} --method optimal --passes {how}")["totals"]
        for how in ("free", "counted")
    )
    assert counted["passes"] == 2
    assert counted["pass_cycles"] == 512 // 16 + 256 // 16  # the sum reads twice, at 16 B a cycle
    for name, more in (("latency_cycles", "pass_cycles"), ("energy_nj", "pass_energy_nj")):
        assert counted[name] == pytest.approx(free[name] + counted[more])
    kept = json_of(f"{KEEP} --gap 1e-9 --passes counted")
    assert kept["none"]["energy_nj"] == pytest.approx(counted["energy_nj"])


def test_a_layer_alone_keeps_nothing() -> None:
    graph = GraphBuilder()
    layer = Layer.gemm("a", M=4, N=4, K=4)
    graph.mac(layer, graph.source("x", (4, 4)))
    alone = marl_mapper.map_network(graph.graph(), objective="edp", gap=0)
    assert (alone.rooms, alone.keep.gap, alone.keep.value) == ((), 0, alone.none.value)
    for wrong in ({"passes": "some"}, {"workers": 0}):
        with pytest.raises(LibraryError, match=f"{next(iter(wrong))}: got"):
            marl_mapper.map_network("net.yaml", **wrong)
