"""The exact model against mappings that were executed element by element."""

import pytest

import cost_models
from tests.cost_models.exact_reference import read_reference

ROWS = read_reference()
RETAIN, NONE = (
    cost_models.load("exact", halo_time=halo_time, energy="maestro", area="maestro")
    for halo_time in ("retain", "none")
)
INPUT_COUNTS = ("dram_in", "l2r_in", "l2r_in_tile", "l1w_in")
COUNTS = (
    *("dram_in", "dram_fil", "dram_out_w", "dram_out_r", "l2_peak", "l1_peak", "macs", "steps"),
    *("active_pe_steps", "compute_cycles", "l2r_in", "l1w_in", "l2r_in_tile", "l2r_fil"),
    *("l1w_fil", "l2r_fil_tile", "l2w_out", "l1drain_out", "l2w_out_tile", "l2r_psum", "latency"),
    *("noc_in_cycles", "noc_out_cycles", "dram_in_cycles", "dram_out_cycles", "outer_steps"),
)


def energy_nj(c: dict[str, int]) -> float:
    """The documented formula, from a row's own counts."""
    l1 = 2 * c["macs"] + c["l1w_in"] + c["l1w_fil"] + 2 * (c["macs"] + c["l2r_psum"])
    l2 = c["l2r_in"] + c["dram_in"] + c["l2r_fil"] + c["dram_fil"]
    l2 += c["l2r_psum"] + c["dram_out_w"] + c["l2w_out"] + c["dram_out_r"]
    dram = c["dram_in"] + c["dram_fil"] + c["dram_out_r"] + c["dram_out_w"]
    return 0.00023 * (c["macs"] + 1.68 * l1 + 18.61 * l2 + 200 * dram)


def test_the_sample_is_large_enough_to_judge() -> None:
    assert len(ROWS) >= 500
    assert {row.layer.stride for row in ROWS} == {1, 2, 3, 4}
    assert {row.layer.depthwise for row in ROWS} == {False, True}


def test_every_count_and_the_energy_equal_the_reference() -> None:
    for row in ROWS:
        if row.slide:
            continue
        cost = NONE.evaluate(row.layer, row.accelerator, row.mapping)
        expected = {name: int(row.text[name]) for name in COUNTS}
        assert cost.counts == expected, row.text["id"]
        assert cost.latency_cycles == expected["latency"]
        assert cost.energy_nj == pytest.approx(energy_nj(expected), rel=1e-12)


def test_a_buffer_holds_at_least_what_a_sliding_window_leaves() -> None:
    """Rows with ``slide`` count a rule that left: of the input it held no more than `retain`."""
    rows = [row for row in ROWS if row.slide]
    assert len(rows) > 200
    timed = ("latency", "noc_in_cycles", "dram_in_cycles")
    saved = 0
    for row in rows:
        counts = RETAIN.evaluate(row.layer, row.accelerator, row.mapping).counts
        for name in COUNTS:
            expected = int(row.text[name])
            if name in INPUT_COUNTS or name in timed:
                assert counts[name] <= expected, (row.text["id"], name)
                saved += counts[name] < expected
            else:
                assert counts[name] == expected, (row.text["id"], name)
    assert saved
