import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from mapper.compare.plan import make_plan
from mapper.compare.run import run_plan
from mapper.results.verdicts import validate
from marl_runs import SilentReporter, Store, StoreError
from tests.mapper.commands import json_of, printed

DATA = Path(__file__).parents[1] / "runs" / "data"
SLIDE = "not replayed: made with halo_time=slide"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "runs.sqlite"
    plan = make_plan(["conv:K=4,C=4,Y=6,X=6,R=3,S=3"], ["latency"], ["random"], budget=200, seeds=2)
    with Store.open(path) as store:
        run_plan(plan, store, reporter=SilentReporter())
    return path


def test_honest_results_hold(made):
    with Store.open(made) as store:
        verdicts = list(validate(store))
        assert len(verdicts) == 2
        assert all(v.holds and v.stored == v.again for v in verdicts)
        assert len(list(validate(store, "1"))) == 1
        with pytest.raises(StoreError, match="not in the store"):
            list(validate(store, "99"))


def result(field, value):
    """A change of a field of the result."""
    return f"result = json_set(result, '$.{field}', json('{json.dumps(value)}'))"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("best_value = best_value * 0.9", "the best mapping's value is"),
        ("status = 'finnished'", "status"),
        ("samples = 150", "its result says"),
        (result("best_mapping.cluster_size", 7), "mapping"),
        (result("samples", 150), "its result says"),
        (result("best_value", 1.0), "its result says"),
        (result("unit", "nJ"), "its unit is 'nJ'"),
        (result("feasible_samples", 1), "are feasible, 1 counted"),
        (result("feasible_samples", "many"), "feasible_samples: got 'many', expected a whole"),
        (result("curve", [[1, 5.0]]), "its curve is not that of its samples"),
        (result("curve", [[1, "x"]]), "result.curve.0"),
        (result("best_figures", {"energy_nj": 1.0}), "the best mapping's energy_nj is"),
        (result("best_figures", {"energy": 1.0}), "the best mapping's energy is nan"),
        (result("samples_kept", False), "200 samples are stored"),
        (result("smaples", 1), "unknown field 'smaples'.*Did you mean 'samples'"),
        (result("best_figures", None), "expected best_action, best_mapping and best_figures, or n"),
        (result("proof", {"status": "optimal"}), "missing result.proof"),
    ],
)
def test_tampering_is_found(made, tmp_path, edit, says):
    path = shutil.copy(made, tmp_path / "runs.sqlite")
    with sqlite3.connect(path) as raw:
        raw.execute(f"update runs set {edit} where id = 1")
    with Store.open(path) as store:
        first, second = validate(store)
        assert not first.holds
        assert re.search(says, first.fault), first.fault
        assert second.holds


def test_results_of_the_first_schema_hold(tmp_path):
    """Their options of cost models were not recorded, and had the defaults of their time."""
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as raw:
        raw.executescript((DATA / "store-1.sql").read_text())
    with Store.open(path) as store:
        verdicts = list(validate(store))
        assert len(verdicts) == 4
        assert [v.unknown for v in verdicts if v.holds is not True] == [SLIDE] * 3


def test_a_search_under_prices_of_a_file_and_of_time_holds(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("mac: 1\nl1: 1\nl2: 6\ndram: 200\n", encoding="utf-8")
    words = f"search -l mlp.2 --cost-model exact:energy={tmp_path}/prices.yaml:cycle_nj=0.5"
    kept = (f"--store {tmp_path}/runs.sqlite", f"--certificate {tmp_path}/c.json")
    found = [json_of(f"{words} {where}")["best"] for where in kept]
    plain = json_of(words.replace(":cycle_nj=0.5", ""))["best"]
    assert found[0]["objective"] == found[1]["objective"] > plain["objective"]
    for where in kept:
        printed(f"validate {where}")
