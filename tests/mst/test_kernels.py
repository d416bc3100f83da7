"""The compiled backend inside the model: the masked run, whichever way a layer is multiplied."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.checkpoints import FORMAT
from mst.errors import MstError
from mst.flops import planned
from mst.model import SparseGpt
from mst.phases import ULTRA, Phase
from mst.switching import FILE, dense_above
from mst.trainer import Pretrainer
from sparse_training import Sparsifier, SparsityConfig, layer_flops
from tests.mst.small import SHAPE, config_of, train, trained

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
    straight = trained(CONFIG, corpus, above=HALF)
    first = trained(CONFIG, corpus, until=7, above=HALF)
    FORMAT.save(tmp_path / "run.pt", first.state_dict())
    second = Pretrainer(CONFIG, 3, UPDATES, corpus)  # what it measures is not what counts
    FORMAT.restore(tmp_path / "run.pt", second.load_state_dict)
    train(second)
    assert straight.losses.tolist() == second.losses.tolist()
    assert straight.work == second.work


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


def test_gradients_of_a_sparse_model_in_float64():
    """Kernels in the model against masks in it: the loss and every kept weight's gradient."""
    models = []
    for backend in ("masked", "compiled"):
        model = SparseGpt(SHAPE, seed=2, backend=backend, dtype=torch.float64)
        Sparsifier(model.sparse_layers(), SparsityConfig(0.7), seed=1).attach()
        models.append(model)
    x = torch.randint(0, 256, (2, 32), generator=torch.Generator().manual_seed(0))
    losses = [model.loss(x, x) for model in models]
    torch.testing.assert_close(*losses, rtol=1e-10, atol=1e-10)
    for loss in losses:
        loss.backward()
    masked, compiled = (model.sparse_layers() for model in models)
    for name, layer in compiled.items():
        kept = torch.from_numpy(layer.structure.kept)
        expected = masked[name].weight.grad.reshape(-1)[kept]
        torch.testing.assert_close(layer.weight.grad, expected, rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(
        models[0].positions.grad, models[1].positions.grad, rtol=1e-8, atol=1e-10
    )


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
