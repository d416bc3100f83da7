"""What is known already is not searched again, and only what is the same question is known."""

import sqlite3
from collections import OrderedDict

import pytest

import baselines
import cost_models
import marl_mapper
from cost_models import Accelerator
from layers import Layer
from marl_mapper import LibraryError, answers

TINY = Layer("tiny", "CONV", K=4, C=4, Y=6, X=6, R=3, S=3)
WIDE = Layer("wide", "CONV", K=32, C=32, Y=10, X=10, R=3, S=3)
CHIP = Accelerator(16, l1_bytes=256, l2_bytes=8192, noc_bw=8, offchip_bw=4)


@pytest.fixture(autouse=True)
def searches(monkeypatch):
    """An empty memory, and the problems that were searched."""
    monkeypatch.setattr(answers, "_known", OrderedDict())
    counted = []
    for method in ("ga", "random", "auto"):
        kind = type(baselines.load(method))
        search = kind.search

        def count(self, problem, *args, _search=search, **how):
            if not counted or counted[-1] is not problem:  # auto begins with ga
                counted.append(problem)
            return _search(self, problem, *args, **how)

        monkeypatch.setattr(kind, "search", count)
    return counted


def forget():
    answers._known.clear()


def asked(layer=TINY, chip=CHIP, **how):
    return marl_mapper.map(layer, chip, **({"method": "random", "budget": 50} | how))


def proven(**how):
    return marl_mapper.map(WIDE, CHIP, **how)


def test_the_same_question_is_searched_once(searches):
    first, named = asked(), asked(TINY.renamed("other"))
    assert len(searches) == 1
    assert (named.layer.name, named.value) == ("other", first.value)
    others = (
        *({"budget": 60}, {"seed": 1}, {"limits": {"max_latency_cycles": 1e9}}),
        *(
            {"objective": "latency"},
            {"cost_model": "exact:latency=bound"},
            {"chip": Accelerator(8)},
        ),
    )
    for how in others:
        asked(**how)
    assert len(searches) == 7


def test_an_answer_is_the_callers_own():
    first = asked()
    kept = first.mapping.to_dict()
    first.mapping.tiles[0].clear()
    first.result.best_action[:] = 0
    assert asked().mapping.to_dict() == kept


def test_a_watched_search_is_always_made(searches):
    seen = []
    for _ in range(2):
        asked(on_batch=seen.append)
    assert len(searches) == 2
    assert seen


def test_a_tighter_proof_answers_looser_questions(searches, tmp_path):
    store, how = tmp_path / "answers.db", {"gap": 0.5, "agents": "none"}
    loose = proven(**how, store=store)
    assert 0 < loose.gap <= 0.5
    tight = proven(agents="none", store=store)
    assert (tight.gap, len(searches)) == (0, 2)
    for looser in ({"gap": 0.2}, {"timeout": 9.0}, {"seed": 3}, {"method": "optimal"}, how):
        assert proven(**looser).value == tight.value <= loose.value
    forget()
    assert proven(gap=0.3, store=store).value == proven(**how, store=store).value == tight.value
    assert len(searches) == 2


@pytest.mark.parametrize("chip", [CHIP, "simba"])
@pytest.mark.parametrize("known", [False, True])
def test_a_file_outlives_the_process(searches, tmp_path, chip, known):
    """What the process knows before is written too."""
    store = tmp_path / "answers.db"
    if known:
        asked(chip=chip)
    first = asked(chip=chip, store=store)
    forget()
    assert asked(chip=chip, store=str(store)).to_dict() == first.to_dict()
    asked(chip=chip)  # known in the process since
    assert len(searches) == 1


def test_what_the_model_does_not_agree_with_is_searched_again(searches, tmp_path):
    store = tmp_path / "answers.db"
    first = asked(store=store)
    for broken in ("replace(answer, '\"value\": ', '\"value\": 1')", "'{}'", "'nonsense'"):
        with sqlite3.connect(store) as connection:
            connection.execute(f"UPDATE answers SET answer = {broken}")
        for _ in range(2):
            forget()
            assert asked(store=store).value == first.value
    assert len(searches) == 4


def test_a_file_of_another_kind_stays_as_it_is(tmp_path):
    path, text = tmp_path / "runs.db", tmp_path / "notes.txt"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (id INTEGER)")
    text.write_text("no database, but long enough to be looked at as one" * 20)
    for store, says in ((path, "another kind of file"), (text, "not a database; expected")):
        before = store.read_bytes()
        with pytest.raises(LibraryError, match=says):
            asked(store=store)
        assert store.read_bytes() == before


def test_the_oldest_leaves_first(monkeypatch):
    monkeypatch.setattr(answers, "MOST", 2)
    for pes in (2, 4, 8):
        asked(chip=Accelerator(pes))
    assert len(answers._known) == 2


def test_a_model_that_does_not_say_its_options_is_asked_again(searches):
    class Silent:
        name = "silent"
        capabilities = cost_models.capabilities_of(cost_models.load("exact"))

        def __init__(self):
            self.evaluate = cost_models.load("exact").evaluate
            self.evaluate_batch = cost_models.load("exact").evaluate_batch

    for _ in range(2):
        asked(cost_model=Silent())
    assert len(searches) == 2


def test_an_answer_is_of_the_prices_that_a_file_holds(searches, tmp_path):
    prices = tmp_path / "prices.yaml"

    def of(dram, **how):
        prices.write_text(f"mac: 1\nl1: 1\nl2: 6\ndram: {dram}\n")
        return proven(cost_model=f"exact:energy={prices}", **how)

    for how in ({}, {"method": "ga", "budget": 50}):
        cheap, dear, again = (of(dram, **how) for dram in (100, 1000, 100))
        assert cheap.value == again.value < dear.value
    assert len(searches) == 4
