"""NVDLA's published DRAM traffic of AlexNet is the exact model's, but for what is named."""

from pathlib import Path

import pytest

from benchmarks.chips_nvdla import DATA, TENSORS, WINOGRAD_FILTERS, Compared, compare

ALL = {found.name: found for found in compare()}


@pytest.mark.parametrize("found", ALL.values(), ids=ALL)
def test_every_tensor_crosses_the_boundary_as_often_as_published(found: Compared) -> None:
    for tensor in TENSORS:
        assert found.ours[tensor] == pytest.approx(found.plain[tensor], rel=1e-12), tensor


def test_cycles_are_the_published_ones_but_where_the_sheet_counts_parts_of_taps() -> None:
    apart = {
        found.name: found.ours["cycles"] / found.plain["cycles"]
        for found in ALL.values()
        if found.ours["cycles"] != pytest.approx(found.plain["cycles"])
    }
    # 3 blocks of 4 taps for 11 / 4, and 55 outputs a row for (224 - 11 + 1) / 4, both ways
    assert apart == {"CONV1": pytest.approx((3 * 55 / (2.75 * 54)) ** 2)}


def test_what_is_named_matters() -> None:
    conv3, conv5 = ALL["CONV3"], ALL["CONV5"]
    assert conv3.published["filter"] == conv3.ours["filter"] * WINOGRAD_FILTERS
    assert conv5.published["output"] < conv5.ours["output"] / 4


def test_figures_that_contradict_themselves_are_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(DATA.read_text().replace("input_kb: 42.25", "input_kb: 42.5"))
    with pytest.raises(ValueError, match="CONV3: dram_kb is not the sum of its tensors"):
        list(compare(wrong))
