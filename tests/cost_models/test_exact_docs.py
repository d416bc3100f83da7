"""The documentation of the cost models is true."""

import re
import subprocess
import sys
from pathlib import Path

import cost_models
from cost_models import Accelerator
from cost_models.differences import TITLES
from cost_models.energy_tables import load_energy

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cost-models.md").read_text(encoding="utf-8")


def test_the_picture_is_up_to_date() -> None:
    script = ROOT / "docs" / "make_cost_models.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0


def test_the_worked_example_has_the_models_figures() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import make_cost_models as made
    finally:
        sys.path.pop(0)
    cost = cost_models.load("exact").evaluate(made.LAYER, made.ACCELERATOR, made.MAPPING)
    text = PAGE.split("## A worked example")[1].split("## ")[0]
    assert f"{cost.counts['dram_in']} in all" in text
    assert f"In all {cost.counts['l2r_in']}. Into L1" in text
    assert f"then two, {cost.counts['l1w_in']}." in text
    assert f"= {cost.counts['compute_cycles']}. In all {cost.counts['latency']}." in text
    assert Accelerator(2, noc_bw=4, offchip_bw=2) == made.ACCELERATOR


def test_every_installed_model_and_every_cause_is_there() -> None:
    for name in cost_models.names():
        assert f"`{name}`" in PAGE
    section = PAGE.split("## Where MAESTRO differs")[1].split("## ")[0]
    assert re.findall(r"^(\d)\. ", section, re.MULTILINE) == [str(n) for n in TITLES]


def test_the_energy_file_loads(tmp_path: Path) -> None:
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "energy.yaml"
    path.write_text(text.group(1))
    assert load_energy(str(path)).dram == 160
