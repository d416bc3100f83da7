"""Eyeriss: what AlexNet's CONV layers move at the global buffer and at DRAM, with its mapping.

The mappings (docs/examples/eyeriss) are those of the paper's table III, in this project's format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

import cost_models
import layers
from benchmarks.published.rows import Figures, Row, chain_of, fitting, given
from cost_models import CHAINS, Chain, Cost, mapping_from
from layers import Layer

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "eyeriss"
CHIP = "eyeriss-rs"
MODEL, UNPADDED = cost_models.load("exact"), cost_models.load("exact", padding="free")
OTHER = "CONV3-as-CONV4"
FILLS = "ifmaps written from DRAM"
PASSES = "64 passes over channels, not the 43 of CONV4's mapping"
TEXT = "JSSC 2017, section VI-A"
TESTS = "JSSC 2017, table V, in the tests of stanford-mast/nn_dataflow"
Words = Mapping[str, Mapping[str, float]]
"""Reads and writes of a level by tensor [words of 16 bits]."""


def rows() -> Iterator[Row]:
    """The layers at the buffer, at DRAM with their sum, and their times."""
    figures = given("eyeriss")
    shapes = {layer.name: layer for layer in layers.read_file(EXAMPLES / "layers.yaml")}
    yield from (buffer_row(layer, figures) for layer in shapes.values())
    yield buffer_row(shapes["CONV3"], figures, OTHER)
    found = [dram_row(layer, figures) for layer in shapes.values()]
    yield from found
    explained = sum(row.ours * row.left_over / row.ratio for row in found)
    ours = sum(row.ours for row in found)
    causes = {"the layers' causes": ours / explained}
    yield Row(CHIP, "all", "DRAM [MB]", figures["dram_mb"], ours, causes, TEXT)
    yield from (time_row(layer, figures) for layer in shapes.values())


def buffer_row(layer: Layer, figures: Figures, mapping: str = "") -> Row:
    """Reads and writes of the global buffer; published without writing ifmaps from DRAM."""
    words = evaluate(layer, mapping or layer.name).levels["GLB"].accesses
    steps = [("", _sum(words)), (FILLS, _sum(words) - words["input"]["write"])]
    if layer.name == "CONV3" and not mapping:
        other = evaluate(layer, OTHER).levels["GLB"].accesses
        steps.append((PASSES, _sum(other) - other["input"]["write"]))
    published = figures["layers"][layer.name]["glb_mb"]
    return Row(
        CHIP, mapping or layer.name, "GLB [MB]", published, _mb(steps[0][1]), chain_of(*steps)
    )


def time_row(layer: Layer, figures: Figures) -> Row:
    """Processing time; published as if DRAM never made the chip wait."""
    waiting = evaluate(layer, layer.name).latency_cycles
    steady = evaluate(layer, layer.name, chip=without_dram()).latency_cycles
    published = figures["layers"][layer.name]["processing_ms"]
    per_ms = 1e3 * (CHAINS[CHIP].clock_mhz or 0)
    causes = chain_of(("", waiting), ("waiting for DRAM", steady))
    return Row(CHIP, layer.name, "processing [ms]", published, waiting / per_ms, causes, TESTS)


def dram_row(layer: Layer, figures: Figures) -> Row:
    """What crosses the DRAM boundary, and how the chip's run-length code shortens feature maps."""
    ours = _sum(evaluate(layer, layer.name).levels["DRAM"].accesses)
    words = evaluate(layer, layer.name, UNPADDED).levels["DRAM"].accesses
    plain, inputs = _sum(words), words["input"]["read"]
    maps = plain - words["filter"]["read"]
    stored = figures["layers"][layer.name]
    steps = [("", ours), ("padding fetched", plain)]
    if "saved" in stored:
        steps.append(("maps not compressed", plain - stored["saved"] * maps))
    else:  # the next layer's inputs are these outputs, pooled behind CONV2
        following = figures["layers"][f"CONV{int(layer.name[-1]) + 1}"]["zeros"]
        short = plain - inputs * (1 - _code(stored["zeros"], figures))
        steps.append(("ifmaps not compressed", short))
        left = short - (maps - inputs) * (1 - _code(following, figures))
        steps.append(("ofmaps not compressed", left))
    return Row(CHIP, layer.name, "DRAM [MB]", stored["dram_mb"], _mb(ours), chain_of(*steps))


def without_dram() -> Chain:
    """The chip with a DRAM that never makes it wait."""
    fields = CHAINS[CHIP].to_dict()
    return Chain.from_dict(fields | {"levels": [{"name": "DRAM"}, *fields["levels"][1:]]}, CHIP)


def evaluate(
    layer: Layer, mapping: str, model: cost_models.CostModel = MODEL, chip: Chain = CHAINS[CHIP]
) -> Cost:
    """The cost of a layer with the mapping of that file.

    Raises:
        ValueError: The mapping does not fit.
    """
    fields = yaml.safe_load((EXAMPLES / f"{mapping}.yaml").read_text(encoding="utf-8"))
    return fitting(model, layer, chip, mapping_from(fields))


def _code(zeros: float, figures: Figures) -> float:
    """Bits of the run-length code over those of the values; long runs are left out."""
    code = figures["code"]
    return float((1 - zeros) * code["word_bits"] / code["values"] / code["value_bits"])


def _sum(words: Words) -> float:
    return sum(sum(of.values()) for of in words.values())


def _mb(words: float) -> float:
    return words * 2 / 1e6
