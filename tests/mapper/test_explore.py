"""`mapper explore`: fronts that are proven, gone on with, drawn and swept by any field."""

import csv
import json
import re

import numpy as np
import pytest

import cost_models
import layers
import marl_mapper
from cost_models import Accelerator, load_chip, with_fields, with_wires
from maestro_env import MapSpace, figure_bounds
from mapper.cli import main
from mapper.explore.design_figures import Design
from mapper.explore.design_run import Workload
from mapper.explore.design_space import FIELDS
from mapper.explore.exploration import Exploration, ExplorePlan
from mapper.explore.explore_file import design_text, read_explored
from mapper.explore.mapping_pool import NetworkPoint, ShapeOffer
from mapper.explore.mapping_rows import rows_of
from mapper.explore.network_hull import (
    LayerFloor,
)
from mapper.report.explore_page import render_page


def run(*words, code=0):
    with pytest.raises(SystemExit) as ended:
        main(["explore", *words])
    assert ended.value.code in ((0, None) if code == 0 else (code,))


SWEEP = ("--network", "mlp", "--pes", "16,64", "--l1", "64,256", "--l2", "4k", "--workers", "1")


def test_the_command_proves_its_front_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    files = ("--csv", "all.csv", "--plot", "front.svg", "--page", "front.html")
    run(*SWEEP, "--json", *files)
    first = json.loads(capsys.readouterr().out)
    assert first["designs"] == 4
    assert all(row["gap"] <= 0.01 for row in first["front"])
    assert all(row["least_edp_cycles_nj"] <= row["edp_cycles_nj"] for row in first["front"])
    with open("all.csv", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == 4
    edp = [(float(r["edp_cycles_nj"]), float(r["area_um2"])) for r in rows if r["front"] == "1"]
    for row in rows:
        values = float(row["edp_cycles_nj"]), float(row["area_um2"])
        assert any(a <= values[0] and b <= values[1] for a, b in edp)
    page = (tmp_path / "front.html").read_text(encoding="utf-8")
    assert "mlp" in page
    assert page.count("<circle") == 4
    assert not re.search(r"(src|href)=.?(https?:|//)|@import|fetch\(", page)
    assert (tmp_path / "front.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    run(*SWEEP, "--json")
    assert json.loads(capsys.readouterr().out) == first
    run(*SWEEP, "--max-area", "0.001mm2", code=1)
    assert "No design of 4 meets" in capsys.readouterr().err
    run(*SWEEP, "--max-power", "1uW", code=1)
    assert "the least has" in capsys.readouterr().err
    run(*SWEEP)
    assert "designs that no other one beats in edp and area" in capsys.readouterr().out


def test_three_objectives_of_which_mappings_trade_two(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(*SWEEP, "--json", "-o", "latency,energy,area", "--designs", "3", "--timeout", "5")
    found = json.loads(capsys.readouterr().out)
    assert found["front"]
    assert all(row["gap"] >= 0 for row in found["front"])
    chips = {tuple(row[name] for name in FIELDS) for row in found["front"]}
    assert found["designs_on_the_front"] == len(chips) <= found["designs"] == 3
    assert found["points_on_the_front"] == len(found["front"]) > len(chips)
    run(*SWEEP, "-o", "latency,energy,area", "--designs", "3", "--timeout", "5", "--out", "out")
    share = f"{len(chips)} of 3 designs ({len(found['front'])} points)"
    assert share in " ".join(capsys.readouterr().out.split())
    assert read_explored(tmp_path / "out" / "explore.json").share == share


def test_designs_whose_networks_keep_tensors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = (*SWEEP, "--fuse", "keep", "--gap", "0.001", "--wires", "off")
    run(*words, "--json", "--page", "front.html", "--out", "out")
    first = json.loads(capsys.readouterr().out)
    assert first["designs"] == 4
    for row in first["front"]:
        assert 0 <= row["gap"] <= 0.0015
        chip = Accelerator(*(row[name] for name in FIELDS))
        kept = marl_mapper.map_network("mlp", chip, gap=0.001)
        assert row["edp_cycles_nj"] == pytest.approx(kept.keep.value, rel=2e-3)
        assert row["least_edp_cycles_nj"] <= kept.keep.value
    assert any(row["edp_cycles_nj"] < kept.none.bound for row in first["front"])
    run(*words, "--json")
    assert json.loads(capsys.readouterr().out) == first
    run(*words, "-o", "latency,energy,area", "--draw", "nsga2", "--designs", "3", "--json")
    found = json.loads(capsys.readouterr().out)
    assert all(row["gap"] <= 0.0015 and row["proven"] == "edp energy latency" for row in
               found["front"])  # fmt: skip
    assert len(read_explored(tmp_path / "out" / "explore.json").front) == len(first["front"])


CHIP = """
levels:
  - {name: DRAM, read_bw: 64, write_bw: 64}
  - {name: Glb, bytes: 16384, holds: [input, output], fanout: {axes: [4, 2], dims: [K, C]}}
  - {name: Weights, bytes: 1024, holds: [filter]}
  - {name: Sums, bytes: 256, holds: [output], fanout: {units: 4, dims: C}}
"""
DEEP = (
    *("--network", "mlp", "-a", "c.yaml", "--workers", "1", "--timeout", "0.1"),
    *("--sweep", "levels.Weights.bytes=256..1k", "--sweep", "levels.Glb.fanout.axes=4x2,8x4"),
)


def test_a_list_of_levels_is_swept_by_its_fields(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(CHIP, encoding="utf-8")
    files = ("--csv", "all.csv", "--plot", "front.svg", "--page", "front.html", "--out", "out")
    run(*DEEP, "--json", *files)
    told = capsys.readouterr()
    first = json.loads(told.out)
    assert first["designs"] == 6
    with open("all.csv", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    designs = {row["design"] for row in rows}
    assert len(designs) == 6
    assert "Weights.bytes 256 B, Glb.fanout.axes 8x4" in designs
    assert {row["levels.Weights.bytes"] for row in rows} == {"256", "512", "1024"}
    assert {row["levels.Glb.fanout.axes"] for row in rows} == {"4x2", "8x4"}
    for row in first["front"]:
        assert row["least_edp_cycles_nj"] <= row["edp_cycles_nj"]
        assert 0 <= row["gap"] < 10
    model, layer = cost_models.load("exact"), layers.get("mlp.fc1")
    for row in rows:
        paths = ("levels.Weights.bytes", "levels.Glb.fanout.axes")
        chip = with_fields(load_chip("c.yaml"), [f"{path}={row[path]}" for path in paths])
        area = figure_bounds(model, layer, with_wires(chip))["area_um2"]
        assert float(row["area_um2"]) == pytest.approx(area)
    page = (tmp_path / "front.html").read_text(encoding="utf-8")
    assert first["front"][0]["design"] in page
    run(*DEEP, "--json")
    again = capsys.readouterr()
    assert json.loads(again.out) == first
    assert "finished" not in again.err
    run(*DEEP)
    assert "Glb.fanout.axes" in capsys.readouterr().out
    found = read_explored(tmp_path / "out" / "explore.json")
    assert len(found.rows) == 6
    assert {design_text(row) for row in found.rows} == designs


def test_fields_of_a_chip_of_two_levels_are_swept_by_path_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ("--network", "mlp", "--workers", "1", "--timeout", "0", "--json")
    run(*words, "--pes", "16,64", "--l2", "4k")
    short = json.loads(capsys.readouterr().out)
    run(*words, "--sweep", "num_pes=16,64", "--sweep", "l2_bytes=4k")
    told = capsys.readouterr()
    assert json.loads(told.out) == short
    assert "finished" not in told.err  # the same experiments, which the store has
    run(*words, "--pes", "16", "--sweep", "levels.L2.read_bw=64,512")
    found = json.loads(capsys.readouterr().out)
    assert {row["design"] for row in found["front"]} <= {
        "num_pes 16, L2.read_bw 64",
        "num_pes 16, L2.read_bw 512",
    }


def test_a_page_of_five_thousand_designs_has_three_megabytes():
    shapes = layers.network("resnet18")
    workload = Workload(tuple(shapes), (1,) * len(shapes), "exact")
    plan = ExplorePlan("resnet18", workload, ("latency", "energy", "area"))
    space = MapSpace(shapes[0], Accelerator(64))
    rows = rows_of(space.decode(space.sample(len(shapes), 0)), Accelerator(64))
    offers = [ShapeOffer(row[None], np.ones(1), np.ones(1)) for row in rows]
    rng = np.random.default_rng(0)
    designs = []
    for place in range(5_000):
        fields = {"l1_bytes": 64 + place % 50, "l2_bytes": 1 << 20, "noc_bw": 1 + place // 50}
        latency, energy = (float(n) for n in 1e8 * rng.random(2))
        choice = NetworkPoint(latency + 1e6, energy + 1e6, (0,) * len(shapes))
        floors = [LayerFloor(1.0, 1.0, 1.0)] * len(shapes)
        area = float(rng.random() * 1e6 + 1e6)
        chip = Accelerator(64, offchip_bw=16, **fields)
        designs.append(Design(chip, fields, area, floors, "", offers, [choice]))
    page = render_page(Exploration(plan, designs), ["a note"])
    assert page.count("<circle") == 2 * 5_000
    assert 20 < page.count('class="part-MAC" data-row') // 2 < 1_000
    assert len(page.encode()) <= 3_000_000


def test_a_page_says_which_designs_share_a_rank(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ("--network", "mlp", "--pes", "16,32", "--noc", "32,64", "--workers", "1")
    run(*words, "--timeout", "0", "--json", "--page", "p.html")
    shared = [row["rank"] for row in json.loads(capsys.readouterr().out)["front"]
              if row["shares_rank"]]  # fmt: skip
    assert len(shared) > 1
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert page.count(f", rank ~{shared[0]}") == shared.count(shared[0])
    assert page.count(", rank ~") == len(shared)


def test_markup_in_names_stays_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "</script><img src=x>"
    text = f"layers: [{{name: '{name}', kind: gemm, M: 4, N: 8, K: 8}}]"
    (tmp_path / "n.yaml").write_text(text, encoding="utf-8")
    words = ("--network", "n.yaml", "--pes", "4,8", "--timeout", "0", "--workers", "1")
    run(*words, "--page", "p.html")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert name not in page
    assert page.count("</script>") == 2


def test_nsga2_draws_designs_that_keep_the_limit_on_area(tmp_path, monkeypatch, capsys):
    pytest.importorskip("optuna", reason="needs the extra bo")
    monkeypatch.chdir(tmp_path)
    words = (*SWEEP, "--draw", "nsga2", "--designs", "3", "--timeout", "0", "--json")
    run(*words, "--max-area", "0.25mm2")
    found = json.loads(capsys.readouterr().out)
    assert found["designs"] == 3
    assert all(row["area_um2"] <= 0.25e6 for row in found["front"])
    run(*words, "--max-area", "0.25mm2")
    assert json.loads(capsys.readouterr().out) == found
