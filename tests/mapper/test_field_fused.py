"""AccelForge's fused mapper beside ours: graphs stated, answers read; it does not run here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import cost_models
from benchmarks import field_fused
from benchmarks.export_cases import Case, drawn
from benchmarks.field.answer import ToolError
from benchmarks.field.cases import PLAIN
from benchmarks.field.fused_graphs import GRAPHS, FusedCase, FusedForge, FusedReader, branches
from benchmarks.frame import known
from cost_models import Moved, energy_of_counts, load_chip, pass_cost
from layers import Layer
from mapper.export.accelforge_files import RANK, mapping_nodes
from mapper.export.chip_stores import ChipStores
from tests.mapper.test_export import DATA, Loose
from tests.mapper.test_field import node

CASE = FusedCase("GPT-2's MLP, 1 token")
WIDE, DEEP = 768, 3072
DRAM = {"node": "Storage", "component": "DRAM", "tensors": ["I", "W0", "W1", "O"]}
SUMS = {"node": "Storage", "component": "L2", "tensors": ["O"]}
FILTER = {"node": "Storage", "component": "L2", "tensors": ["W1"]}
BETWEEN = {"node": "Storage", "component": "L2", "tensors": ["T1"]}
TILES = {"node": "Temporal", "rank_variable": "n1", "tile_shape": str(DEEP // 4)}


def whole_keeping(part: Layer, rng: np.random.Generator) -> Case:
    """A mapping of a part in which every level keeps all."""
    chip = CASE.plain.chip
    return next(
        one for one in drawn(part, chip, rng)
        if all(len(one.nest.kept(level.name)) == 3 for level in chip.inner)
    )  # fmt: skip


def branch(place: int, case: Case, here: set[str]) -> dict[str, Any]:
    """An einsum as AccelForge answers it."""
    ranks = {RANK[dim]: rank for dim, rank in CASE.ranks(place).items()}
    arrays = dict(zip(("I", "W", "O"), CASE.names(place).values(), strict=True))
    found = []
    for one in map(node, mapping_nodes(case.nest, ChipStores(case.nest))[1:]):
        if "tensors" in one:
            one["tensors"] = [arrays[name] for name in one["tensors"]]
            if one["component"] == "L2":
                one["tensors"] = [name for name in one["tensors"] if name not in here]
        elif "rank_variable" in one:
            one["rank_variable"] = ranks[one["rank_variable"]]
        found.append(one)
    return {"node": "Nested", "nodes": found}


def energy(case: Case, resident: str) -> float:
    model = cost_models.load("exact", **PLAIN, resident=resident)
    return model.evaluate(case.layer, case.chip, case.mapping).energy_nj


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_costs_what_its_parts_do_and_what_is_brought_once(seed: int) -> None:
    rng, chip = np.random.default_rng(seed), load_chip("edge")
    parts = [Layer.gemm("p", M=1, N=DEEP // 4, K=WIDE), Layer.gemm("p", M=1, N=WIDE, K=DEEP // 4)]
    first, second = (whole_keeping(part, rng) for part in parts)
    model = cost_models.load("exact", **PLAIN)
    _, written = pass_cost(model, chip, Moved(l2_read=WIDE, dram_written=WIDE))
    added = energy_of_counts(model, chip, 0, {"l2r_psum": 3 * WIDE})
    brought = energy_of_counts(model, chip, 0, {"dram_fil": WIDE * DEEP})
    through = energy_of_counts(model, chip, 0, {"l2r_psum": 3 * WIDE, "dram_out_r": 3 * WIDE})
    for above, here, once in (
        ([], {"T1": "input"}, through),
        ([SUMS], {"T1": "input", "O": "output"}, written + added),
        ([SUMS, FILTER], {"T1": "input", "W1": "filter", "O": "output"},
         written + added + brought),
    ):  # fmt: skip
        inside = [branch(0, first, {"T1"}), branch(1, second, set(here))]
        nodes = [DRAM, *above, TILES, BETWEEN, {"node": "Sequential", "nodes": inside}]
        read = FusedReader(CASE).read(nodes)
        each = 4 * energy(first, "output"), 4 * energy(second, "+".join(here.values())) + once
        assert [one.energy for one in read] == pytest.approx(each)
        assert [one.tiles for one in read] == [{"n1": 4}, {"n1": 4}]
        assert read[0].here == ["T1"]


def test_branches_of_branches_share_what_is_above_all() -> None:
    inner = {"node": "Sequential", "nodes": [{"node": "Nested", "nodes": [SUMS, BETWEEN]}] * 2}
    outer = [DRAM, {"node": "Sequential", "nodes": [
        {"node": "Nested", "nodes": [FILTER]}, {"node": "Nested", "nodes": [TILES, inner]}
    ]}]  # fmt: skip
    found = list(branches(outer))
    assert [one.shared for one in found] == [[DRAM], [DRAM, TILES], [DRAM, TILES]]
    assert [one.own for one in found] == [[FILTER], [SUMS, BETWEEN], [SUMS, BETWEEN]]


def test_an_answer_that_does_not_fit_is_told() -> None:
    all_in = [SUMS | {"component": name, "tensors": ["I", "W0", "T1"]} for name in ("L2", "L1")]
    loops = [TILES | {"rank_variable": rank, "tile_shape": "1"} for rank in ("n1", "n0")]
    with pytest.raises(ToolError, match="L1 needs 2363136 B"):
        FusedReader(CASE).read([DRAM, BETWEEN | {"component": "DRAM"}, *all_in, *loops])


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_are_stated_with_ranks_that_neighbours_share(name: str, tmp_path: Path) -> None:
    case = FusedCase(name)
    FusedForge().state(case, tmp_path)
    stated = yaml.safe_load((tmp_path / "workload.yaml").read_text(encoding="utf-8"))["workload"]
    extents = {
        rank: int(text.split("<")[-1]) for rank, text in stated["iteration_space_shape"].items()
    }
    tensors: dict[str, set[str]] = {}
    for layer, einsum in zip(case.layers, stated["einsums"], strict=True):
        ranks = set()
        for access, size in zip(
            einsum["tensor_accesses"],
            (layer.input_size, layer.filter_size, layer.output_size),
            strict=True,
        ):
            own = set(access["projection"].values())
            assert tensors.setdefault(access["name"], own) == own
            assert np.prod([extents[rank] for rank in own]) == size
            ranks |= own
        assert np.prod([extents[rank] for rank in ranks]) == layer.macs
    chip = yaml.load((tmp_path / "arch.yaml").read_text(encoding="utf-8"), Loose)
    dram, l2, *_ = chip["arch"]["nodes"]
    assert (dram["tensors"], l2["tensors"]) == (
        {"keep": "~Intermediates", "may_keep": "All"}, {"keep": "All"},
    )  # fmt: skip


def test_the_table_has_five_graphs_and_no_answer_below_our_bound() -> None:
    rows = known(DATA / "fused-accelforge.csv")
    assert [row["graph"] for row in rows] == list(GRAPHS)
    for row in rows:
        theirs, ours, bound = (float(row[name]) for name in ("theirs", "ours", "bound"))
        assert bound <= ours
        assert float(row["ratio"]) == pytest.approx(ours / theirs, abs=1e-5)
        assert (theirs < ours * (1 - 1e-4)) <= ("keeps" in row["why"] or "axis" in row["why"])
        assert float(row["theirs_by_tool"]) == pytest.approx(
            theirs, rel=5e-3
        )  # leakage, and `ANEW`
    assert not field_fused.told(rows, None)
