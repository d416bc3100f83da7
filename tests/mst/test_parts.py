"""Parts of one's own: a pattern, a rule of growth, a law of density, each an example's one file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.attention import PATTERNS, Attention, visible
from mst.flops import planned, update_work
from mst.phases import parse_phases
from mst.rules import GROWTH, SCORES
from mst.settings import Wanted
from sparse_training import LAWS, SparseTrainingError
from tests.mst import small
from tests.mst.small import CONFIG, config_of

EXAMPLES = Path(__file__).parents[2] / "examples"
UPDATES = 20


@pytest.fixture(autouse=True)
def _examples(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))


def trained(corpus, **sparse):
    config = config_of(**sparse)
    trainer = small.trained(config, corpus, UPDATES, seed=1)
    assert np.isfinite(trainer.losses).all()
    assert trainer.work == planned(config, UPDATES)
    return trainer


def test_a_pattern_of_ones_own_is_trained_and_counted(corpus):
    trainer = trained(corpus, pattern="mst_attention:Dilated:16")
    assert np.flatnonzero(visible("mst_attention:Dilated:16", 32, 8, 16)[20]).tolist() == [
        6, 8, 10, 12, 14, 16, 18, 20,
    ]  # fmt: skip
    mask = visible("mst_attention:Dilated:16", 32, 8, 16)
    needed = Attention("mst_attention:Dilated:16").flops(16, 32, "cpu").needed
    assert needed == 12 * 16 * mask.sum()
    assert trainer.work.theory.attention < planned(CONFIG, UPDATES).theory.attention * 2


def test_a_rule_of_growth_of_ones_own_moves_weights(corpus):
    masks = [
        trained(corpus, growth=name).sparsest["bits"]["0.qkv"].tolist()
        for name in ("mst_growth:ByOutput", "static")
    ]
    assert masks[0] != masks[1]
    assert GROWTH.make("mst_growth:ByOutput").flops(120, 20, 7) == 2 * 100 * 7
    assert GROWTH.make("set").flops(120, 20, 7) == 0


def test_a_law_of_density_of_ones_own_moves_it(corpus):
    phases = Wanted(density_law="mst_schedule:Cosine").config().sparse.phases
    trainer = trained(corpus, phases=phases)
    assert trainer.density == 1
    falls = {
        law: planned(Wanted(density_law=law).config(), 1000).theory.linear
        for law in ("linear", "cubic", "mst_schedule:Cosine")
    }
    assert len(set(falls.values())) == 3
    assert falls["cubic"] > falls["linear"]  # restoration, the longer phase, rises early
    assert LAWS.make("mst_schedule:Cosine").left(0.5) == pytest.approx(0.5)


def test_laws_of_ones_own_stand_in_phases():
    text = "warm-up:0-.1:mst_schedule:Cosine,ultra:.1-1:linear:mst_attention:Dilated:8"
    first, ultra = parse_phases(text)
    assert first.law == "mst_schedule:Cosine"
    assert (ultra.law, ultra.attention) == ("linear", "mst_attention:Dilated:8")


def test_a_learned_pattern_learns(corpus):
    trainer = trained(corpus, pattern="span:4")
    named = dict(trainer.model.named_parameters())
    share = named["blocks.0.learned.span:4.share"]
    assert not torch.equal(share, torch.full_like(share, 0.5))
    plain = trained(corpus)
    assert not any("learned" in name for name in plain.model.state_dict())


@pytest.mark.parametrize(("score", "growth"), [("mest:0.1", "mixed"), ("r-sensitivity", "set")])
def test_scores_choose_other_weights(corpus, score, growth):
    ours, theirs = (trained(corpus, score=s, growth=growth) for s in (score, "magnitude"))
    assert ours.sparsest["bits"]["0.qkv"].tolist() != theirs.sparsest["bits"]["0.qkv"].tolist()


def test_scores_by_hand():
    weights, gradients = np.array([1.0, 2.0]), np.array([4.0, 0.5])
    found = {name: SCORES.make(name).scores(weights, gradients).tolist() for name in SCORES}
    assert found["magnitude"] == [1, 2]
    assert found["mest"] == pytest.approx([1.04, 2.005])
    assert found["r-sensitivity"] == pytest.approx([0.25, 4])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_executed_attention_counts_scores_that_backward_computes_anew(pattern):
    """A seventh of what is computed, unless scores are kept."""
    found = Attention(pattern, 32, 64)
    each = 12 if found.rule.keeps_scores else 14
    flops = found.flops(8, 512, "cpu")
    pairs = visible(pattern, 512, 32, 64).sum()
    computed = pairs if pattern == "dense" else found.computed_pairs(512) or 512**2
    assert flops == (12 * 8 * pairs, each * 8 * computed)


def test_translated_models_compute_all_pairs():
    plain = config_of(pattern="local")
    phase = plain.sparse.phases[1]
    on, off = (
        update_work(replace(plain, compile=c), 0.2, phase, False).executed for c in (True, False)
    )
    assert on.attention > off.attention


def test_a_class_that_is_no_rule_is_refused():
    with pytest.raises(SparseTrainingError, match=r"derived from sparse_training.rules.GrowthRule"):
        GROWTH.make("mst_attention:Dilated")
