"""Any model made sparse and dense again, with any optimiser; what is refused, in one line."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from sparse_training import (  # fmt: skip
    MaskSchedule,
    ModelSparsifier,
    SparseAdam,
    SparseLinear,
    Sparsifier,
    SparsityConfig,
    densify,
    sparsify,
)
from tests.sparse_training.nets import perceptron, refuses

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda given: torch.optim.SGD(given, 0.05, momentum=0.9),
    "adam": lambda given: torch.optim.Adam(given, 0.01, amsgrad=True),
    "adamw": lambda given: torch.optim.AdamW(given, 0.01, weight_decay=0.1),
    "fused": lambda given: torch.optim.Adam(given, 0.01, fused=True),
    "rmsprop": lambda given: torch.optim.RMSprop(given, 0.01, momentum=0.5),
    "adagrad": lambda given: torch.optim.Adagrad(given, 0.05),
    "sparse": lambda given: SparseAdam(given, 0.01),
}


def learn(
    model: nn.Module, masks: ModelSparsifier, optimizer: torch.optim.Optimizer, updates: range
) -> list[float]:
    """Losses of a regression."""
    losses = []
    for update in updates:
        x = torch.randn(32, 16, generator=torch.Generator().manual_seed(update))
        optimizer.zero_grad()
        loss = (model(x) - x[:, :3].sin()).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_all_but_the_last_and_the_skipped() -> None:
    model = nn.ModuleDict({"body": perceptron(), "tail": nn.Linear(3, 5), "head": nn.Linear(5, 1)})
    weight, state = model["body"][2].weight, torch.get_rng_state()
    masks = sparsify(model, 0.8, skip=["body.0"])
    assert list(masks.layers) == ["body.2", "body.4", "tail"]
    assert masks.left_dense == {"body.0": "skipped", "head": "the last layer"}
    assert masks.sparsity() == pytest.approx(0.8, abs=0.01)
    assert model["body"][2] is masks.layers["body.2"]
    assert model["body"][2].weight is weight
    assert torch.equal(torch.get_rng_state(), state)
    assert list(sparsify(perceptron(), 0.8, skip=["0"]).layers) == ["2"]
    whole = nn.ModuleDict({"a": perceptron(), "b": perceptron()})
    assert list(sparsify(whole, 0.8, skip=["a"]).layers) == ["b.0", "b.2"]
    whole = nn.ModuleDict({"a": perceptron(), "b": perceptron()})
    assert list(sparsify(whole, 0.8, skip=["*.0", "b.*"]).layers) == ["a.2", "a.4"]


def test_layers_that_are_no_plain_linear_stay_dense() -> None:
    body = perceptron()
    body[2] = nn.utils.parametrizations.weight_norm(nn.Linear(24, 24))
    body[0].register_forward_hook(lambda *_: None)
    model = nn.Sequential(body, nn.MultiheadAttention(8, 2), nn.Linear(8, 8), nn.Linear(8, 1))
    masks = sparsify(model, 0.5)
    assert list(masks.layers) == ["0.4", "2"]
    assert masks.left_dense == {
        "0.0": "it has hooks",
        "0.2": "ParametrizedLinear is no plain torch.nn.Linear",
        "1": "MultiheadAttention multiplies its projections itself",
        "3": "the last layer",
    }


def test_densify_gives_linear_layers_of_the_same_numbers() -> None:
    model = perceptron()
    sparsify(model, 0.7)
    x = torch.randn(9, 16)
    before = model(x)
    assert densify(model) is model
    assert [type(part) for part in model] == [type(part) for part in perceptron()]
    torch.testing.assert_close(model(x), before)
    assert (model[2].weight == 0).float().mean() > 0.6
    assert model.state_dict().keys() == perceptron().state_dict().keys()
    assert isinstance(densify(SparseLinear(4, 3)), nn.Linear)
    sparsify(model, 0.5)
    assert model(torch.zeros(0, 16)).shape == (0, 3)


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_any_optimiser_learns_and_both_backends_agree(name: str) -> None:
    """What it keeps of a weight follows that weight; dropped ones stay at 0."""
    found = []
    for kind in ("compiled", "masked"):
        model = perceptron()
        config = SparsityConfig(0.6, every=5)
        masks = sparsify(model, config, schedule=MaskSchedule(end=60), backend=kind)
        optimizer = OPTIMIZERS[name](model.parameters())
        masks.follow(optimizer)
        losses = learn(model, masks, optimizer, range(80))
        assert masks.steps == 12
        assert sum(losses[-10:]) < 0.5 * sum(losses[:10])
        for layer in masks.layers.values():
            kept = torch.from_numpy(layer.structure.mask)
            assert torch.count_nonzero(layer.dense()[~kept]) == 0 or kind == "masked"
        found.append([layer.dense() * layer.mask() for layer in masks.layers.values()])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["adam", "sparse"])
def test_a_restored_run_is_the_uninterrupted_one(name: str) -> None:
    def begun(seed: int) -> tuple[nn.Module, ModelSparsifier, torch.optim.Optimizer]:
        model, config = perceptron(), SparsityConfig(0.6, every=5, growth="mixed")
        masks = sparsify(model, config, schedule=MaskSchedule(end=60), seed=seed)
        optimizer = OPTIMIZERS[name](model.parameters())
        return model, masks, optimizer

    model, masks, optimizer = begun(3)
    masks.follow(optimizer)
    learn(model, masks, optimizer, range(14))
    states = copy.deepcopy([masks.state_dict(), model.state_dict(), optimizer.state_dict()])
    expected = learn(model, masks, optimizer, range(14, 40))
    model, masks, optimizer = begun(4)
    for one, state in zip((masks, model, optimizer), states, strict=True):
        one.load_state_dict(state)
    masks.follow(optimizer)
    assert learn(model, masks, optimizer, range(14, 40)) == expected


def test_densities_follow_a_schedule() -> None:
    model = perceptron()
    schedule = MaskSchedule(end=20, first_sparsity=0.0, reach=15, kind="linear")
    masks = sparsify(model, SparsityConfig(0.9, every=5), schedule=schedule)
    optimizer, found = torch.optim.Adam(model.parameters()), []
    masks.follow(optimizer)
    for update in range(20):
        learn(model, masks, optimizer, range(update, update + 1))
        found.append(round(masks.sparsity(), 2))
    assert found == [0.0] * 4 + [0.3] * 5 + [0.6] * 5 + [0.9] * 6


def test_a_loss_may_outlive_the_number_of_weights() -> None:
    """Until the next one is there, as in most loops; torch keeps its nodes as long."""
    model, schedule = perceptron(), MaskSchedule(end=10, first_sparsity=0.0, reach=8)
    masks = sparsify(model, SparsityConfig(0.9, every=2), schedule=schedule)
    optimizer, held = torch.optim.Adam(model.parameters()), []
    masks.follow(optimizer)
    for update in range(12):
        optimizer.zero_grad()
        held.append(model(torch.randn(8, 16)).square().mean())
        held[update].backward()
        for layer in masks.layers.values():
            assert layer.weight.grad.shape == layer.weight.shape
        optimizer.step()
    assert masks.sparsity() == pytest.approx(0.9, abs=0.01)


def test_operations_are_counted() -> None:
    """By hand: kept weights twice a row, and twice that backward; the last layer is dense."""
    model = perceptron()
    config = SparsityConfig(0.75, every=4)
    masks = sparsify(model, config, schedule=MaskSchedule(end=8))
    refuses(r"call count\(\) with a batch first", lambda: masks.spent)
    counted, weights, last = masks.count(torch.randn(2, 5, 16)), (16 + 24) * 24, 24 * 3
    kept = weights // 4
    assert counted.inference.theoretical.total == 2 * 10 * (kept + last)
    assert counted.training.theoretical.total == 3 * counted.inference.theoretical.total
    assert counted.inference.executed == counted.inference.theoretical
    assert counted.dense == 2 * 10 * (weights + last)
    assert model.training
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    masks.follow(optimizer)
    learn(model, masks, optimizer, range(5))
    assert masks.spent.theoretical.topology == 2 * 10 * (weights - kept)
    assert masks.spent.executed.topology == 2 * 10 * weights
    passes = masks.spent.theoretical.forward + masks.spent.theoretical.backward
    assert passes == 5 * counted.training.theoretical.total
    masked = sparsify(perceptron(), config, backend="masked").count(torch.randn(10, 16))
    assert masked.inference.theoretical == counted.inference.theoretical
    assert masked.inference.executed.total == masked.dense == counted.dense


def encoder(nested: bool) -> nn.TransformerEncoder:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=nested)


@pytest.mark.parametrize(("nested", "padded"), [(True, True), (False, True), (True, False)])
def test_an_encoder_judges_as_it_trains(nested: bool, padded: bool) -> None:
    """Its fast path would read the weights of its layers past them."""
    model = nn.Sequential(encoder(nested), nn.Linear(32, 5))
    body = model[0]
    masks = sparsify(model, 0.8)
    assert [name[-7:] for name in masks.layers] == ["linear1", "linear2"] * 2
    assert "0.layers.0.self_attn" in masks.left_dense
    x, hidden = torch.randn(3, 7, 32), torch.zeros(3, 7, dtype=torch.bool)
    hidden[1, 5:] = hidden[2, 3:] = True
    padding = hidden if padded else None
    expected = body.train()(x, src_key_padding_mask=padding)
    with torch.no_grad():
        judged = body.eval()(x, src_key_padding_mask=padding)
    torch.testing.assert_close(judged, expected, rtol=1e-5, atol=1e-6)
    counted = masks.count(x)  # attention and its dense projections are in both
    attention = 2 * (21 * 4 * 32 * 32 + 2 * 3 * 7 * 7 * 32) * 2
    sparse = sum(2 * 21 * count for count in masks.counts().values())
    assert counted.inference.theoretical.total == attention + sparse + 2 * 21 * 32 * 5
    densify(model)
    assert body.use_nested_tensor == encoder(nested).use_nested_tensor
    assert body.layers[0].activation_relu_or_gelu == 1


@pytest.mark.parametrize(
    ("names", "backend", "nested"),
    [
        (("0.linear1",), "compiled", True), (("0.linear1",), None, False),
        (("1.linear2",), "masked", True), (("1.linear2",), "compiled", False),
        (("0.linear2", "1.linear1"), None, True), (("0.linear2", "1.linear1"), "masked", False),
    ],
)  # fmt: skip
def test_an_encoder_takes_layers_put_in_by_hand(names, backend, nested):
    """Torch's fast path leaves them alone by itself; its nested tensors make padding 0."""
    body = encoder(nested)
    layers = {}
    for name in names:
        place, _, kind = name.partition(".")
        plain = getattr(body.layers[int(place)], kind)
        layer = SparseLinear(plain.in_features, plain.out_features, backend=backend or "masked")
        layer.load_state_dict(plain.state_dict())
        setattr(body.layers[int(place)], kind, layer)
        layers[name] = layer
    if backend is not None:
        Sparsifier(layers, SparsityConfig(0.7)).attach()
    x, hidden = torch.randn(3, 7, 32), torch.zeros(3, 7, dtype=torch.bool)
    hidden[1, 5:] = hidden[2, 3:] = True
    for padding in (hidden, None):
        expected = body.train()(x, src_key_padding_mask=padding)
        for frozen in (True, False):
            body.eval().requires_grad_(not frozen)
            with torch.set_grad_enabled(frozen):
                judged = body(x, src_key_padding_mask=padding)
            real = ~hidden if padding is not None else torch.ones_like(hidden)
            torch.testing.assert_close(judged[real], expected[real], rtol=1e-5, atol=1e-6)
            if padding is not None and nested:
                assert torch.count_nonzero(judged[hidden]) == 0
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.parametrize(("layout", "packed"), [(torch.strided, False), (torch.jagged, True)])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_their_samples(layout: torch.layout, packed: bool) -> None:
    layer = SparseLinear(20, 12, backend="compiled")
    if packed:
        Sparsifier({"layer": layer}, SparsityConfig(0.5)).attach()
    parts = [torch.randn(rows, 20, requires_grad=True) for rows in (3, 1, 5)]
    y = layer(torch.nested.as_nested_tensor(parts, layout=layout))
    assert y.is_nested
    assert y.layout == layout
    slopes = torch.autograd.grad(sum(one.square().sum() for one in y.unbind()), parts)
    for part, one, slope in zip(parts, y.unbind(), slopes, strict=True):
        torch.testing.assert_close(one, layer(part))
        expected = torch.autograd.grad(layer(part).square().sum(), part)[0]
        torch.testing.assert_close(slope, expected)
    narrow = torch.nested.as_nested_tensor([torch.randn(3, 12)], layout=layout)
    refuses(r"expected \(\.\.\., 20\)", layer, narrow)


