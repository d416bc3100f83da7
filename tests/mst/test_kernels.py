"""The compiled backend inside the model: the masked run, whichever way a layer is multiplied."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.errors import MstError
from mst.flops import planned
from mst.phases import ULTRA, Phase
from mst.switching import FILE, dense_above
from sparse_training import layer_flops
from tests.mst.small import SHAPE, config_of, continued, trained

CONFIG = replace(config_of(every=4), batch=2, micro_batch=2, backend="compiled")
UPDATES = 20
HALF = dict.fromkeys(SHAPE.linear_shapes(), 0.5)


@pytest.mark.parametrize("unit", ["free", "block4"])
def test_backends_and_switches_are_one_run(unit, corpus):
    config = config_of(CONFIG, unit=unit)
    masked = trained(replace(config, backend="masked"), corpus)
    for above in (None, HALF, dict.fromkeys(HALF, 0.0)):
        compiled = trained(config, corpus, above=above)
        np.testing.assert_allclose(compiled.losses, masked.losses, rtol=1e-5)
        assert compiled.sparsifier.counts() == masked.sparsifier.counts()
        assert compiled.work == planned(config, UPDATES, tuple((above or {}).items()))
        assert compiled.work.theory == masked.work.theory


def test_a_run_that_switches_goes_on_to_the_bit(corpus, tmp_path):
    continued(CONFIG, corpus, tmp_path / "run.pt", above=HALF)


def test_executed_operations_are_those_of_the_layers(corpus):
    config = config_of(CONFIG, phases=(Phase(ULTRA, 0.0, 1.0),), growth="static")
    trainer = trained(config, corpus, until=1)
    rows = config.tokens_per_update
    layers = trainer.model.sparse_layers().values()
    found = [layer_flops(layer, rows) for layer in layers]
    assert trainer.work.executed.linear == sum(f.executed.total for f in found)
    assert trainer.work.theory.linear == sum(f.theoretical.total for f in found)
    assert trainer.work.executed.linear == trainer.work.theory.linear
    masked = trained(replace(config, backend="masked"), corpus, until=1)
    assert masked.work.executed.linear == pytest.approx(5 * masked.work.theory.linear, rel=0.01)


def test_densities_are_measured_once_and_kept(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("mst.switching.measured", lambda *of: asked.append(of) or 0.5)
    found = dense_above(CONFIG, tmp_path)
    assert found == HALF
    assert len(asked) == len({shape for shape, _, _ in asked}) == 4
    assert dense_above(CONFIG, tmp_path) == found
    assert len(asked) == 4
    assert dense_above(replace(CONFIG, backend="masked"), tmp_path) == {}
    (tmp_path / FILE).write_text('{"a": "b"}')
    with pytest.raises(MstError, match="remove it to measure them anew"):
        dense_above(CONFIG, tmp_path)
