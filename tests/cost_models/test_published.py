"""Published figures beside ours: what the tables say holds of the mappings in the repository."""

import math
from pathlib import Path

import pytest

from benchmarks.frame import known
from benchmarks.published import eyeriss, nvdla, simba, tpu
from benchmarks.published.rows import COLUMNS, Row, chain_of, given, shown

DATA = Path(__file__).parents[2] / "docs" / "data"
FOUND = {module.__name__.rsplit(".", 1)[1]: list(module.rows()) for module in (eyeriss, nvdla, tpu)}


def of(chip: str, quantity: str) -> list[Row]:
    return [row for row in FOUND[chip] if row.quantity == quantity]


@pytest.mark.parametrize("chip", FOUND)
def test_the_table_is_what_the_model_says(chip: str) -> None:
    assert known(DATA / f"published-{chip}.csv") == [shown(row) for row in FOUND[chip]], (
        f"python -m benchmarks published {chip}"
    )


@pytest.mark.parametrize("chip", [*FOUND, "simba"])
def test_factors_and_what_they_leave_over_make_the_ratio(chip: str) -> None:
    for row in known(DATA / f"published-{chip}.csv"):
        assert tuple(row) == COLUMNS
        factors = [float(cause.rsplit(" x", 1)[1]) for cause in row["causes"].split("; ") if cause]
        explained = math.prod(factors) * float(row["left_over"])
        assert explained == pytest.approx(float(row["ratio"]), rel=0.01), row
        ratio = float(row["ours"]) / float(row["published"])
        assert ratio == pytest.approx(float(row["ratio"]), abs=0.001), row


@pytest.mark.parametrize(
    ("chip", "quantity", "low", "high"),
    [
        ("eyeriss", "GLB [MB]", 0.995, 1.005),
        ("eyeriss", "DRAM [MB]", 0.88, 1.12),
        ("eyeriss", "processing [ms]", 0.84, 1.0),  # where DRAM does not make it wait
        ("nvdla", "", 0.998, 1.002),
        ("tpu", "", 0.88, 1.12),
    ],
)
def test_what_causes_leave_over_is_small(chip, quantity, low, high) -> None:
    rows = [row for row in FOUND[chip] if row.quantity == quantity or not quantity]
    assert rows
    assert all(low < row.left_over < high for row in rows)


def test_one_layer_of_eyeriss_is_far_from_what_is_published_at_the_buffer() -> None:
    rows = of("eyeriss", "GLB [MB]")
    assert [row.layer for row in rows if abs(row.ratio - 1) > 0.25] == ["CONV3"]


def test_another_mapping_of_eyeriss_would_be_seen(tmp_path, monkeypatch) -> None:
    for path in eyeriss.EXAMPLES.iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    wrong = tmp_path / "CONV4.yaml"
    wrong.write_text(
        wrong.read_text().replace("C: 6", "C: 3").replace(" C, units: 2", " C, units: 1")
    )
    figures, layer = given("eyeriss"), eyeriss.layers.read_file(tmp_path / "layers.yaml")[3]
    right = eyeriss.buffer_row(layer, figures).left_over
    monkeypatch.setattr(eyeriss, "EXAMPLES", tmp_path)
    assert eyeriss.buffer_row(layer, figures).left_over > 1.5 * right


def test_the_sheet_of_nvdla_says_what_the_primer_says() -> None:
    times = [row["times"] for row in given("nvdla")["layers"].values()]
    rows = of("nvdla", "cycles")
    cycles = sum(n * row.published for n, row in zip(times, rows, strict=True))
    assert sum(times) == 54
    assert round(1e9 / cycles) == given("nvdla")["images_per_s"]


def test_a_package_of_simba_is_so_many_chiplets() -> None:
    chiplet, package = simba.CHAINS[simba.CHIP], simba.package(36)
    assert package.peak_macs_per_cycle == 36 * chiplet.peak_macs_per_cycle == 36 * 1024
    (peak,) = (
        row for row in known(DATA / "published-simba.csv") if row["quantity"] == "peak [TOPS]"
    )
    assert float(peak["ours"]) == pytest.approx(36 * 4.01, rel=1e-3)


def test_the_tables_of_simba_are_of_mappings_that_a_search_finds(monkeypatch) -> None:
    monkeypatch.setattr(simba, "SAMPLES", 200)
    network = simba.layers.network("resnet50")[1:3]
    monkeypatch.setattr(simba.layers, "network", lambda name: network)
    whole = simba.resnet50(simba.CHAINS[simba.CHIP], "latency")
    macs = sum(layer.macs for layer in network)
    assert whole.cycles >= macs / 1024
    assert whole.chip_pj > 0
    (area,) = (
        row for row in known(DATA / "published-simba.csv") if row["quantity"] == "area [mm2]"
    )
    assert float(area["ours"]) == pytest.approx(whole.area_mm2, rel=1e-4)


def test_causes_are_factors_in_the_order_in_which_they_are_taken_off() -> None:
    causes = chain_of(("", 12.0), ("a", 6.0), ("none", 6.0), ("b", 8.0))
    assert causes == {"a": 2.0, "b": 0.75}
    row = Row("chip", "layer", "MB", 10.0, 12.0, causes)
    assert (row.ratio, row.left_over) == pytest.approx((1.2, 0.8))
    assert shown(row)["read"] == "remembered, not checked"
