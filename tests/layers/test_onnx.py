"""ONNX files: MACs as torch counts them, shapes, names, and what is no layer."""

import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import layers
from layers import ImportingError

torch = pytest.importorskip("torch", reason="needs the extra rl")
pytest.importorskip("onnx", reason="needs the extra import")

from onnx import TensorProto, helper

from tests.layers.test_importing import counted_macs, own
from tests.onnx_models import onnx_model
from tests.programs import give


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


def saved(model, path):
    path.write_bytes(model.SerializeToString())
    return path


def conv_node(**attributes):
    return helper.make_node("Conv", ["x", "w"], ["y"], name="conv", **attributes)


def test_same_padding_falls_where_onnx_puts_it(tmp_path):
    for rule, padding in (("SAME_UPPER", (0, 1, 0, 1)), ("SAME_LOWER", (1, 0, 1, 0))):
        node = conv_node(auto_pad=rule, strides=[2, 2])
        model = onnx_model([node], {"x": [1, 3, 8, 8]}, [("w", [4, 3, 3, 3])])
        (layer,) = layers.from_onnx(saved(model, tmp_path / "m.onnx")).layers
        assert layer.given_padding == padding
        assert (layer.out_y, layer.out_x) == (4, 4)


@pytest.mark.parametrize(
    ("node", "left", "right", "product"),
    [
        (
            helper.make_node("Einsum", ["x", "y"], ["z"], equation="...ij,...jk"),
            [8, 4, 5],
            [8, 5, 6],
            layers.Layer.gemm("p", M=4, N=6, K=5, batch=8),
        ),
        (
            helper.make_node("Einsum", ["x", "y"], ["z"], equation="...ij,kj"),
            [8, 4, 5],
            [6, 5],
            layers.Layer.gemm("p", M=32, N=6, K=5),
        ),
        (
            helper.make_node(
                *("FusedMatMul", ["x", "y"], ["z"]),
                domain="com.microsoft",
                transBatchA=1,
                transBatchB=1,
                transB=1,
            ),
            [4, 8, 5],
            [6, 8, 5],
            layers.Layer.gemm("p", M=4, N=6, K=5, batch=8),
        ),
    ],
)
def test_batches_of_products_are_where_the_operator_says(node, left, right, product, tmp_path):
    model = onnx_model([node], {"x": left, "y": right})
    (layer,) = layers.from_onnx(saved(model, tmp_path / "m.onnx")).layers
    assert layer.renamed("p") == product


def test_symbolic_axes_take_values(tmp_path):
    model = onnx_model([conv_node()], {"x": ["batch", 3, 8, 8]}, [("w", [4, 3, 3, 3])])
    (layer,) = layers.from_onnx(saved(model, tmp_path / "m.onnx"), {"batch": 5}).layers
    assert layer.N == 5


def test_what_has_no_macs_is_skipped_and_what_cannot_be_mapped_is_said(tmp_path):
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Conv", ["r", "w"], ["y"], name="deep"),
        helper.make_node("MatMul", ["m", "m"], ["z"], name="flat"),
        helper.make_node("CausalConvWithState", ["r", "w"], ["s"], name="state"),
    ]
    inputs = {"x": [1, 2, 4, 4, 4], "m": [6, 6]}
    model = onnx_model(nodes, inputs, [("w", [3, 2, 2, 2, 2])])
    found = layers.from_onnx(saved(model, tmp_path / "m.onnx"))
    assert found.skipped == {"Relu": 1}
    assert [name for name, _ in found.unmapped] == ["deep", "state"]
    assert "3 axes" in found.unmapped[0][1]
    assert [layer.name for layer in found.layers] == ["flat"]


def test_the_command(tmp_path, onnx_file):
    out = tmp_path / "own.yaml"
    printed = give("mapper", "import", onnx_file, "-o", out)
    assert "MACs:" in printed
    assert "distinct shapes" in printed
    assert len(layers.layers_of(str(out))) > 4


def test_models_of_onnxs_own_backend_tests_are_imported_or_refused_in_one_line(tmp_path):
    from onnx.backend.test.case import node as tests_of

    operators = ("Conv", "Gemm", "MatMul", "Attention", "Einsum")
    outcomes = Counter()
    for path in Path(tests_of.__file__).parent.glob("*.py"):  # all others take five seconds
        if path.stem.startswith(tuple(map(str.lower, operators))):
            import_module(f"{tests_of.__name__}.{path.stem}")
    for case in tests_of._NodeTestCases:
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
    pairs = (("x", "a"), ("a", "b"))
    nodes = [helper.make_node("Conv", [x, "w"], [y], name=y) for x, y in pairs]
    model = onnx_model(nodes, {"x": [1, 3, 8, 8]}, [("w", [3, 3, 3, 3])])
    stale = helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, 3, 30, 30])
    model.graph.value_info.append(stale)
    found = layers.from_onnx(saved(model, tmp_path / "m.onnx"))
    assert [layer.Y for layer in found.layers] == [8, 6]


def test_functions_are_inlined_and_names_are_plain(tmp_path):
    body = [helper.make_node("Conv", ["x", "w"], ["y"], name="in\x1b[31m\nside:1" + "e" * 5000)]
    versions = [helper.make_opsetid("", 17)]
    function = helper.make_function("mine", "Block", ["x", "w"], ["y"], body, versions)
    node = helper.make_node("Block", ["x", "w"], ["y"], name="block", domain="mine")
    model = onnx_model([node], {"x": [1, 3, 8, 8]}, [("w", [4, 3, 3, 3])], opset=17)
    model.functions.append(function)
    path = tmp_path / "m.onnx"
    (layer,) = layers.from_onnx(saved(model, path)).layers
    assert layer.macs == 4 * 3 * 9 * 36
    assert layer.name.isprintable()
    assert len(layer.name) <= 200
    named = tmp_path / "m.yaml"
    layers.write_yaml(named, [layer])
    assert layers.parse(f"{named}:{layer.name}") == layer
