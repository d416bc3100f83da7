"""The compiled backend inside the model: the masked run, whichever way a layer is multiplied."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.checkpoints import FORMAT
from mst.config import GptShape, PretrainConfig, SparseSettings
from mst.errors import MstError
from mst.flops import planned
from mst.model import SparseGpt
from mst.norm import FeatureNorm
from mst.phases import ULTRA, Phase
from mst.presets import three_phases
from mst.switching import FILE, dense_above
from mst.trainer import Pretrainer
from sparse_training import layer_flops

SHAPE = GptShape(layers=1, width=16, heads=2, context=32)
SPARSE = SparseSettings(
    sparsity=0.8, phases=three_phases(0.2, 0.2), every=4, moves=3, window=8, stride=16
)
CONFIG = PretrainConfig(shape=SHAPE, sparse=SPARSE, batch=2, micro_batch=2, backend="compiled")
UPDATES = 20
HALF = dict.fromkeys(SHAPE.linear_shapes(), 0.5)


def trained(config, corpus, above=None, until=UPDATES):
    trainer = Pretrainer(config, 3, UPDATES, corpus, above)
    while trainer.done < until:
        trainer.step()
    return trainer


@pytest.mark.parametrize("unit", ["free", "block4"])
def test_backends_and_switches_are_one_run(unit, corpus):
    config = replace(CONFIG, sparse=replace(SPARSE, unit=unit))
    masked = trained(replace(config, backend="masked"), corpus)
    for above in (None, HALF, dict.fromkeys(HALF, 0.0)):
        compiled = trained(config, corpus, above)
        np.testing.assert_allclose(compiled.losses, masked.losses, rtol=1e-5)
        assert compiled.sparsifier.counts() == masked.sparsifier.counts()
        assert compiled.work == planned(config, UPDATES, tuple((above or {}).items()))
        assert compiled.work.theory == masked.work.theory


def test_a_run_that_switches_goes_on_to_the_bit(corpus, tmp_path):
    straight = trained(CONFIG, corpus, HALF)
    first = trained(CONFIG, corpus, HALF, until=7)
    FORMAT.save(tmp_path / "run.pt", first.state_dict())
    second = Pretrainer(CONFIG, 3, UPDATES, corpus)  # what it measures is not what counts
    FORMAT.restore(tmp_path / "run.pt", second.load_state_dict)
    while second.done < UPDATES:
        second.step()
    assert straight.losses.tolist() == second.losses.tolist()
    assert straight.work == second.work


def test_executed_operations_are_those_of_the_layers(corpus):
    sparse = replace(SPARSE, phases=(Phase(ULTRA, 0.0, 1.0),), growth="static")
    config = replace(CONFIG, sparse=sparse)
    trainer = trained(config, corpus, until=1)
    rows = config.tokens_per_update
    layers = trainer.model.sparse_layers().values()
    found = [layer_flops(layer, rows) for layer in layers]
    assert trainer.work.executed.linear == sum(f.executed.total for f in found)
    assert trainer.work.theory.linear == sum(f.theoretical.total for f in found)
    assert trainer.work.executed.linear == trainer.work.theory.linear
    masked = trained(replace(config, backend="masked"), corpus, until=1)
    assert masked.work.executed.linear == pytest.approx(5 * masked.work.theory.linear, rel=0.01)


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
def test_the_fused_norm_is_that_of_torch(dtype, close):
    norm = FeatureNorm(12, dtype=dtype)
    torch.nn.init.uniform_(norm.weight)
    x = torch.randn(12, 40, dtype=dtype, requires_grad=True)
    weights = torch.randn(12, 40, dtype=dtype)
    plain = torch.nn.functional.layer_norm(x.t(), (12,), norm.weight, None, 1e-5).t()
    inputs = (x, norm.weight)
    expected = torch.autograd.grad((plain * weights).sum(), inputs)
    found = torch.autograd.grad((norm(x) * weights).sum(), inputs)
    torch.testing.assert_close(norm(x), plain, rtol=close, atol=close)
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one, two, rtol=10 * close, atol=10 * close)


def test_gradients_of_a_sparse_model_in_float64():
    """Kernels in the model against masks in it: the loss and every kept weight's gradient."""
    from sparse_training import Sparsifier, SparsityConfig

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
