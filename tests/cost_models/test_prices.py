"""Energy and area of the chip that is built: data, interpolation, prices, floors and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cost_models
from cost_models import Accelerator, CostModelError, Level, Mapping, Widths
from cost_models.prices import chip_prices, marks, open_levels
from cost_models.technology.parts import TechnologyError, dram_pj, mac, sram
from layers import Layer, LayerKind
from maestro_env import Problem

EDGE = Accelerator(168, 512, 108_000, 64, 16)
CONV = Layer("conv", LayerKind.CONV, K=16, C=8, Y=18, X=18, R=3, S=3)
MAPPING = Mapping(
    ("KCYXRS", "KCYXRS"),
    ("K", "Y"),
    ({"K": 2, "C": 4, "Y": 8, "X": 8}, {"K": 1, "C": 2, "Y": 2, "X": 4}),
    4,
)


# ------------------------------------------------------------------ data


@pytest.mark.parametrize(
    ("size", "read", "write", "area", "leakage"),
    [
        (64, 0.0349, 0.0563, 4.187, 0.002),
        (512, 0.1767, 0.2851, 4.187, 0.019),
        (108_000, 3.6464, 2.9962, 3.387, 2.779),
        (2_097_152, 15.9409, 13.7738, 3.083, 49.925),
    ],
)
def test_sram_at_a_point_is_the_point(size, read, write, area, leakage):
    found = sram(size)
    assert found.read_pj == pytest.approx(read, rel=1e-3)
    assert found.write_pj == pytest.approx(write, rel=1e-3)
    assert found.area_um2 == pytest.approx(area * size, rel=1e-3)
    assert found.leakage_uw == pytest.approx(leakage, rel=0.2)


def test_sram_between_points_is_log_log() -> None:
    middle = sram(np.sqrt(1024 * 2048))
    low, high = sram(1024), sram(2048)
    assert middle.read_pj == pytest.approx(np.sqrt(low.read_pj * high.read_pj))
    assert middle.leakage_uw == pytest.approx(np.sqrt(low.leakage_uw * high.leakage_uw))


def test_sram_outside_the_points() -> None:
    assert sram(3).read_pj == sram(64).read_pj
    assert sram(3).area_um2 == pytest.approx(sram(64).area_um2 * 3 / 64)
    a, b, c = (sram(size).read_pj for size in (1 << 24, 1 << 25, 1 << 26))
    assert c / b == pytest.approx(b / a)


def test_nodes_are_those_of_cacti_and_lie_between_their_neighbours() -> None:
    assert sram(65536, 65).read_pj == pytest.approx(5.8806, rel=1e-4)
    assert sram(65536, 22).write_pj == pytest.approx(0.55339, rel=1e-3)
    assert sram(65536, 65).read_pj > sram(65536, 55).read_pj > sram(65536, 45).read_pj
    assert sram(65536, 7).read_pj == pytest.approx(sram(65536, 22).read_pj * np.sqrt(7 / 22))
    assert sram(65536, 7).area_um2 == pytest.approx(sram(65536, 22).area_um2 * 7 / 22)
    assert sram(65536, 7).leakage_uw < sram(65536, 22).leakage_uw


@pytest.mark.parametrize("node", [3, 130])
def test_nodes_out_of_reach_are_named(node: float) -> None:
    with pytest.raises(TechnologyError, match=f"node_nm: got {node}, expected 7 to 90"):
        sram(64, node)
    chip = replace(EDGE, node_nm=node)
    with pytest.raises(CostModelError, match=r"'exact': accelerator\.node_nm"):
        cost_models.load("exact").evaluate(CONV, chip, MAPPING)
    table = cost_models.load("exact", energy="maestro", area="maestro")
    assert table.evaluate(CONV, chip, MAPPING).feasible


@settings(max_examples=60, deadline=None)
@given(st.floats(1, 2**27), st.floats(1, 4), st.floats(7, 90))
def test_a_larger_sram_costs_no_less(size: float, factor: float, node: float) -> None:
    small, large = sram(size, node), sram(size * factor, node)
    for a, b in zip(small, large, strict=True):
        assert b >= a * (1 - 1e-9)


def test_macs_are_those_of_the_table_and_grow_with_every_width() -> None:
    def of(sums: int, first: int, second: int, node: float = 45) -> tuple[float, float]:
        return mac(Widths(first, second, sums, sums), node)

    for widths, energy, area in (
        ((8, 8, 8), 0.97, 682),
        ((24, 8, 8), 1.09, 885),
        ((32, 16, 16), 3.89, 2726),
    ):
        assert of(*widths) == pytest.approx((energy, area))
    assert of(8, 4, 8) < of(8, 8, 8) < of(8, 8, 16) < of(9, 8, 16)
    assert of(8, 8, 8, 65) > of(8, 8, 8) > of(8, 8, 8, 28)


def test_dram_by_kind() -> None:
    assert [dram_pj(k) for k in ("HBM3", "HBM2", "LPDDR4", "DDR3")] == [32, 50, 64, 560]
    assert dram_pj("") == 64


# ------------------------------------------------------------------ prices


def test_prices_follow_capacity_width_and_node() -> None:
    byte = chip_prices(EDGE)
    assert byte.levels[2].read[0] == pytest.approx(sram(512).read_pj / 1000)
    assert byte.levels[1].write[3] == pytest.approx(sram(108_000).write_pj / 1000)
    assert byte.levels[0].read == byte.levels[0].write == (0.064,) * 4
    wide = chip_prices(replace(EDGE, widths=Widths(16, 8, 16, 32)))
    for level, other in zip(wide.levels, byte.levels, strict=True):
        factors = zip(other.read, (2, 1, 2, 4), strict=True)
        assert level.read == pytest.approx([price * factor for price, factor in factors])
    assert wide.mac_nj == pytest.approx(mac(Widths(16, 8, 16, 32))[0] / 1000)
    older = chip_prices(replace(EDGE, node_nm=65.0))
    assert older.levels[1].read > byte.levels[1].read
    assert older.levels[0] == byte.levels[0]


def test_a_tensor_with_a_capacity_of_its_own_has_its_own_price() -> None:
    own = (Level(), Level(), Level(tensor_bytes=(24, 448, 48)))
    prices = chip_prices(Accelerator(168, None, 108_000, levels=own)).levels[2]
    sizes = (sram(24), sram(448), sram(48))
    assert prices.read == pytest.approx([sizes[i].read_pj / 1000 for i in (0, 1, 2, 2)])
    assert prices.area_um2 == pytest.approx(sum(size.area_um2 for size in sizes))
    assert prices.leakage_uw == pytest.approx(sum(size.leakage_uw for size in sizes))


def test_what_a_chip_says_itself_goes_first() -> None:
    said = Level(read_pj=8.0, write_pj=2.0, leakage_uw=3.0, area_um2=5.0)
    chip = replace(EDGE, levels=(Level(read_pj=80.0), said, Level()), mac_pj=0.5, mac_area_um2=7.0)
    prices = chip_prices(chip)
    assert (prices.levels[1].read[0], prices.levels[1].write[0]) == (0.008, 0.002)
    assert (prices.levels[0].read[0], prices.levels[0].write[0]) == (0.08, 0.064)
    assert (prices.mac_nj, prices.mac_area_um2) == (0.0005, 7)
    l1 = sram(512)
    assert prices.area_um2(168, 2) == pytest.approx(168 * (14 + l1.area_um2) + 5)
    assert prices.leakage_mw(168) == pytest.approx((3 + 168 * l1.leakage_uw) / 1000)
    slow = replace(prices, clock_mhz=200.0)
    assert slow.leakage_nj(168, 1000) == pytest.approx(5 * prices.leakage_mw(168))


def test_the_energy_is_every_access_at_its_price_and_leakage() -> None:
    widths = Widths(8, 16, 8, 32)
    chip = replace(EDGE, widths=widths, clock_mhz=500.0, l1_bytes=4096, l2_bytes=1 << 20)
    cost = cost_models.load("exact").evaluate(CONV, chip, MAPPING)
    c, prices = cost.counts, chip_prices(chip)
    l1, l2, dram = prices.levels[2], prices.levels[1], prices.levels[0]
    outputs = c["dram_out_w"] - c["dram_out_r"]
    again = c["l2r_psum"] + c["dram_out_r"]
    expected = {
        "mac": c["macs"] * prices.mac_nj,
        "l1": c["macs"] * (l1.read[0] + l1.read[1])
        + c["l1w_in"] * l1.write[0]
        + c["l1w_fil"] * l1.write[1]
        + (c["macs"] + c["l2r_psum"]) * (l1.read[3] + l1.write[3]),
        "noc": 0.0,
        "l2": c["l2r_in"] * l2.read[0]
        + c["dram_in"] * l2.write[0]
        + c["l2r_fil"] * l2.read[1]
        + c["dram_fil"] * l2.write[1]
        + outputs * (l2.read[2] + l2.write[2])
        + again * (l2.read[3] + l2.write[3]),
        "dram": c["dram_in"] * dram.read[0]
        + c["dram_fil"] * dram.read[1]
        + outputs * dram.write[2]
        + c["dram_out_r"] * (dram.read[3] + dram.write[3]),
        "leakage": prices.leakage_nj(168, c["latency"]),
    }
    assert cost.detail == pytest.approx(
        {f"energy_{name}_nj": nj for name, nj in expected.items()}
        | {name: cost.detail[name] for name in cost.detail if name.startswith("share")}
    )
    assert cost.energy_nj == cost.energy_total_nj == pytest.approx(sum(expected.values()))
    seconds = c["latency"] / 500e6
    assert cost.power_mw == pytest.approx(cost.energy_nj * 1e-9 / seconds * 1e3)
    assert cost.area_um2 == pytest.approx(prices.area_um2(168, 1))
    assert cost.priced == {"L2": "provisioned", "L1": "provisioned"}


# ------------------------------------------------------------------ levels without a capacity


def test_an_open_level_is_priced_at_what_the_mapping_requires() -> None:
    model = cost_models.load("exact")
    for chip, expected in (
        (Accelerator(168), {"L2": "required", "L1": "required"}),
        (replace(EDGE, l1_bytes=None), {"L2": "provisioned", "L1": "required"}),
    ):
        cost = model.evaluate(CONV, chip, MAPPING)
        built = replace(
            chip, l1_bytes=int(cost.l1_bytes), l2_bytes=chip.l2_bytes or int(cost.l2_bytes)
        )
        same = model.evaluate(CONV, built, MAPPING)
        assert cost.priced == expected
        assert cost.energy_nj == pytest.approx(same.energy_nj)
        assert cost.area_um2 == pytest.approx(same.area_um2)
        assert same.priced["L1"] == "provisioned"


def test_marks_say_where_the_data_end() -> None:
    own = (Level(), Level(), Level(tensor_bytes=(24, 448, 48)))
    assert marks(Accelerator(4, None, 1 << 26, levels=own)) == {
        "L2": "provisioned, outside the data",
        "L1": "provisioned, outside the data",
    }
    said = Level(read_pj=1, write_pj=1, leakage_uw=0, area_um2=1)
    assert open_levels(Accelerator(4)) == ("L2", "L1")
    assert open_levels(Accelerator(4, levels=(Level(), said, said))) == ()


# ------------------------------------------------------------------ tables, floors, objectives


def test_a_table_is_for_elements_of_its_bits() -> None:
    wide = replace(EDGE, widths=Widths(16, 16, 16, 16))
    chip = replace(wide, l1_bytes=1024, l2_bytes=216_000)
    for energy, factor in (("maestro", 2.0), ("eyeriss", 1.0)):
        model = cost_models.load("exact", energy=energy)
        a, b = (model.evaluate(CONV, hardware, MAPPING) for hardware in (EDGE, chip))
        for part in ("l1", "l2", "dram"):
            name = f"energy_{part}_nj"
            assert b.detail[name] == pytest.approx(factor * a.detail[name])
        assert b.detail["energy_mac_nj"] == a.detail["energy_mac_nj"]


def test_area_as_objective_wants_capacities() -> None:
    with pytest.raises(CostModelError, match="area_um2: the accelerator has no l2_bytes and no l1"):
        Problem(CONV, Accelerator(64), "area")
    with pytest.raises(CostModelError, match=r"give l1_bytes$"):
        Problem(CONV, replace(EDGE, l1_bytes=None), "latency*area")
    assert Problem(CONV, Accelerator(64), "energy").doubts == ()
    model = cost_models.load("exact", area="maestro")
    assert "bus and an arbiter" in Problem(CONV, Accelerator(64), "area", model).doubts[0]


@pytest.mark.parametrize("objective", ["area", "power"])
def test_doubts_about_area_and_power_are_said(objective: str) -> None:
    (exact,) = Problem(CONV, EDGE, objective).doubts
    (maestro,) = Problem(CONV, EDGE, objective, "maestro").doubts
    assert "under a latency limit" in exact
    assert "MAESTRO's formulas" in maestro
    assert "area=provisioned" in maestro
