import html
import json
import re

import pytest

import layers
from mapper.compare.entry import boards, of_stored
from mapper.compare.plan import make_plan
from mapper.compare.run import run_plan
from mapper.compare.summary import Summary
from mapper.explore.design_space import FIELDS
from mapper.explore.explore_file import NAME
from mapper.report.errors import ReportError
from mapper.report.log_axes import ticks
from mapper.report.networks import NETWORK, NetworkShapes, network_of, read_network, write_network
from mapper.report.page import make_section, render
from mapper.report.sources import from_folder, from_store
from marl_common import engineering
from marl_runs import SilentReporter, Store
from tests.mapper.commands import json_of, printed, said
from tests.mapper.small_networks import EXPERTS

pytest.importorskip("jinja2", reason="needs the extra viz")
pytest.importorskip("matplotlib", reason="needs the extra viz")
TINY = "conv:K=4,C=4,Y=6,X=6,R=3,S=3"
SEARCH = "search --network mlp --method random --budget 50"


def compared(folder, *plan, **options):
    """Make the searches of a plan, and the page of their store."""
    with Store.open(folder / "runs.sqlite") as store:
        run_plan(make_plan(*plan, **options), store, reporter=SilentReporter())
    return page_of(folder)


def page_of(folder):
    return render(from_store(str(folder / "runs.sqlite")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    compared(folder, [TINY], ["latency"], ["random", "ga"], budget=200, seeds=2)
    return folder


def test_the_page_stands_alone_and_has_everything(folder, tmp_path):
    printed(f"report {folder} --out {tmp_path / 'page.html'}")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(
        source.startswith(("data:image/svg+xml;base64,", "data:,", "#")) for source in sources
    )
    assert sum(source.startswith("data:image") for source in sources) == 3
    assert "<td>random</td>" in page
    assert "cost model exact, accelerator edge, 200 samples" in page
    assert "MACs of one PE" in page
    assert "mapper validate --store" in page


def test_names_cannot_break_the_page(tmp_path):
    (tmp_path / "l.yaml").write_text(
        "layers:\n- {name: '<script>x', kind: conv, K: 4, C: 4, Y: 6, X: 6, R: 3, S: 3}\n"
    )
    layer = f"{tmp_path / 'l.yaml'}:<script>x"
    page = compared(tmp_path, [layer], ["latency"], ["random"], budget=50)
    assert "<script>" not in page
    assert "&lt;script&gt;x" in page


def test_searches_that_found_no_mapping_are_shown_too(tmp_path):
    page = compared(tmp_path, ["mobilenetv2.52"], ["latency"], ["random"], budget=1, seeds=1)
    assert "No search found a feasible mapping" in page


def test_problems_of_one_name_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for size, options in ((1024, ""), (1024, ":double_buffer=false"), (2048, "")):
        (tmp_path / "c.yaml").write_text(f"{{num_pes: 16, l1_bytes: {size}, l2_bytes: 65536}}")
        printed("search --layer mlp.2 --method random --budget 50 --store runs.sqlite -a c.yaml "
                f"--cost-model exact{options}")  # fmt: skip
    page = page_of(tmp_path)
    for words in (
        "l1_bytes 1024, double_buffer true",
        "l1_bytes 1024, double_buffer false",
        "l1_bytes 2048, double_buffer true",
    ):
        assert f"mlp.2, {words}" in page


def test_a_folder_of_search_results(folder, tmp_path):
    printed(f"search --layer {TINY} --method random --budget 50 --out {tmp_path / 'one'}")
    page = render(from_folder(tmp_path))
    assert "mapper validate" not in page
    assert "<img" not in page, "a single method is compared with none"
    assert "50 samples" in page
    assert "MACs of one PE" in page
    assert len(from_folder(folder).runs) == 4


def test_results_of_a_method_with_other_options_are_no_seeds_of_one(tmp_path):
    words = "search -l mlp.2 --method ga --budget 20 --no-proof --option population="
    for size in (150, 20):
        printed(f"{words}{size} --out {tmp_path}/{size}")
    labels = [entry.method for entry in from_folder(tmp_path).entries]
    assert labels == ["ga", "ga:population=20"]


def test_a_network_in_its_folder_counts_once(tmp_path):
    """Its searches are in the folder's store, and each has a manifest."""
    code, _, err = said(f"{SEARCH} --out {tmp_path}")
    assert (code, "wrote" in err) == (0, True)
    manifests = list(tmp_path.rglob("manifest.json"))
    assert len(from_folder(tmp_path).runs) == len(manifests)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>mlp: mappings</title>" in page
    overviews = [view for section in sections_of(tmp_path) for view in section.overviews]
    assert [view.count for view in overviews] == [len(layers.network("mlp"))]
    (tmp_path / "runs.sqlite").unlink()
    assert len(from_folder(tmp_path).runs) == len(manifests)


def test_a_language_model_says_tokens_per_second_and_energy_by_token(tmp_path):
    """In a file's network, whose name the folder keeps, and in the zoo's, whose name says all."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps(EXPERTS))
    out, words = tmp_path / "out", f"search --network {config} --tokens 1 --cache 20 --batch 4"
    words += f" --method random --budget 300 --no-proof -a nvdla-small --out {out}"
    words += " --passes counted"
    found = json_of(words)
    told, totals = found["language_model"], found["totals"]
    assert [told[name] for name in ("tokens", "cache", "batch", "keys")] == [1, 20, 4, 21]
    assert told["experts"] == {
        "total": 4, "per_token": 2, "expected_distinct": 3.75, "counted": 4
    }  # fmt: skip
    assert totals["tokens"] == 4
    seconds = totals["latency_cycles"] / 1e9  # the chip has 1 GHz
    assert totals["tokens_per_s"] == pytest.approx(4 / seconds)
    assert totals["j_per_token"] == pytest.approx(totals["energy_nj"] * 1e-9 / 4)
    text = printed(words)
    assert "tokens/s at 1,000 MHz" in text
    assert "2 of 4 a token; 3.75 distinct ones expected for 4 tokens, 4 counted" in text
    config.unlink()
    (view,) = [view for section in sections_of(out) for view in section.overviews]
    shown = dict(view.totals)
    assert shown["tokens a second"].endswith(" tokens/s at 1,000 MHz")
    assert shown["latency"].startswith(engineering(totals["latency_cycles"], "cycles"))
    assert shown["energy of a token"].endswith("J/token")
    names = [layer.name for layer, _ in layers.distinct("llama-3-8b:tokens=1,cache=7,batch=3")]
    network = network_of(names)
    assert (network.name, network.tokens) == ("llama-3-8b:tokens=1,cache=7,batch=3", 3)
    assert sum(network.counts.values()) == 289
    assert network_of([name.replace("cache=7", "cash=7") for name in names]).name == ""


def sections_of(folder):
    source = from_folder(folder)
    entries = boards([of_stored(run) for run in source.runs])
    return [make_section(Summary(board, found), source) for board, found in entries.items()]


def test_charts_show_what_the_costs_say(folder, tmp_path):
    (section,) = sections_of(folder)
    (view,) = section.overviews
    (best,) = view.layers
    assert sum(best.latency_parts.values()) == pytest.approx(best.cost.latency_cycles)
    assert sum(best.energy_parts.values()) == pytest.approx(best.cost.energy_nj)
    for chart in view.charts[:2]:
        (bar,) = chart.bars
        assert sum(width for _, width in bar.parts) == pytest.approx(100)
    assert f"{best.utilisation:.0%}" in view.charts[2].bars[0].text
    assert dict(view.totals)["latency"].startswith(engineering(best.cost.latency_cycles))
    assert view.roofline.count("<circle") == 1
    page = compared(tmp_path, [TINY], ["edp"], ["random"], budget=200, cost_model="maestro")
    (section,) = sections_of(tmp_path)  # a model without parts has whole bars
    assert [part for part, _ in section.overviews[0].charts[0].bars[0].parts] == ["all"]
    assert "part-all" in page


def test_the_front_of_an_exploration_is_drawn_on_the_page_of_its_network(tmp_path):
    words = "explore --network mlp --pes 16,64 --l1 64,256 --l2 4k --workers 1 --timeout 0"
    words += f" --store {tmp_path / 'runs.sqlite'} --out {tmp_path}"
    found = json_of(words)["front"]
    printed(f"{SEARCH} --out {tmp_path}")
    (view,) = [view for section in sections_of(tmp_path) for view in section.overviews]
    (front,) = view.fronts
    assert (len(front.designs.rows), len(front.table)) == (4, len(found))
    (picture,) = front.pictures
    assert picture.count("<title>") == 4
    assert picture.count('r="6"') == len(found)
    assert "this chip" in picture
    assert front.here["edp"] == pytest.approx(
        front.here["latency"] * sum(one.count * one.cost.energy_nj for one in view.layers)
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Chips that no other one beats in edp and area" in page
    assert front.designs.command in html.unescape(page)


def test_an_exploration_of_something_else_is_not_drawn(tmp_path):
    row = dict.fromkeys(
        ("latency_cycles", "energy_nj", "edp_cycles_nj", "area_um2", "power_mw", *FIELDS), 1.0
    )
    kept = {
        "network": "mlp", "cost_model": "exact", "cost_model_options": {"energy": "maestro"},
        "objectives": ["edp", "area"], "command": "mapper explore",
        "rows": [row | {"num_pes": 1, "front": 1, "gap": 0.0}],
    }  # fmt: skip
    (tmp_path / NAME).write_text(json.dumps(kept))
    printed(f"{SEARCH} --out {tmp_path}")
    assert not any(view.fronts for part in sections_of(tmp_path) for view in part.overviews)
    for wrong in ({}, kept | {"objectives": ["edp", "beauty"]}, kept | {"rows": [{"front": 1}]}):
        (tmp_path / NAME).write_text(json.dumps(wrong))
        with pytest.raises(ReportError, match=r"explore\.json: is no"):
            from_folder(tmp_path)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1e6), (3.4, 5.2), (0.9, 9.1), (2e-9, 7e-9)])
def test_an_axis_has_round_numbers_within_it(low, high):
    found = ticks(low, high)
    assert len(found) >= 2
    assert found == sorted(found)
    assert all(low <= value <= high for value in found)


def test_mistakes_are_named(tmp_path):
    Store.open(tmp_path / "empty.sqlite").close()
    with pytest.raises(ReportError, match="holds no searches"):
        from_store(str(tmp_path / "empty.sqlite"))
    for network in (NetworkShapes("net", {"a": 2}), NetworkShapes("net", {"a": 2}, 8, 9.0, 0.5)):
        write_network(tmp_path / NETWORK, network)
        assert read_network(tmp_path / NETWORK) == network
    for wrong in ('{"network": "net", "shapes": [], "tokens": null}', "{}"):
        (tmp_path / NETWORK).write_text(wrong)
        with pytest.raises(ReportError, match=r"network\.json: is no"):
            read_network(tmp_path / NETWORK)
    (tmp_path / "manifest.json").write_text(json.dumps({"method": "ga"}))
    (tmp_path / "mapping.yaml").write_text("{}")
    with pytest.raises(ReportError, match=r"manifest\.json: is no result"):
        from_folder(tmp_path)
