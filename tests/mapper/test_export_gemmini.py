"""Tile factors for Gemmini's tiled_matmul: its own rules, its own choice, and their prices."""

import json
import re
from itertools import product

import pytest

import layers
from cost_models import Accelerator, Mapping, load
from mapper.export.export_files import files_for
from mapper.export.export_source import ExportSource
from mapper.export.gemmini_tiles import Factors, Gemmini
from mapper.export.loop_nest import ExportError

CHIP = Accelerator.load("gemmini-16")
ARRAY = Gemmini.of(CHIP)
LAYER = layers.parse("gemm:M=128,N=96,K=256")


def mapping(i: int, j: int, k: int) -> Mapping:
    """Tiles of so many elements in L2, J on 16 clusters and K on their PEs."""
    outer = {"K": -(-j // 16), "C": k, "Y": i, "X": 1, "R": 1, "S": 1}
    return Mapping(("YKCXRS", "KCYXRS"), ("K", "C"), (outer, dict.fromkeys("KCYXRS", 1)), 16)


def test_factors_and_prices():
    assert (ARRAY.dim, ARRAY.scratchpad, ARRAY.accumulator) == (16, 4 * 4096, 1024)  # the default
    texts = files_for("gemmini", ExportSource(LAYER, CHIP, mapping(64, 32, 64)))
    defined = dict(re.findall(r"#define (TILE_\w) (\d+)", texts["tiled_matmul.h"]))
    assert defined == {"TILE_I": "4", "TILE_J": "2", "TILE_K": "4"}
    report = json.loads(texts["tiled_matmul.json"])
    own = report["tiles"]["mapping"]
    assert (own["scratchpad"], own["accumulator"]) == ((4 * 4 + 4 * 2) * 16, 4 * 2 * 16)
    # this mapping is what tiled_matmul does with its factors
    cost = load("exact").evaluate(LAYER, CHIP, mapping(64, 32, 64))
    assert own["latency_cycles"] == report["mapping_as_given"]["latency_cycles"]
    assert own["latency_cycles"] == cost.latency_cycles
    assert own["energy_nj"] == pytest.approx(cost.energy_nj)


@pytest.mark.parametrize(
    ("blocks", "chosen"),
    [
        # worked out by hand from the rules of tiled_matmul_auto: side 5, depth 51
        ((1, 1, 1), (1, 1, 1)),
        ((4, 4, 4), (4, 4, 4)),
        ((100, 100, 1), (5, 6, 1)),
        ((100, 100, 100), (5, 5, 51)),
        ((100, 1, 2), (32, 1, 2)),
    ],
)
def test_the_heuristic(blocks, chosen):
    found = ARRAY.heuristic(Factors(*blocks))
    assert found == chosen
    assert ARRAY.fits(found)


def test_the_heuristic_leaves_no_factor_that_could_grow():
    for blocks in product((1, 3, 8, 40), (1, 6, 33), (1, 7, 64, 300)):
        found = ARRAY.heuristic(Factors(*blocks))
        assert ARRAY.fits(found)
        for place, most in enumerate(blocks):
            larger = [*found]
            larger[place] += 1
            assert larger[place] > most or not ARRAY.fits(Factors(*larger))


def test_what_tiled_matmul_cannot_do():
    texts = files_for("gemmini", ExportSource(LAYER, CHIP, mapping(40, 32, 64)), pad=True)
    assert "TILE_I 3\n" in texts["tiled_matmul.h"]
    assert files_for("gemmini", ExportSource(LAYER, CHIP, mapping(64, 96, 256)))
    wide = layers.parse("gemm:M=512,N=512,K=64")
    single = Accelerator.load("gemmini-16")
    with pytest.raises(ExportError, match=r"infeasible|give smaller tiles"):
        files_for("gemmini", ExportSource(wide, single, mapping(512, 512, 64)))
