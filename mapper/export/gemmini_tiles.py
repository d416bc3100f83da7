"""A mapping as tile factors of Gemmini's ``tiled_matmul``, beside those of its own heuristic.

``tiled_matmul`` (ucb-bar/gemmini-rocc-tests, include/gemmini.h) multiplies an I x K by a K x J
matrix in blocks of DIM x DIM. Its loops over tiles are I, J, K from outside; weights stay in the
array, and scratchpad and accumulator are halved for double-buffering.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from cost_models import Accelerator, Cost, Mapping, as_chain, load
from layers import DIMS, Layer, LayerKind
from layers import inline as layer_in_line
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError
from mapper.export.loop_program import check_feasible
from marl_common import engineering
from marl_runs import json_text


class Factors(NamedTuple):
    """Blocks of DIM x DIM in a tile, along each dimension of the product."""

    tile_I: int
    tile_J: int
    tile_K: int


@dataclass(frozen=True)
class Gemmini:
    """An array with its two memories, as ``tiled_matmul`` counts them.

    Args:
        chip: The chip.
        dim: Rows and columns of the array.
        scratchpad: Rows of `dim` inputs or weights.
        accumulator: Rows of `dim` partial sums.
    """

    chip: Accelerator
    dim: int
    scratchpad: int
    accumulator: int

    @classmethod
    def of(cls, chip: object) -> Gemmini:
        """The array of a chip.

        Raises:
            ExportError: The chip is no square array with a scratchpad and an accumulator.
        """
        if isinstance(chip, Accelerator):
            dim = math.isqrt(chip.num_pes)
            sums = chip.levels[1].tensor_bytes[2]
            if dim * dim == chip.num_pes and chip.l2_bytes is not None and sums is not None:
                inputs, _, _, psum = chip.widths
                return cls(chip, dim, chip.l2_bytes * 8 // (dim * inputs), sums * 8 // (dim * psum))
        raise ExportError(
            "--to gemmini: expected a square array whose L2 has a size for all and one for the "
            "output, as -a gemmini-16; or --to c"
        )

    def rows(self, tile: Factors) -> tuple[int, int]:
        """Rows of the scratchpad and of the accumulator that a tile takes."""
        i, j, k = tile
        return (i * k + k * j) * self.dim, i * j * self.dim

    def fits(self, tile: Factors) -> bool:
        """Whether a tile leaves half of each memory to the next one."""
        scratchpad, accumulator = self.rows(tile)
        return scratchpad <= self.scratchpad // 2 and accumulator <= self.accumulator // 2

    def heuristic(self, blocks: Factors) -> Factors:
        """What ``tiled_matmul_auto`` chooses for a product of so many blocks.

        It begins with square tiles of the accumulator's half, and grows J, I and K in turn.
        """
        side = max(math.isqrt(self.accumulator // 2 // self.dim), 1)
        depth = max(self.scratchpad // 4 // self.dim // side, 1)
        tile = Factors(min(blocks[0], side), min(blocks[1], side), min(blocks[2], depth))
        grown = True
        while grown:
            grown = False
            for place in (1, 0, 2):
                larger = list(tile)
                larger[place] += 1
                if larger[place] <= blocks[place] and self.fits(Factors(*larger)):
                    tile, grown = Factors(*larger), True
        return tile


def gemmini_files(source: ExportSource, *, pad: bool = False) -> dict[str, str]:
    """``tiled_matmul.h``, with the tile factors, and ``tiled_matmul.json``, with what they cost.

    Args:
        source: What is exported.
        pad: Whether tiles that are no whole blocks become larger.

    Raises:
        ExportError: The layer is no product, the chip has no such memories, or the tiles are no
            whole blocks or too large.
    """
    array = Gemmini.of(source.chip)
    product = _product(source.layer)
    check_feasible(source)
    assert isinstance(source.mapping, Mapping)
    blocks = Factors(*(-(-n // array.dim) for n in product))
    tile = _tile(array, source.layer, source.mapping, pad)
    if not array.fits(tile):
        need, limits = array.rows(tile), (array.scratchpad // 2, array.accumulator // 2)
        raise ExportError(
            f"mapping: tiles of {' x '.join(map(str, tile))} blocks take {need[0]:,} rows of the "
            f"scratchpad and {need[1]:,} of the accumulator, and tiled_matmul has {limits[0]:,} "
            f"and {limits[1]:,}; give smaller tiles"
        )
    chosen = {"mapping": tile, "tiled_matmul_auto": array.heuristic(blocks)}
    model = load("exact")
    priced = {
        name: model.evaluate(source.layer, array.chip, _weight_stationary(array, one, source.layer))
        for name, one in chosen.items()
    }
    given = model.evaluate(source.layer, array.chip, source.mapping)
    report = {
        "layer": layer_in_line(source.layer),
        "dim": array.dim,
        "rows": {"scratchpad": array.scratchpad, "accumulator": array.accumulator},
        "product": dict(zip("IJK", product, strict=True)),
        "tiles": {
            name: one._asdict()
            | dict(zip(("scratchpad", "accumulator"), array.rows(one), strict=True))
            | _figures(priced[name])
            for name, one in chosen.items()
        },
        "mapping_as_given": _figures(given),
    }
    lines = [
        f"// {layer_in_line(source.layer)} as {' x '.join(map(str, product))} (I x J x K), WS",
        *(f"// {_said(name, one, priced[name])}" for name, one in chosen.items()),
        *(f"#define {name.upper()} {n}" for name, n in tile._asdict().items()),
    ]
    return {
        "tiled_matmul.h": "\n".join(lines) + "\n",
        "tiled_matmul.json": json_text(report) + "\n",
    }


def _product(layer: Layer) -> tuple[int, int, int]:
    """I, J and K of a layer that is one product of matrices.

    Raises:
        ExportError: It is none.
    """
    pointwise = layer.kind is LayerKind.CONV and (layer.R, layer.S, layer.stride) == (1, 1, 1)
    if layer.N > 1 or not (layer.kind is LayerKind.GEMM or pointwise):
        raise ExportError(
            f"--to gemmini: layer {layer.name!r} is no product of two matrices; expected a GEMM or "
            "a CONV of 1 x 1 taps, stride 1 and one image; or --to c"
        )
    return layer.out_y * layer.out_x, layer.K, layer.C


def _tile(array: Gemmini, layer: Layer, mapping: Mapping, pad: bool) -> Factors:
    """The blocks of what L2 holds at a time.

    Raises:
        ExportError: They are no whole blocks, or no whole rows of the matrix.
    """
    _, entries = as_chain(array.chip, mapping, layer)
    extents = dict(zip(DIMS, layer.extents, strict=True))
    tiles = {d: min(entries.entries[0].tiles.get(d, n), n) for d, n in extents.items()}
    if tiles["Y"] > 1 and tiles["X"] < extents["X"]:
        raise ExportError(
            f"mapping: tiles of Y={tiles['Y']} and X={tiles['X']} are no rows of one matrix; "
            "expected whole rows of X, or Y=1"
        )
    sizes = (tiles["Y"] * tiles["X"], tiles["K"], tiles["C"])
    wholes = _product(layer)
    for name, size, whole in zip("IJK", sizes, wholes, strict=True):
        if size % array.dim and size != whole and not pad:
            raise ExportError(
                f"mapping: its tiles have {size} of {name}, expected a multiple of {array.dim}, or "
                f"all {whole}; add --pad for whole blocks"
            )
    return Factors(*(-(-size // array.dim) for size in sizes))


def _weight_stationary(array: Gemmini, tile: Factors, layer: Layer) -> Mapping:
    """What ``tiled_matmul`` does with tile factors: J and K over the array, rows stream through."""
    i, j, k = tile
    rows = min(i * array.dim, layer.out_y * layer.out_x)
    whole = rows // layer.out_x
    outer = {"K": j, "C": k * array.dim, "R": 1, "S": 1}
    outer |= {"Y": whole, "X": layer.out_x} if whole else {"Y": 1, "X": rows}
    inner = dict.fromkeys("KCYXRS", 1)
    return Mapping(("YXKCRS", "KCYXRS"), ("K", "C"), (outer, inner), array.dim)


def _figures(cost: Cost) -> dict[str, float]:
    return {name: getattr(cost, name) for name in ("latency_cycles", "energy_nj")}


def _said(name: str, tile: Factors, cost: Cost) -> str:
    factors = ", ".join(f"{part}={n}" for part, n in tile._asdict().items())
    return (
        f"{name}: {factors}: {engineering(cost.latency_cycles, 'cycles', digits=4)}, "
        f"{engineering(cost.energy_nj, 'nJ', digits=4)}"
    )
