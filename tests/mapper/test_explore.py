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
from mapper.explore.design_figures import Design
from mapper.explore.design_run import Workload
from mapper.explore.design_space import FIELDS
from mapper.explore.exploration import Exploration, ExplorePlan
from mapper.explore.explore_file import design_text, read_explored
from mapper.explore.mapping_pool import NetworkPoint, ShapeOffer
from mapper.explore.mapping_rows import rows_of
from mapper.explore.network_hull import LayerFloor
from mapper.report.explore_page import render_page
from tests.mapper.commands import json_of, printed, refused, said

SWEEP = "explore --network mlp --pes 16,64 --l1 64,256 --l2 4k --workers 1"
CHIP = """
levels:
  - {name: DRAM, read_bw: 64, write_bw: 64}
  - {name: Glb, bytes: 16384, holds: [input, output], fanout: {axes: [4, 2], dims: [K, C]}}
  - {name: Weights, bytes: 1024, holds: [filter]}
  - {name: Sums, bytes: 256, holds: [output], fanout: {units: 4, dims: C}}
"""
PATHS = ("levels.Weights.bytes", "levels.Glb.fanout.axes")
DEEP = (
    "explore --network mlp -a c.yaml --workers 1 --timeout 0.02 "
    f"--sweep {PATHS[0]}=256,512 --sweep {PATHS[1]}=4x2,8x4"
)
FILES = "--csv all.csv --plot front.svg --page front.html --out out"


pytestmark = pytest.mark.usefixtures("folder")


