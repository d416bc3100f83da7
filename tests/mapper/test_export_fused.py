"""Fused groups as AccelForge's files: they compute the group, and what has no words is refused."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from benchmarks import export_counts, export_groups
from benchmarks.export_groups import KINDS, group_cases, random_group
from benchmarks.frame import known
from cost_models import load_chip
from layers import TENSORS, Layer, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper.export.fused_accelforge import ForgeSequential, FusedNests, fused_files, fused_nodes
from mapper.export.loop_nest import ExportError
from tests.mapper.commands import printed, refused, said
from tests.mapper.test_export import DATA, Loose
from tests.mapper.test_network_answer import LONG, TINY

pytestmark = pytest.mark.usefixtures("quick_proofs")
Tensors = dict[str, np.ndarray]


def branches(group: FusedNests) -> list[list[dict[str, Any]]]:
    """The nodes above each einsum, outermost first, as the file has them."""
    nodes = yaml.load(fused_files(group)["mapping.yaml"], Loose)["mapping"]["nodes"]
    return [[*nodes[:-1], *branch["nodes"]] for branch in nodes[-1]["nodes"]]


def check_covered(rank: str, extent: int, nodes: list[dict[str, Any]]) -> None:
    """The loops of a rank take every value once."""
    values, rest = np.zeros(1, int), extent
    for node in nodes:
        if node.get("rank_variable") == rank:
            steps = np.arange(0, rest, node["tile_shape"])
            values, rest = np.add.outer(values, steps).ravel(), node["tile_shape"]
    assert sorted(values) == list(range(extent))


def executed(group: FusedNests, rng: np.random.Generator) -> Tensors:
    """All tensors as the workload's einsums compute them, each as (N, H, W, A) or a filter's.

    Fused tiles are put together again.
    """
    workload = yaml.safe_load(fused_files(group)["workload.yaml"])["workload"]
    shape = workload["iteration_space_shape"]
    extents = {rank: int(text.split("<")[-1]) for rank, text in shape.items()}
    found: Tensors = {}
    ranks_of: dict[str, list[str]] = {}
    for place, (einsum, nodes) in enumerate(zip(workload["einsums"], branches(group), strict=True)):
        ranks = [rank for rank in extents if rank[-1] in f"{place}xy"]
        grid = dict(zip(ranks, np.indices([extents[rank] for rank in ranks]), strict=True))
        for rank in ranks:
            check_covered(rank, extents[rank], nodes)
        at: list[tuple[np.ndarray, ...]] = []
        names = [access["name"] for access in einsum["tensor_accesses"]]
        for access in einsum["tensor_accesses"]:
            some = access["projection"].values()
            at.append(tuple(eval(text, {}, grid).ravel() for text in some))
            sizes = [int(index.max()) + 1 for index in at[-1]]
            given = np.zeros(sizes, int) if "output" in access else rng.integers(-4, 5, sizes)
            assert found.setdefault(access["name"], given).shape == tuple(sizes)
            ranks_of[access["name"]] = list(access["projection"])
        terms = found[names[0]][at[0]] * found[names[1]][at[1]]
        np.add.at(found[names[2]], at[2], terms)
    return {name: joined(array, ranks_of[name], group) for name, array in found.items()}


def joined(array: np.ndarray, ranks: list[str], group: FusedNests) -> np.ndarray:
    """A tensor with ranks of fused tiles in those that they cut."""
    cut = {"N": "TX", "H": "TY"} if group.products else {"H": "TY", "W": "TX"}
    cut |= {"A": "G", "C": "G"}
    last = ["C", "K", "R", "S"] if "R" in ranks else ["H", "W", "A"]
    order = [(cut.get(rank, ""), rank) for rank in ["N", *last]]
    array = array.transpose([ranks.index(r) for two in order for r in two if r in ranks])
    sizes = dict(zip([r for two in order for r in two if r in ranks], array.shape, strict=True))
    return array.reshape([sizes.get(tile, 1) * sizes.get(rank, 1) for tile, rank in order])


def computed(group: FusedNests, tensors: Tensors) -> np.ndarray:
    """What the layers give, one after another."""
    at = tensors["I"]
    for place in range(len(group.nests)):
        filters = tensors[f"W{place}"]  # N, C, K, R, S
        if group.products:
            at = (at[:, :, 0] @ filters[..., 0, 0])[:, :, None]
            continue
        taps = filters.shape[-2:]
        tall, wide = (n - r + 1 for n, r in zip(at.shape[1:3], taps, strict=True))
        moved = [(at[:, r : r + tall, s : s + wide], filters[0, ..., r, s])
                 for r, s in np.ndindex(taps)]  # fmt: skip
        if group.nests[place].layer.depthwise:
            at = sum(rows * one[:, 0] for rows, one in moved)
        else:
            shares = range(0, len(filters[0]), group.nests[place].layer.C)
            wide = group.nests[place].layer.C
            at = np.concatenate(
                [
                    sum(rows[..., g : g + wide] @ one[g : g + wide] for rows, one in moved)
                    for g in shares
                ],
                axis=-1,
            )
    return at


@pytest.mark.parametrize("kind", KINDS)
def test_einsums_and_loops_compute_the_group(kind: str) -> None:
    rng, cut = np.random.default_rng(3), set()
    for _ in range(6):
        group = random_group(kind, load_chip("edge"), rng).nests
        tensors = executed(group, rng)
        assert (tensors["O"] == computed(group, tensors)).all()
        cut |= {place for place, tiles in enumerate(group.tiles) if tiles > 1}
    assert cut == ({0} if kind == "products" else {0, 1})


def grouped(groups: tuple[int, int]) -> NetworkGraph:
    graph = GraphBuilder()
    at = graph.source("x", (1, 4, 9, 9))
    for number, (rows, n) in enumerate(zip((9, 8), groups, strict=True)):
        at = graph.mac(
            Layer(f"l{number}", "NGCONV", 4 // n, 4 // n, rows, rows, 2, 2, groups=n), at
        )
    return graph.graph()


def test_groups_of_channels_that_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, chip = np.random.default_rng(0), load_chip("edge")
    monkeypatch.setattr(export_groups, "graph_of", lambda kind, rng: grouped((2, 2)))
    group = random_group("convolutions", chip, rng).nests
    tensors = executed(group, rng)
    assert (tensors["O"] == computed(group, tensors)).all()
    monkeypatch.setattr(export_groups, "graph_of", lambda kind, rng: grouped((1, 2)))
    with pytest.raises(ExportError, match="channels that l0 writes in 1 groups and l1 reads in 2"):
        random_group("convolutions", chip, rng)


def test_what_is_in_l2_is_not_brought_there_again() -> None:
    for case in group_cases(12, 5):
        group = case.nests
        nodes, branch = fused_nodes(group)[:-1], fused_nodes(group)[-1]
        assert isinstance(branch, ForgeSequential)
        above = [(node.component, one) for node in nodes if hasattr(node, "tensors")
                 for one in node.tensors]  # fmt: skip
        assert len(above) == len(set(above))
        for place, (names, nested) in enumerate(zip(group.names, branch.nodes, strict=True)):
            inside = [one for node in nested.nodes if getattr(node, "component", "") == "L2"
                      and hasattr(node, "tensors") for one in node.tensors]  # fmt: skip
            for tensor in TENSORS:
                here = tensor in group.resident[place]
                assert (("L2", names[tensor]) in above) == here
                assert inside.count(names[tensor]) == (not here)
            stays = place in group.stays
            if stays:
                assert ("DRAM", names["filter"]) in above


def test_counts_of_groups_are_those_of_the_exact_model_but_for_named_rules() -> None:
    rows = [row for row in known(DATA / "export-counts.csv") if row["tool"] == export_counts.GROUPS]
    assert sum(int(row["mappings"]) for row in rows) > 1000
    assert all(row["mappings"] == row["given_by_rules"] for row in rows)
    equal = differ = 0
    for case in group_cases(9, 7):
        for place in range(len(case.cases)):
            ours, ruled = case.exact(place), case.by_rules(place)
            equal += sum(ruled[key] == n for key, n in ours.items())
            differ += sum(ruled[key] < n for key, n in ours.items())
    assert (equal > 300, differ) == (True, 0)


SEARCH = "search --network net.yaml --workers 1 --out out -o energy --fuse tiles"
SEVEN = """
sources: {query: [1, 7, 2], key: [1, 6, 2], value: [1, 6, 2]}
layers:
  - {name: scores, kind: gemm, M: 7, N: 6, K: 2, inputs: [query, key]}
  - {name: softmax, kind: norm, inputs: [scores], shape: [7, 6]}
  - {name: context, kind: gemm, M: 7, N: 2, K: 6, inputs: [softmax, value]}
