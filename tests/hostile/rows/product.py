"""Models that cannot be read, sweeps of nothing, chips that cannot exist, tools that do not."""

import importlib.util

from tests.hostile.rows import Row, beside, table


def onnx_bytes(shape: list[int | str], opset: int = 17, operator: str = "Conv") -> bytes:
    """A model of one operator; empty where onnx is not installed."""
    if importlib.util.find_spec("onnx") is None:
        return b""
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4, 3, 3, 3], bytes(432), raw=True)
    inputs = ["x", "w"] if operator == "Conv" else ["x"]
    node = helper.make_node(operator, inputs, ["y"], name="only")
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", values, [out], [weight])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    data: bytes = made.SerializeToString()
    return data


GOOD = onnx_bytes([1, 3, 8, 8])
MODELS_GIVEN = {
    "mapper import m.onnx": [
        ({"m.onnx": GOOD[:-20]}, "m.onnx.*(truncated|no ONNX)"),
        ({"m.onnx": onnx_bytes([1, 3, 8, 8], opset=999)}, "opset 999"),
        ({"m.onnx": onnx_bytes(["batch", 3, 8, 8])}, "--shape batch=1"),
    ],
}
MODELS = [
    *beside(MODELS_GIVEN),
    Row(
        "mapper search --network m.onnx",
        "--shape batch=1",
        {"m.onnx": onnx_bytes(["batch", 3, 8, 8])},
    ),
    Row(
        "mapper import m.onnx -o m.yaml",
        "no operator with multiply-accumulates",
        {"m.onnx": onnx_bytes([2], operator="Relu")},
    ),
    Row("mapper import m.onnx -o m.txt", "expected a name ending in .yaml", {"m.onnx": GOOD}),
]

MAPPING = (
    "{orders: [KCYXRS, KCYXRS], parallel: [K, C], cluster_size: 1,"
    " tiles: [{K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1}, {K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1}]}"
)
EXPLORE = "mapper explore --network mlp"
OLD = "levels: {L1: {bytes: {input: 24, filter: 448, output: 48}}}\nnum_pes: 16\n"
COMMANDS = {
    "mapper": {
        "import m.onnx": "m.onnx: not found",
        "export --to zigzag": "expected one of: a folder of",
        "export --mapping m.yaml --to zigzag": "needs --layer",
        "export --run 3 --to zigzag --store none.sqlite": "no such file",
        "export --run 3 --to zigzag -a cloud": "leave --accelerator out",
        "export . --to zigzag -l mlp.2": "leave --layer out",
        "diff . . -a cloud": "leave --accelerator out",
        "search -l mlp.2 --cost-model-option double_buffer": "expected NAME=VALUE",
    },
    EXPLORE: {
        "": "no range is given.*--pes 64..1024",
        "--pes 1024..64": "give 64..1024",
        "--pes 65..100": "holds no power of two",
        "--pes 16 -o edp": "--objectives: got 'edp'",
        "--pes 16 -o area,power": "mappings are chosen for these",
        "--pes 16 --draw nsga": "Did you mean 'nsga2'",
        "--pes 16,32 --draw uniform": "Give --designs N",
        "--pes 16,32 --draw all --designs 1": "drop one",
        "--pes 16 --plot a.txt": "--plot a.txt: expected a name that ends in",
        "--pes 16 --page a.txt": "--page a.txt: expected a name that ends in .html",
        "--pes 16 --pretrained x": "--pretrained x: not found",
        "--pes 16 --cost-model maestro": "area: cost model 'maestro'",
        "--pes 16 --cost-model-option halo=1": "halo",
    },
}
ROWS = [
    *(MODELS if GOOD else []),
    *table(COMMANDS),
    Row("mapper import m.json", "JSON", {"m.json": "{"}),
    *(
        Row(f"{EXPLORE} --pes 16 --ray-address {there}", f"got '{there}', expected auto")
        for there in ("here", "ray://head:10001", ":6379", "head:port")
    ),
    Row(f"{EXPLORE} --l1 64 --accelerator c.yaml", "design l1_bytes=64: ", {"c.yaml": OLD}),
    Row(
        "mapper evaluate -l mlp.2 --mapping m.yaml --cost-model all --cost-model-option a=1",
        "give one --cost-model",
        {"m.yaml": MAPPING},
    ),
]
