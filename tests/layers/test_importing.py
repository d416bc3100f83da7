"""Models of other tools: MACs as torch counts them, layer by layer, and wrong files."""

from functools import partial

import pytest

import layers
from layers import Imported, Layer

torch = pytest.importorskip("torch", reason="needs the extra rl")


def counted_macs(module, inputs) -> int:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops() // 2


def image(size: int = 64):
    return (torch.zeros(1, 3, size, size),)


def words(count: int = 16):
    return (torch.zeros(1, count, dtype=torch.long),)


def transformer(model: str, inputs, how=None, **fields):
    """A model of transformers with a configuration of its own, and inputs."""
    t = pytest.importorskip("transformers", reason="needs the extra dev")
    config = getattr(t, model.replace("LMHead", "").replace("Model", "Config"))(**fields)
    config._attn_implementation = "eager"
    return getattr(t, model)(config, **(how or {})), inputs


SMALL = {
    "num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 3, "intermediate_size": 96,
}  # fmt: skip
GPT2 = {"n_embd": 48, "n_layer": 2, "n_head": 3, "bos_token_id": 0, "eos_token_id": 0}


class Own(torch.nn.Module):
    """One of everything that the models above lack."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Conv1d(4, 8, 5, stride=2, padding=2)
        self.up = torch.nn.ConvTranspose2d(6, 4, 4, stride=2, padding=1)
        self.groups = torch.nn.Conv2d(
            8, 12, 3, groups=4, dilation=(2, 1), stride=(1, 2), padding=(1, 0)
        )

    def forward(self, line, small, wide):
        scores = torch.einsum("bhqd,bhkd->bhqk", wide, wide)
        return self.line(line), self.up(small), self.groups(wide), scores, scores @ wide


def own():
    return Own(), (torch.zeros(2, 4, 32), torch.zeros(1, 6, 7, 9), torch.zeros(2, 8, 10, 12))


def mapped():
    """Runs one convolution on five images, and five matrices on as many inputs."""

    class Mapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3)
            self.weights = torch.nn.Parameter(torch.zeros(5, 8, 4))

        def forward(self, images, rows):
            with torch.no_grad():
                rows = torch.vmap(torch.matmul)(rows, self.weights)
            return torch.vmap(self.conv)(images), rows

    return Mapped(), (torch.zeros(5, 2, 3, 9, 9), torch.zeros(5, 6, 8))


MODELS = {
    "mobilenet": partial(
        transformer, "MobileNetV2Model", image(32), image_size=32, depth_multiplier=0.35
    ),
    "vit": partial(
        transformer, "ViTModel", image(), {"add_pooling_layer": False}, image_size=64, **SMALL
    ),
    "bert": partial(transformer, "BertModel", words(), vocab_size=100, **SMALL),
    "gpt2": partial(
        transformer, "GPT2LMHeadModel", words(), vocab_size=100, use_cache=False, **GPT2
    ),
    "own": own,
    "mapped": mapped,
}


@pytest.mark.parametrize("name", MODELS)
def test_macs_of_a_module_are_those_that_torch_counts(name):
    module, inputs = MODELS[name]()
    module.eval()
    found = layers.from_torch(module, inputs)
    assert found.macs == counted_macs(module, inputs)
    assert found.unmapped == []
    assert len({layer.name for layer in found.layers}) == len(found.layers)


@pytest.mark.parametrize("name", ["vit", "bert", "gpt2"])
def test_a_transformers_config_has_the_macs_of_its_model(name, tmp_path):
    module, inputs = MODELS[name]()
    path = tmp_path / "config.json"
    path.write_text(module.config.to_json_string())
    tokens = None if name == "vit" else inputs[0].shape[1]
    found = layers.from_huggingface(path, tokens)
    assert found.macs == counted_macs(module.eval(), inputs)


@pytest.mark.parametrize(("turned", "groups"), [(False, 1), (False, 2), (True, 1), (True, 2)])
def test_a_convolution_of_either_kind_by_its_general_operator(turned, groups):
    class General(torch.nn.Module):
        def forward(self, x, w):
            return torch.convolution(x, w, None, [2, 1], [1, 0], [1, 1], turned, [0, 0], groups)

    filters = (4, 6 // groups, 3, 3) if turned else (6, 4 // groups, 3, 3)
    inputs = (torch.zeros(2, 4, 8, 9), torch.zeros(*filters))
    given = layers.from_torch(General(), inputs).layers
    kind = torch.nn.ConvTranspose2d if turned else torch.nn.Conv2d
    named = kind(4, 6, 3, stride=(2, 1), padding=(1, 0), groups=groups)
    expected = layers.from_torch(named, inputs[:1]).layers
    assert [layer.extents for layer in given] == [layer.extents for layer in expected]
    if not turned:
        assert sum(layer.macs for layer in given) == counted_macs(named, inputs[:1])


def test_what_is_not_read_is_named_beside_the_layers():
    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps, self.head = torch.nn.LSTM(4, 6), torch.nn.Linear(6, 3)

        def forward(self, x):
            return self.head(self.steps(x)[0])

    found = layers.from_torch(Both(), (torch.zeros(5, 1, 4),))
    assert [layer.name for layer in found.layers] == ["head"]
    assert [node for node, _ in found.unmapped] == ["steps"]


class Frozen(torch.nn.Module):
    """A layer that is frozen, or of another precision, before one that is not."""

    def __init__(self, context):
        super().__init__()
        self.context, self.first, self.last = context, torch.nn.Linear(4, 6), torch.nn.Linear(6, 3)

    def forward(self, x):
        with self.context():
            x = torch.relu(self.first(x))
        return self.last(x.to(torch.float32))


@pytest.mark.parametrize(
    "context", [torch.no_grad, lambda: torch.autocast("cpu")], ids=["no_grad", "autocast"]
)
def test_layers_without_gradients_or_of_another_precision_are_read(context):
    found = layers.from_torch(Frozen(context), (torch.zeros(5, 4),))
    assert [layer.name for layer in found.layers] == ["first", "last"]
    nodes = {node.name: node for node in found.graph().nodes}
    read, names = nodes["last"], []
    while read.inputs[0] in nodes:
        read = nodes[read.inputs[0]]
        names.append(read.name)
    assert names[-1] == "first"  # `last` reads what `first` writes


@torch.library.custom_op("test_importing::product", mutates_args=())
def own_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return left @ right


@own_product.register_fake
def _(left, right):
    return left.new_empty(left.shape[0], right.shape[1])


def test_no_product_is_passed_over():
    class Products(torch.nn.Module):
        def forward(self, left, right):
            return torch.linalg.matmul(left, right), own_product(left, right)

    found = layers.from_torch(Products(), (torch.zeros(3, 4), torch.zeros(4, 5)))
    assert found.macs == 3 * 4 * 5
    assert [reason for _, reason in found.unmapped] == [
        "product: an operator that is not known; it may have MACs"
    ]


def test_a_module_keeps_its_modes():
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout())
    module[1].eval()
    layers.from_torch(module, (torch.zeros(2, 4),))
    assert [part.training for part in module.modules()] == [True, True, False]


def test_many_layers_of_one_name_have_names_of_their_own():
    nodes = Imported().nodes
    layer = Layer.gemm("same", M=2, N=3, K=4)
    for _ in range(3_000):
        nodes.mac(layer)
    assert len({one.name for one in nodes.nodes}) == 3_000