"""
EXPORT = "export out --to accelforge --out files"


def search(folder: Path, text: str, options: str) -> None:
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    printed(f"{SEARCH} {options}")


def test_groups_of_an_answer_are_written_and_edges_with_pad(folder: Path) -> None:
    search(folder, SEVEN, "--l2-bytes 50 --l1-bytes 16")
    assert re.fullmatch(
        r"error: group 0 \(scores to context\): scores has 2 shapes of fused tiles, and .* at an "
        r"edge; add --pad .*\n",
        refused(EXPORT),
    )
    code, _, err = said(f"{EXPORT} --pad")
    names = [f"files/group_0/{name}.yaml" for name in ("arch", "workload", "mapping")]
    assert (code, err) == (0, "".join(f"wrote {name}\n" for name in names))
    text = (folder / names[1]).read_text(encoding="utf-8")
    extents = yaml.safe_load(text)["workload"]["iteration_space_shape"]
    rows, tiles = (int(extents[rank].split("<")[-1]) for rank in ("p0", "ty"))
    assert rows * tiles == 8
    assert "expected no other source" in refused(f"{EXPORT} --layer mobilenetv2.2")
    assert "expected --to accelforge alone" in refused(EXPORT.replace("accelforge", "zigzag"))
    answer = json.loads((folder / "out/network.json").read_text(encoding="utf-8"))
    answer["nodes"][0]["energy_nj"] = 1
    (folder / "out/network.json").write_text(json.dumps(answer), encoding="utf-8")
    assert "out/network.json: node scores: energy_nj: 1 is written" in refused(EXPORT)


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("", "", "no words for rows that are kept for the next fused tile"),
        (LONG, TINY, r"no words for tiles of \d+ keys with a running maximum and sum"),
        (SEVEN, "-a open.yaml", "no words for a memory whose price is another in each layer"),
        (SEVEN, "-a edge", "net.*: no layers are fused; expected an answer of"),
    ],
)
def test_what_has_no_words_is_refused_in_a_line(
    fused_chain: Path, text: str, options: str, why: str
) -> None:
    (fused_chain / "open.yaml").write_text("{num_pes: 4, l2_bytes: 50, noc_bw: 2}")
    if text:  # the chain's answer is there
        search(fused_chain, text, options)
    assert re.search(why, refused(f"{EXPORT} --pad"))
