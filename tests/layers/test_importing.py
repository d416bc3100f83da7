"""Models of other tools: MACs as torch counts them, layer by layer, and wrong files."""

import warnings
from collections import Counter
from math import prod

import pytest

import layers
from layers import Imported, ImportingError, Layer

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


def mobilenet():
    t = pytest.importorskip("transformers", reason="needs the extra dev")
    return t.MobileNetV2Model(t.MobileNetV2Config(image_size=32, depth_multiplier=0.35)), image(32)


SMALL = {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 3}


def vit():
    t = pytest.importorskip("transformers", reason="needs the extra dev")
    config = t.ViTConfig(image_size=64, intermediate_size=96, **SMALL)
    config._attn_implementation = "eager"
    return t.ViTModel(config, add_pooling_layer=False), image()


def bert():
    t = pytest.importorskip("transformers", reason="needs the extra dev")
    config = t.BertConfig(intermediate_size=96, vocab_size=100, **SMALL)
    config._attn_implementation = "eager"
    return t.BertModel(config), words()


def gpt2():
    t = pytest.importorskip("transformers", reason="needs the extra dev")
    config = t.GPT2Config(
        n_embd=48, n_layer=2, n_head=3, vocab_size=100, use_cache=False,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    config._attn_implementation = "eager"
    return t.GPT2LMHeadModel(config), words()


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


MODELS = [mobilenet, vit, bert, gpt2, own]


@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_macs_of_a_module_are_those_that_torch_counts(build):
    module, inputs = build()
    module.eval()
    found = layers.from_torch(module, inputs)
    assert found.macs == counted_macs(module, inputs)
    assert found.unmapped == []
    assert len({layer.name for layer in found.layers}) == len(found.layers)


def test_layer_by_layer_as_hooks_see_it():
    module, inputs = mobilenet()
    module.eval()
    seen = {}

    def hook(name):
        def note(conv, given, result):
            taps = conv.weight.numel() // conv.out_channels
            seen[name] = result.numel() * taps

        return note

    for name, child in module.named_modules():
        if isinstance(child, torch.nn.Conv2d):
            child.register_forward_hook(hook(name))
    with torch.no_grad():
        module(*inputs)
    found = {layer.name: layer.macs for layer in layers.from_torch(module, inputs).layers}
    assert found == seen


@pytest.fixture(scope="module")
def onnx_file(tmp_path_factory):
    pytest.importorskip("onnxscript", reason="needs the extra dev")
    path = tmp_path_factory.mktemp("onnx") / "own.onnx"
    module, inputs = own()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module.eval(), inputs, str(path), dynamo=True, verbose=False)
    return path


def test_an_onnx_model_has_the_macs_of_its_module(onnx_file):
    module, inputs = own()
    found = layers.from_onnx(onnx_file)
    assert found.macs == counted_macs(module, inputs)
    by_name = {layer.name: layer for layer in found.layers}
    assert layers.parse(f"{onnx_file}:{found.layers[0].name}") in by_name.values()
    assert layers.layers_of(str(onnx_file)) == tuple(found.layers)


def onnx_model(nodes, inputs, initialisers=(), opset=17):
    onnx = pytest.importorskip("onnx", reason="needs the extra import")
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()]
    weights = [
        helper.make_tensor(n, TensorProto.FLOAT, s, bytes(4 * prod(s)), raw=True)
        for n, s in initialisers
    ]
    out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", values, [out], weights)
    return helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])


def saved(model, path):
    path.write_bytes(model.SerializeToString())
    return path


def conv_node(**attributes):
    onnx = pytest.importorskip("onnx", reason="needs the extra import")
    return onnx.helper.make_node("Conv", ["x", "w"], ["y"], name="conv", **attributes)


def test_same_padding_falls_where_onnx_puts_it(tmp_path):
    for rule, padding in (("SAME_UPPER", (0, 1, 0, 1)), ("SAME_LOWER", (1, 0, 1, 0))):
        node = conv_node(auto_pad=rule, strides=[2, 2])
        model = onnx_model([node], {"x": [1, 3, 8, 8]}, [("w", [4, 3, 3, 3])])
        (layer,) = layers.from_onnx(saved(model, tmp_path / "m.onnx")).layers
        assert layer.given_padding == padding
        assert (layer.out_y, layer.out_x) == (4, 4)


def test_symbolic_axes_need_values(tmp_path):
    model = onnx_model([conv_node()], {"x": ["batch", 3, 8, 8]}, [("w", [4, 3, 3, 3])])
    path = saved(model, tmp_path / "m.onnx")
    with pytest.raises(ImportingError, match=r"--shape batch=1"):
        layers.from_onnx(path)
    (layer,) = layers.from_onnx(path, {"batch": 5}).layers
    assert layer.N == 5


