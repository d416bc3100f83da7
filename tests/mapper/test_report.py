import json
import re

import pytest
from typer.testing import CliRunner

from mapper.cli import app
from mapper.compare import make_plan
from mapper.compare.run import run_plan
from mapper.report import ReportError, from_folder, from_store, render
from runs import SilentReporter, Store

pytest.importorskip("jinja2", reason="needs the extra viz")
pytest.importorskip("matplotlib", reason="needs the extra viz")
TINY = "conv:K=4,C=4,Y=6,X=6,R=3,S=3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    plan = make_plan([TINY], ["latency"], ["random", "ga"], budget=200, seeds=2)
    with Store.open(folder / "runs.sqlite") as store:
        run_plan(plan, store, reporter=SilentReporter())
    return folder


def test_the_page_stands_alone_and_has_everything(folder):
    page = render(from_store(str(folder / "runs.sqlite")))
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(source.startswith(("data:image/png;base64,", "#")) for source in sources)
    assert sum(source.startswith("data:") for source in sources) == 3
    assert "<td>random</td>" in page
    assert "cost model exact, accelerator edge, 200 samples" in page
    assert "MACs of one PE" in page
    assert "mapper validate --store" in page


def test_searches_that_found_no_mapping_are_shown_too(tmp_path):
    plan = make_plan(["mobilenetv2.52"], ["latency"], ["random"], budget=1, seeds=1)
    with Store.open(tmp_path / "runs.sqlite") as store:
        run_plan(plan, store, reporter=SilentReporter())
        assert store.runs()[0].best_value is None
    assert "No search found a feasible mapping" in render(from_store(str(tmp_path / "runs.sqlite")))


def test_names_cannot_break_the_page(tmp_path):
    (tmp_path / "l.yaml").write_text(
        "layers:\n- {name: '<script>x', kind: conv, K: 4, C: 4, Y: 6, X: 6, R: 3, S: 3}\n"
    )
    plan = make_plan([f"{tmp_path / 'l.yaml'}:<script>x"], ["latency"], ["random"], budget=50)
    with Store.open(tmp_path / "runs.sqlite") as store:
        run_plan(plan, store, reporter=SilentReporter())
    page = render(from_store(str(tmp_path / "runs.sqlite")))
    assert "<script>" not in page
    assert "&lt;script&gt;x" in page


def test_a_folder_of_search_results(folder, tmp_path):
    words = ["search", "--layer", TINY, "--method", "random", "--budget", "50"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "one")])
    assert done.exit_code == 0, done.output
    page = render(from_folder(tmp_path))
    assert "mapper validate" not in page
    assert "50 samples" in page
    assert "MACs of one PE" in page
    assert len(from_folder(folder).runs) == 4


def test_a_network_in_its_folder_counts_once(tmp_path):
    """Its searches are in the folder's store, and each has a manifest."""
    words = ["search", "--network", "mlp", "--method", "random", "--budget", "50"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    manifests = list(tmp_path.rglob("manifest.json"))
    assert len(from_folder(tmp_path).runs) == len(manifests)
    (tmp_path / "runs.sqlite").unlink()
    assert len(from_folder(tmp_path).runs) == len(manifests)


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ReportError, match="is no folder"):
        from_folder(tmp_path / "no")
    with pytest.raises(ReportError, match="holds neither"):
        from_folder(tmp_path)
    Store.open(tmp_path / "empty.sqlite").close()
    with pytest.raises(ReportError, match="holds no searches"):
        from_store(str(tmp_path / "empty.sqlite"))
    (tmp_path / "manifest.json").write_text(json.dumps({"method": "ga"}))
    (tmp_path / "mapping.yaml").write_text("{}")
    with pytest.raises(ReportError, match=r"manifest\.json: is no result"):
        from_folder(tmp_path)
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "no/r.html")])
    assert done.exit_code == 2
    assert "does not exist; make it first" in done.output


def test_the_command_writes_the_page_whole(folder, tmp_path):
    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(folder), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_text().rstrip().endswith("</html>")
    assert list(tmp_path.iterdir()) == [out]
    wrong = CliRunner().invoke(
        app, ["report", str(folder), "--out", str(tmp_path / "no" / "x.html")]
    )
    assert wrong.exit_code == 2