class Tied(nn.Module):
    """An embedding that is the first layer's weight, too."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(9, 16)
        self.body = perceptron()
        self.head = nn.Linear(16, 9)
        self.head.weight = self.embedding.weight
        self.last = nn.Linear(9, 9)


def convolutional() -> nn.Module:
    return nn.Sequential(nn.Conv1d(3, 3, 2), nn.Linear(8, 8), nn.Linear(8, 2))


def half_on_meta() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8, device="meta"), nn.Linear(8, 2))


def compiled_in_place() -> nn.Module:
    model = perceptron()
    model.compile(backend="eager")
    return model


REFUSED: dict[str, tuple[Callable[[], nn.Module], dict[str, Any], str]] = {
    "sparsity 1": (perceptron, {"sparsity": 1}, r"sparsity=1: expected a number from 0 "),
    "sparsity 0": (perceptron, {"sparsity": 0}, "sparsity=0: expected above 0; a dense model"),
    "nan": (perceptron, {"sparsity": float("nan")}, "sparsity=nan: expected a number from 0"),
    "a word": (perceptron, {"sparsity": "0.9"}, "sparsity='0.9': expected a number from 0"),
    "too sparse": (perceptron, {"sparsity": 0.9999}, "leaves one of 2 layers empty; expected"),
    "smaller than a block": (
        lambda: nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 2)),
        {"sparsity": SparsityConfig(0.5, unit="block4")},
        "layer '0' of 8 x 3 weights is smaller than a block of 4 x 4. Use unit 'free', or name",
    ),
    "mixed devices": (half_on_meta, {}, "layer '1': backend 'compiled' on meta: its kernels run"),
    "half precision": (
        lambda: perceptron().bfloat16(), {}, "layer '0': .*weights of torch.bfloat16; expected f",
    ),
    "compiled before": (
        lambda: torch.compile(perceptron(), backend="eager"), {},
        "model that is compiled; expected a plain one. Compile it after",
    ),
    "compiled in place": (compiled_in_place, {}, "model that is compiled; expected a plain one"),
    "a part compiled before": (
        lambda: nn.Sequential(nn.Linear(8, 8), torch.compile(nn.Linear(8, 8), backend="eager")), {},
        "part '1' that is compiled; expected a plain one. Compile it after",
    ),
    "a convolution": (convolutional, {}, "'0' is a convolution; expected linear layers alone. N"),
    "a tied weight": (Tied, {}, "'embedding.weight' and 'head.weight' are tied; expected a wei"),
    "a single layer": (lambda: nn.Linear(4, 4), {}, "a single layer; expected a model"),
    "one layer": (
        lambda: nn.Sequential(nn.Linear(4, 4)), {}, "no layer to make sparse among 1 linear ones",
    ),
    "a misspelt name": (perceptron, {"skip": ["5"]}, "skip '5' is not known"),
    "unknown backend": (perceptron, {"backend": "cuda"}, "backend 'cuda' is not known"),
    "late": (
        perceptron, {"schedule": MaskSchedule(end=50)},
        "schedule that ends at update 50 .* expected a topology step between, of one every 100",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused_in_one_line_and_left_as_it_was(name: str) -> None:
    make, options, line = REFUSED[name]
    model = make()
    before = {key: id(part) for key, part in model.named_modules(remove_duplicate=False)}
    shapes = [parameter.shape for parameter in model.parameters()]
    refuses(line, lambda: sparsify(model, **options))
    assert before == {key: id(part) for key, part in model.named_modules(remove_duplicate=False)}
    assert shapes == [parameter.shape for parameter in model.parameters()]


def test_convolutions_and_tied_weights_may_be_skipped() -> None:
    assert list(sparsify(convolutional(), 0.5, skip="0").layers) == ["1"]
    assert list(sparsify(Tied(), 0.5, skip="head").layers) == ["body.0", "body.2", "body.4"]


def test_an_optimiser_built_before_follows_unless_it_has_made_steps() -> None:
    """The weights stay the same parameters, so that only its state would be of another shape."""
    model = perceptron()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    masks = sparsify(model, 0.5)
    masks.follow(optimizer)
    losses = learn(model, masks, optimizer, range(60))
    assert losses[-1] < losses[0]
    refuses("an optimiser is followed already", masks.follow, optimizer)

    model = perceptron()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(3, 16)).sum().backward()
    optimizer.step()
    masks = sparsify(model, 0.5)
    line = r"Adam keeps 'exp_avg' of shape \(24, 16\) for a weight of \(.*Build the optimiser after"
    refuses(line, masks.follow, optimizer)
    other = torch.optim.SGD(perceptron().parameters(), 0.1)
    refuses("SGD does not hold the weight of '0'", masks.follow, other)


def test_an_optimiser_that_cannot_follow_is_refused() -> None:
    """Adafactor keeps sums of rows and columns of blocks."""
    model = perceptron()
    config = SparsityConfig(0.5, unit="block4", growth="set", every=2)
    masks = sparsify(model, config, schedule=MaskSchedule(end=4))
    optimizer = torch.optim.Adafactor(model.parameters())
    masks.follow(optimizer)
    line = "Adafactor keeps 'row_var' of shape .*cannot fol"
    refuses(line, learn, model, masks, optimizer, range(3))


def test_densify_refuses_what_a_linear_layer_has_not() -> None:
    for options in ({"layout": "columns"}, {"activation": "relu"}):
        model = nn.Sequential(SparseLinear(4, 3, **options))
        refuses("torch.nn.Linear has neither", densify, model)


def test_a_policy_of_stable_baselines3_learns_sparse() -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="extra `sb3` is not installed")
    ppo = sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=0)
    config = SparsityConfig(0.8, every=4)
    masks = sparsify(ppo.policy, config, skip=["action_net"], schedule=MaskSchedule(end=8))
    assert sorted(masks.left_dense) == ["action_net", "value_net"]
    masks.follow(ppo.policy.optimizer)
    ppo.learn(256)
    assert masks.updates == 16
    assert masks.steps == 2
    action, _ = ppo.predict(torch.zeros(4).numpy())
    assert action in (0, 1)
