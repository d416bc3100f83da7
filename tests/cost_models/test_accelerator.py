"""The accelerator: short and long form, files, the view of its buffers, and bad input."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import cost_models
from cost_models import PRESETS, Accelerator, AcceleratorError, Level, Widths
from cost_models.chips import fields_of

LONG: dict[str, Any] = {
    "name": "small",
    "num_pes": 12,
    "simd_lanes": 2,
    "node_nm": 65.0,
    "clock_mhz": 200.0,
    "bits": {"input": 16, "filter": 8, "output": 16, "psum": 24},
    "levels": {
        "DRAM": {"kind": "DDR3", "read_bw": 64, "write_bw": 32},
        "L2": {"bytes": 1000, "holds": ["input", "output"], "read_bw": 40},
        "L1": {
            "bytes": {"shared": 60, "filter": 448},
            "double_buffer": {"filter": False},
            "read_pj": 0.5,
        },
    },
    "mac": {"pj": 1.5},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(LONG)
    *way, last = path.split(".")
    inner = data
    for name in way:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return data


def test_the_short_form_is_six_fields_of_bytes() -> None:
    chip = Accelerator(168, 512, 108_000, 64, 16)
    assert chip.short
    assert chip.to_dict() == {
        "num_pes": 168,
        "l1_bytes": 512,
        "l2_bytes": 108_000,
        "noc_bw": 64,
        "offchip_bw": 16,
        "simd_lanes": 1,
    }
    l2, l1 = chip.buffers()
    assert (l2.name, l2.capacity_bits, l2.read_bw, l2.write_bw) == ("L2", 864_000, 128, 128)
    assert (l1.name, l1.capacity_bits, l1.read_bw, l1.write_bw) == ("L1", 4096, 512, 512)
    for buffer in (l2, l1):
        assert buffer.tensor_bits == (None, None, None)
        assert buffer.copies == (2, 2, 2)
        assert buffer.holds == (True, True, True)
    assert chip.widths == (8, 8, 8, 8)


def test_the_long_form_reaches_the_view() -> None:
    chip = Accelerator.from_dict(LONG)
    l2, l1 = chip.buffers()
    assert (l2.capacity_bits, l2.holds, l2.read_bw, l2.write_bw) == (
        8000,
        (True, False, True),
        64,
        32,
    )
    assert (l1.capacity_bits, l1.tensor_bits) == (480, (None, 3584, None))
    assert (l1.copies, l1.read_bw, l1.write_bw) == ((2, 1, 2), 40, None)
    assert (l2.total_bits, l1.total_bits) == (8000, 480 + 3584)
    assert chip.widths == Widths(16, 8, 16, 24)
    assert chip.levels[2].read_pj == 0.5
    assert (chip.mac_pj, chip.node_nm, chip.clock_mhz) == (1.5, 65, 200)


def test_written_and_read_again_it_is_the_same() -> None:
    files = LONG, {"num_pes": 3}, changed("name", "")
    for chip in (*map(Accelerator.from_dict, files), *map(Accelerator.load, PRESETS)):
        again = Accelerator.from_dict(json.loads(json.dumps(chip.to_dict())))
        assert (again, hash(again)) == (chip, hash(chip))


def test_the_long_form_is_written_with_the_short_one_where_that_says_it() -> None:
    written = Accelerator.from_dict(LONG).to_dict()
    assert (written["num_pes"], written["l2_bytes"], written["noc_bw"]) == (12, 1000, None)
    assert "l1_bytes" not in written
    assert written["levels"]["L1"]["bytes"] == {"shared": 60, "filter": 448}
    assert written["levels"]["DRAM"] == LONG["levels"]["DRAM"]


def test_a_name_makes_no_difference() -> None:
    assert Accelerator(4, name="a") == Accelerator(4)
    assert Accelerator.from_dict(Accelerator(4, name="a").to_dict()).name == "a"


def test_repr_shows_what_is_known() -> None:
    assert repr(PRESETS["archgym"]) == "Accelerator(num_pes=1024)"
    assert "Level(read_bw=64, write_bw=32, kind='DDR3')" in repr(Accelerator.from_dict(LONG))


def test_array_gives_the_pes() -> None:
    assert Accelerator.from_dict({"array": [12, 14]}).num_pes == 168


def test_unlimited_buffers_keep_everything_else() -> None:
    chip = Accelerator.from_dict(LONG)
    roomy = chip.unlimited_buffers()
    assert [b.total_bits for b in roomy.buffers()] == [None, None]
    assert (roomy.widths, roomy.mac_pj) == (chip.widths, chip.mac_pj)
    assert [b.read_bw for b in roomy.buffers()] == [b.read_bw for b in chip.buffers()]


def test_the_schema_takes_the_long_form() -> None:
    validator = Draft202012Validator(cost_models.accelerator_schema())
    validator.validate(LONG)
    assert not validator.is_valid(changed("levels.L2.bytes", -3))
    assert not validator.is_valid(changed("levels.L4", {}))


def test_totals_are_the_six_fields_of_a_table() -> None:
    short = Accelerator(168, 512, 108_000, 64, 16, 2)
    assert short.totals() == short.to_dict()
    assert list(Accelerator.from_dict(LONG).totals().values()) == [12, 508, 1000, 5, 4, 2]
    assert set(Accelerator(4).totals().values()) == {4, None, 1}


def test_in_elements_is_the_nearest_short_form() -> None:
    short = Accelerator(168, 512, 108_000, 64, 16, 2)
    assert short.in_elements() is short
    chip = Accelerator.from_dict(LONG)
    # L1: 60 B of inputs and partial sums at 24 bits, 448 B of filters, held once, at 8 bits
    assert chip.in_elements() == Accelerator(12, 20 + 2 * 448, 333, 2, 2, 2)
    one = Accelerator.from_dict(
        {
            "num_pes": 4,
            "bits": {"psum": 32},
            "levels": {"L1": {"bytes": {"filter": 2, "output": 4}}},
        }
    )
    assert one.in_elements().l1_bytes is None
    systolic = PRESETS["tpu-v1"].in_elements()
    assert (systolic.l1_bytes, systolic.noc_bw) == (6, 256)


@pytest.mark.parametrize("name", PRESETS)
def test_every_figure_of_a_chip_has_a_source(name: str) -> None:
    fields = fields_of(name)
    sources = fields.pop("sources")
    told = set(fields) - {"name", "notes"}
    if name == "cloud":
        assert sources == {"num_pes": "chosen, as the other figures of this file"}
        return
    for field in told - {"levels"}:
        assert field in sources, field
    for level, values in fields.get("levels", {}).items():
        for field in values:
            paths = (f"levels.{level}", f"levels.{level}.{field}")
            assert any(path in sources for path in paths) or field in ("write_bw", "double_buffer")


def test_the_old_presets_are_what_they_were() -> None:
    assert PRESETS["edge"] == Accelerator(168, 512, 108_000, 64, 16)
    assert PRESETS["cloud"] == Accelerator(1024, 2048, 2 * 1024 * 1024, 256, 64)
    assert PRESETS["archgym"] == Accelerator(1024)
    assert all(PRESETS[name].short for name in ("edge", "cloud", "archgym"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed("levels.L2.bytes", -3), "levels.L2.bytes: got -3, expected a whole number"),
        (changed("levels.L1.bytes.inptu", 9), "levels.L1.bytes: unknown field 'inptu'.*'input'"),
        (changed("levels.L3", {}), "levels: unknown field 'L3'; expected DRAM, L2, L1"),
        (changed("levels.DRAM.kind", "LPDDR3"), "levels.DRAM.kind.*HBM3, .*Did you mean 'LPDDR4'"),
        (changed("levels.L2.double_buffer", 2), "levels.L2.double_buffer: got 2, expected true"),
        (changed("levels", 3), "levels: got 3, expected the fields DRAM, L2, L1"),
        (changed("num_pes", "12"), "num_pes: got '12', expected a whole number"),
        (changed("node_nm", 0), "node_nm: got 0, expected a number above 0"),
        (changed("bits.psum", 8), "bits.psum: got 8, expected at least bits.output=16.*raise"),
        (changed("bits.input", 5000), "bits.input: got 5000, expected a whole number of 1 to 1024"),
        (changed("array", [3, 5]), "array: got 3 x 5 = 15 PEs, expected num_pes=12: the fan-out"),
        (
            changed("levels.L1.holds", []),
            "levels.L1.holds: got no tensor.*no tensor uses the level",
        ),
        (
            changed("levels.L1.holds", ["output"]) | {"bits": {}},
            "levels.L1.bytes.filter: got 448, but levels.L1.holds leaves filter out",
        ),
        (
            changed("levels.L1", {"holds": ["input", "output"]}),
            "levels.L1.holds: leaves filter out.* kept nowhere; expected it in levels.L2.holds or",
        ),
        (
            changed("levels.L1.bytes", {"input": 1, "filter": 8, "output": 8}),
            "levels.L1.bytes.input: got 1, expected at least 2, one element of input at bits.input",
        ),
        (
            changed("levels.L2.bytes", 2),
            "levels.L2.bytes: got 2, expected at least 3.*bits.psum=24",
        ),
        (
            changed("levels.L1.bytes", {"shared": 9, "input": 9, "filter": 9, "output": 9}),
            "levels.L1.bytes: got 9 to share, but every tensor",
        ),
        (changed("l2_bytes", 9), "levels.L2.bytes: got 1000, but l2_bytes gives 9 already"),
        (changed("noc_bw", 9), "noc_bw: got 9, but levels.L2.read_bw is 40 bits/cycle"),
        ({"l1_bytes": 4}, "num_pes missing; give the number of PEs"),
        ([1], "expected the fields name, num_pes"),
    ],
)
def test_bad_files_name_the_field_and_the_fix(tmp_path: Path, data: Any, message: str) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(AcceleratorError, match=message) as caught:
        Accelerator.load(str(path))
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"clock_mhz": float("nan")}, "accelerator.clock_mhz: got nan"),
        (
            {"levels": (Level(), Level(), Level(read_bw=3))},
            "accelerator.levels.L1.read_bw: got 3, expected nothing",
        ),
    ],
)
def test_bad_arguments_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(AcceleratorError, match=message):
        replace(Accelerator(4), **fields)