def swept(words, folder):
    """What is printed of a sweep whose files are written, its table and its page."""
    found = json_of(f"{words} {FILES}")
    with open("all.csv", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    return found, rows, (folder / "front.html").read_text(encoding="utf-8")


def test_the_command_proves_its_front_and_goes_on(folder):
    first, rows, page = swept(SWEEP, folder)
    assert first["designs"] == len(rows) == page.count("<circle") == 4
    assert all(row["gap"] <= 0.01 for row in first["front"])
    assert all(row["least_edp_cycles_nj"] <= row["edp_cycles_nj"] for row in first["front"])
    edp = [(float(r["edp_cycles_nj"]), float(r["area_um2"])) for r in rows if r["front"] == "1"]
    for row in rows:
        values = float(row["edp_cycles_nj"]), float(row["area_um2"])
        assert any(a <= values[0] and b <= values[1] for a, b in edp)
    assert "mlp" in page
    assert not re.search(r"(src|href)=.?(https?:|//)|@import|fetch\(", page)
    assert (folder / "front.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert json_of(SWEEP) == first
    for limit, says in (
        ("--max-area 0.001mm2", "No design of 4 meets"),
        ("--max-power 1uW", "the least has"),
    ):
        assert says in refused(f"{SWEEP} {limit}", code=1)
    assert "designs that no other one beats in edp and area" in printed(SWEEP)


def test_three_objectives_of_which_mappings_trade_two(folder):
    words = f"{SWEEP} -o latency,energy,area --designs 3 --timeout 5 --out out"
    found = json_of(words)
    assert found["front"]
    assert all(row["gap"] >= 0 for row in found["front"])
    chips = {tuple(row[name] for name in FIELDS) for row in found["front"]}
    assert found["designs_on_the_front"] == len(chips) <= found["designs"] == 3
    assert found["points_on_the_front"] == len(found["front"]) > len(chips)
    share = f"{len(chips)} of 3 designs ({len(found['front'])} points)"
    assert share in " ".join(printed(words).split())
    assert read_explored(folder / "out" / "explore.json").share == share


def test_designs_whose_networks_keep_tensors(folder):
    words = f"{SWEEP} --fuse keep --gap 0.001 --wires off"
    first = json_of(f"{words} --page front.html --out out")
    assert first["designs"] == 4
    assert all(0 <= row["gap"] <= 0.0015 for row in first["front"])
    row = first["front"][0]
    chip = Accelerator(*(row[name] for name in FIELDS))
    kept = marl_mapper.map_network("mlp", chip, gap=0.001)
    assert row["edp_cycles_nj"] == pytest.approx(kept.keep.value, rel=2e-3)
    assert row["least_edp_cycles_nj"] <= kept.keep.value < kept.none.bound
    assert json_of(words) == first
    found = json_of(f"{words} -o latency,energy,area --draw nsga2 --designs 3")
    assert all(row["gap"] <= 0.0015 for row in found["front"])
    assert {row["proven"] for row in found["front"]} == {"edp energy latency"}
    assert len(read_explored(folder / "out" / "explore.json").front) == len(first["front"])


def test_a_list_of_levels_is_swept_by_its_fields(folder):
    (folder / "c.yaml").write_text(CHIP, encoding="utf-8")
    first, rows, page = swept(DEEP, folder)
    designs = {row["design"] for row in rows}
    assert first["designs"] == len(designs) == 4
    assert "Weights.bytes 256 B, Glb.fanout.axes 8x4" in designs
    assert {row[PATHS[0]] for row in rows} == {"256", "512"}
    assert {row[PATHS[1]] for row in rows} == {"4x2", "8x4"}
    for row in first["front"]:
        assert row["least_edp_cycles_nj"] <= row["edp_cycles_nj"]
        assert 0 <= row["gap"] < 10
    model, layer = cost_models.load("exact"), layers.get("mlp.fc1")
    for row in rows:
        chip = with_fields(load_chip("c.yaml"), [f"{path}={row[path]}" for path in PATHS])
        area = figure_bounds(model, layer, with_wires(chip))["area_um2"]
        assert float(row["area_um2"]) == pytest.approx(area)
    assert first["front"][0]["design"] in page
    _, out, err = said(f"{DEEP} --json")
    assert json.loads(out) == first
    assert "finished" not in err
    assert "Glb.fanout.axes" in printed(DEEP)
    found = read_explored(folder / "out" / "explore.json")
    assert [design_text(row) for row in found.rows] == [row["design"] for row in rows]


def test_fields_of_a_chip_of_two_levels_are_swept_by_path_too():
    words = "explore --network mlp --workers 1 --timeout 0"
    short = json_of(f"{words} --pes 16,64 --l2 4k")
    _, out, err = said(f"{words} --json --sweep num_pes=16,64 --sweep l2_bytes=4k")
    assert json.loads(out) == short
    assert "finished" not in err  # the same experiments, which the store has
    found = json_of(f"{words} --pes 16 --sweep levels.L2.read_bw=64,512")
    assert {row["design"] for row in found["front"]} <= {
        f"num_pes 16, L2.read_bw {rate}" for rate in (64, 512)
    }


def test_a_page_of_a_thousand_designs_has_600_kilobytes():
    shapes = layers.network("resnet18")
    workload = Workload(tuple(shapes), (1,) * len(shapes), "exact")
    plan = ExplorePlan("resnet18", workload, ("latency", "energy", "area"))
    space = MapSpace(shapes[0], Accelerator(64))
    rows = rows_of(space.decode(space.sample(len(shapes), 0)), Accelerator(64))
    offers = [ShapeOffer(row[None], np.ones(1), np.ones(1)) for row in rows]
    rng = np.random.default_rng(0)
    designs = []
    for place in range(1_000):
        fields = {"l1_bytes": 64 + place % 50, "l2_bytes": 1 << 20, "noc_bw": 1 + place // 50}
        latency, energy = (float(n) for n in 1e8 * rng.random(2))
        choice = NetworkPoint(latency + 1e6, energy + 1e6, (0,) * len(shapes))
        floors = [LayerFloor(1.0, 1.0, 1.0)] * len(shapes)
        area = float(rng.random() * 1e6 + 1e6)
        chip = Accelerator(64, offchip_bw=16, **fields)
        designs.append(Design(chip, fields, area, floors, "", offers, [choice]))
    page = render_page(Exploration(plan, designs), ["a note"])
    assert page.count("<circle") == 2 * 1_000
    assert 20 < page.count('class="part-MAC" data-row') // 2 < 200
    assert len(page.encode()) <= 600_000


def test_a_page_says_which_designs_share_a_rank_and_markup_in_names_stays_text(folder):
    name = "</script><img src=x>"
    text = f"layers: [{{name: '{name}', kind: gemm, M: 64, N: 32, K: 48}}]"
    (folder / "n.yaml").write_text(text, encoding="utf-8")
    words = "explore --network n.yaml --pes 16,32 --noc 32,64 --workers 1 --timeout 0"
    found = json_of(f"{words} --page p.html")["front"]
    shared = [row["rank"] for row in found if row["shares_rank"]]
    assert len(shared) > 1
    page = (folder / "p.html").read_text(encoding="utf-8")
    assert page.count(f", rank ~{shared[0]}") == shared.count(shared[0])
    assert page.count(", rank ~") == len(shared)
    assert name not in page
    assert page.count("</script>") == 2


def test_nsga2_draws_designs_that_keep_the_limit_on_area():
    pytest.importorskip("optuna", reason="needs the extra bo")
    words = f"{SWEEP} --draw nsga2 --designs 3 --timeout 0 --max-area 0.25mm2"
    found = json_of(words)
    assert found["designs"] == 3
    assert all(row["area_um2"] <= 0.25e6 for row in found["front"])
    assert json_of(words) == found