def test_a_large_graph_reads_fast_enough_and_merges(tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs the extra import")
    nodes = [
        onnx.helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"], name=f"n{i}")
        for i in range(2000)
    ]
    model = onnx_model(nodes, {"x0": [4, 8]}, [("w", [8, 8])])
    found = layers.from_onnx(saved(model, tmp_path / "m.onnx"))
    assert len(found.layers) == 2000
    assert len(layers.distinct(found.layers)) == 1


def test_what_has_no_macs_is_skipped_and_what_cannot_be_mapped_is_said(tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs the extra import")
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["r"]),
        onnx.helper.make_node("Conv", ["r", "w"], ["y"], name="deep"),
        onnx.helper.make_node("MatMul", ["m", "m"], ["z"], name="flat"),
    ]
    inputs = {"x": [1, 2, 4, 4, 4], "m": [6, 6]}
    model = onnx_model(nodes, inputs, [("w", [3, 2, 2, 2, 2])])
    found = layers.from_onnx(saved(model, tmp_path / "m.onnx"))
    assert found.skipped == {"Relu": 1}
    assert [name for name, _ in found.unmapped] == ["deep"]
    assert "3 axes" in found.unmapped[0][1]
    assert [layer.name for layer in found.layers] == ["flat"]


@pytest.mark.parametrize("build", [vit, bert, gpt2], ids=["vit", "bert", "gpt2"])
def test_a_transformers_config_has_the_macs_of_its_model(build, tmp_path):
    module, inputs = build()
    path = tmp_path / "config.json"
    path.write_text(module.config.to_json_string())
    tokens = None if build is vit else inputs[0].shape[1]
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


def test_a_module_keeps_its_modes():
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout())
    module[1].eval()
    layers.from_torch(module, (torch.zeros(2, 4),))
    assert [part.training for part in module.modules()] == [True, True, False]


def test_the_command(tmp_path, capsys, onnx_file):
    from mapper.cli import main

    out = tmp_path / "own.yaml"
    with pytest.raises(SystemExit) as ended:
        main(["import", str(onnx_file), "-o", str(out)])
    assert ended.value.code in (0, None)
    printed = capsys.readouterr().out
    assert "MACs:" in printed
    assert "distinct shapes" in printed
    assert len(layers.layers_of(str(out))) > 4
    wrong = tmp_path / "wrong.txt"
    for words_ in (["import", str(wrong)], ["import", str(onnx_file), "--shape", "batch=0"]):
        with pytest.raises(SystemExit) as ended:
            main(words_)
        assert ended.value.code == 2


def test_models_of_onnxs_own_backend_tests_are_imported_or_refused_in_one_line(tmp_path):
    pytest.importorskip("onnx", reason="needs the extra import")
    from onnx.backend.test.case.node import collect_testcases

    operators = ("Conv", "Gemm", "MatMul", "Attention", "Einsum")
    outcomes = Counter()
    for case in collect_testcases(""):
        nodes = case.model.graph.node if case.model is not None else ()
        if any(node.op_type.startswith(operators) for node in nodes):
            outcomes[outcome(saved(case.model, tmp_path / "m.onnx"))] += 1
    assert set(outcomes) == {"imported", "refused"}
    assert outcomes["imported"] > 5 * outcomes["refused"] > 100


def outcome(path):
    """What an import ends in; any error but ImportingError is raised."""
    try:
        return "imported" if layers.from_onnx(path).layers else "empty"
    except ImportingError as error:
        return "refused" if "\n" not in str(error) else str(error)


def test_a_stale_shape_does_not_beat_the_computed_one(tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs the extra import")
    pairs = (("x", "a"), ("a", "b"))
    nodes = [onnx.helper.make_node("Conv", [x, "w"], [y], name=y) for x, y in pairs]
    model = onnx_model(nodes, {"x": [1, 3, 8, 8]}, [("w", [3, 3, 3, 3])])
    stale = onnx.helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, [1, 3, 30, 30])
    model.graph.value_info.append(stale)
    found = layers.from_onnx(saved(model, tmp_path / "m.onnx"))
    assert [layer.Y for layer in found.layers] == [8, 6]


def test_functions_are_inlined_and_names_are_plain(tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs the extra import")
    helper = onnx.helper
    body = [helper.make_node("Conv", ["x", "w"], ["y"], name="in\x1b[31m\nside:1" + "e" * 5000)]
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    function = helper.make_function("mine", "Block", ["x", "w"], ["y"], body, versions[:1])
    node = helper.make_node("Block", ["x", "w"], ["y"], name="block", domain="mine")
    model = onnx_model([node], {"x": [1, 3, 8, 8]}, [("w", [4, 3, 3, 3])])
    del model.opset_import[:]
    model.opset_import.extend(versions)
    model.functions.append(function)
    path = tmp_path / "m.onnx"
    (layer,) = layers.from_onnx(saved(model, path)).layers
    assert layer.macs == 4 * 3 * 9 * 36
    assert layer.name.isprintable()
    assert len(layer.name) <= 200
    named = tmp_path / "m.yaml"
    layers.write_yaml(named, [layer])
    assert layers.parse(f"{named}:{layer.name}") == layer


def test_many_layers_of_one_name_have_names_of_their_own():
    nodes = Imported().nodes
    layer = Layer.gemm("same", M=2, N=3, K=4)
    for _ in range(30_000):
        nodes.mac(layer)
    assert len({one.name for one in nodes.nodes}) == 30_000
