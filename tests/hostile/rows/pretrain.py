"""Training of agents that cannot be, and files of agents that are none."""

from __future__ import annotations

import json

from mapper.pretrained.weights import _format
from tests.hostile.rows import Row, table

PRETRAIN = "mapper pretrain --out a.safetensors"
SEARCH = "mapper search --layer gemm:M=8,N=8,K=8 --method zero-shot --pretrained w.safetensors"


def weights(metadata: dict[str, str] | None, body: bytes = bytes(4)) -> bytes:
    """A file of agents with one array and this metadata."""
    header: dict[str, object] = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    if metadata is not None:
        header["__metadata__"] = metadata
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def card(text: str) -> bytes:
    return weights({"format": _format(), "card": text})


def twice(member: str) -> bytes:
    """A file of agents whose header names a member twice."""
    size = int.from_bytes((whole := card("{}"))[:8], "little")
    header, body = whole[8 : 8 + size].decode(), whole[8 + size :]
    at = header.index(f'"{member}"')
    value = '{"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}' if member == "a" else '"1"'
    longer = f'{header[:at]}"{member}": {value}, {header[at:]}'.encode()
    return len(longer).to_bytes(8, "little") + longer + body


FIELDS = "card: expected the fields cost_model, .*got "
WEIGHTS = [
    (FIELDS + "3", card("3")),
    (FIELDS + "'exact'", card('"exact"')),
    ("card: member 'seed' is given twice", card('{"seed": 1, "seed": 2}')),
    ("card: holds NaN", card('{"cpu_minutes": NaN}')),
    ("unknown field 'sed'.*Did you mean 'seed'", card('{"sed": 1}')),
    ("cost_model: got 3, expected a text", card('{"cost_model": 3}')),
    ("parameters: got '9', expected a whole number", card('{"parameters": "9"}')),
    ("seed: got True, expected a whole number", card('{"seed": true}')),
    ("cpu_minutes: got -1, expected a number of", card('{"cpu_minutes": -1}')),
    ("unknown member 'more'; expected format", weights({"format": _format(), "more": "1"})),
    ("sha256 names; the file is damaged", weights({"format": _format(), "sha256": "0" * 64})),
    ("header: member 'a' is given twice", twice("a")),
    ("header: member 'format' is given twice", twice("format")),
    ("card: not valid JSON", card("{")),
    ("card: nested too deeply; expected at most 32 levels", card("[" * 100_000)),
    ("its arrays are not those of the agents", card("{}")),
    ("of another version .none, expected", weights(None)),
    ("of another version .1:2, expected", weights({"format": "1:2", "card": "{}"})),
    ("no file of trained agents", b""),
    ("no file of trained agents", (2).to_bytes(8, "little") + b"[]"),
]

COMMANDS = {
    PRETRAIN: {
        "--cost-model maestro": "maestro: it only repeats the nest for N and G.*such as exact",
        "--cost-model simulator": "simulator: cannot map a training's layers.*such as exact",
        "--cost-model maestro-binary": "maestro-binary",
        "--cost-model exact:": "expected OPTION=VALUE",
        "--cpu-minutes -1": "got -1.0, expected a number above 0",
        "--cpu-minutes 1e300": "at most 1,000,000",
        "--store nowhere/s.sqlite": "nowhere",
        "--ray-address nonsense": "nonsense",
        "--begin gone.safetensors": "--begin gone.safetensors: not found",
    },
}
ROWS = [
    *table(COMMANDS),
    *(Row(SEARCH, says, {"w.safetensors": content}) for says, content in WEIGHTS),
]
