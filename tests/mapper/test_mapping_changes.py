"""Two mappings beside each other: every difference once, priced alone."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import layers
from cost_models import Accelerator, ChainMapping, Mapping, MappingError, load, load_chip
from maestro_env import Problem
from mapper.explaining.mapping_changes import _parts, _with, changes_between
from tests.mapper.commands import json_of, printed, refused

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
LAYER = layers.parse("mobilenetv2.2")
CHIP = Accelerator.load("edge")
FIRST = Mapping.from_dict(yaml.safe_load((EXAMPLES / "mapping.yaml").read_text()))


def test_each_difference_is_priced_alone():
    tiles = ({**FIRST.tiles[0], "C": 16}, FIRST.tiles[1])
    second = replace(FIRST, tiles=tiles, cluster_size=8)
    found = changes_between(LAYER, CHIP, (FIRST, second), "latency")
    assert [change.part for change in found.changes] == ["tiles[0].C", "cluster_size"]
    first, other = found.changes
    assert (first.first, first.second) == (32, 16)
    model = load("exact")
    alone = model.evaluate(LAYER, CHIP, replace(FIRST, tiles=tiles)).latency_cycles
    assert first.value == alone
    assert other.value == model.evaluate(LAYER, CHIP, replace(FIRST, cluster_size=8)).latency_cycles
    assert found.values == tuple(cost.latency_cycles for cost in found.costs)


@pytest.mark.parametrize(
    ("chip", "space"), [("edge", {"full": True}), ("simba", {}), ("simba", {"uneven": True})]
)
def test_all_parts_together_make_the_second(chip, space):
    problem = Problem("resnet18.5", chip, "edp", space=space)
    drawn = list(problem.look(problem.space.sample(12, 0)).mappings)
    for one, other in zip(drawn[:6], drawn[6:], strict=True):
        if isinstance(one, ChainMapping) and [e.level for e in one.entries] != [
            e.level for e in other.entries
        ]:
            continue
        mixed, aim = one.to_dict(), other.to_dict()
        for part in dict.fromkeys((*_parts(mixed), *_parts(aim))):
            mixed = _with(mixed, aim, part)
        kind = ChainMapping if isinstance(one, ChainMapping) else Mapping
        assert kind.from_dict(mixed) == other


def test_a_part_that_does_not_fit_alone_says_why_and_entries_of_other_levels_are_refused():
    second = replace(FIRST, cluster_size=200)
    found = changes_between(LAYER, CHIP, (FIRST, second))
    assert "cluster needs 200 PEs" in found.changes[0].why
    assert math.isinf(found.changes[0].value)
    assert math.isinf(found.values[1])
    chip = load_chip(str(EXAMPLES / "three_levels.yaml"))
    text = (EXAMPLES / "three_levels_mapping.yaml").read_text()
    deep = ChainMapping.from_dict(yaml.safe_load(text))
    with pytest.raises(MappingError, match="entries of other levels"):
        changes_between(layers.parse("resnet18.2"), chip, (deep, FIRST))


@pytest.mark.usefixtures("folder")
def test_the_command():
    for seed in "12":
        words = f"search -l mlp.2 --method random --budget 20 --seed {seed} --out {seed}"
        printed(f"{words} --no-proof")
    out = printed("diff 1 2")
    assert out.startswith("1: edp ")
    assert "second beside first: " in out
    said = json_of("diff 1 2/mapping.yaml -l mlp.2")
    assert set(said) == {"objective", "values", "costs", "changes"}
    assert {"part", "first", "second", "value", "why"} == set(said["changes"][0])
    assert "the same" in printed("diff 1 1")


@pytest.mark.usefixtures("folder")
def test_folders_are_priced_as_they_were_searched():
    layer = "conv:K=8,C=32,Y=3,X=3,R=3,S=3"
    for model in ("maestro", "exact:double_buffer=false"):
        words = f"search -l {layer} -o energy --cost-model {model} --method random --budget 200"
        found = json_of(f"{words} --l1-bytes 64 --no-proof --out {model[0]}")
        assert (
            json_of(f"diff {model[0]} {model[0]} -o energy")["values"]
            == [found["best"]["objective"]] * 2
        )
    assert "searched under another cost model" in refused("diff m e")
    printed("export e --to python")
