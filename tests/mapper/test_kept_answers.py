"""JSON, files and exit codes are what they were before text said less.

    python -m tests.mapper.test_kept_answers

writes what they answer now into `data/kept_answers.json.gz`.
"""

import contextlib
import gzip
import json
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.programs import in_process

FILE = Path(__file__).parent / "data" / "kept_answers.json.gz"
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SEARCH = "mapper search -l mobilenetv2.2 --method ga --budget 200"
COMPARE = "mapper compare -l mlp.2 -m ga,random -o edp --budget 60"
EVALUATE = "mapper evaluate -l mobilenetv2.2 --mapping {examples}/mapping.yaml"
COMMANDS = (
    f"{SEARCH} --timeout 60 --json --out one",
    f"{SEARCH} --json -a simba --no-proof --out two",
    f"{SEARCH} --json --l1-bytes 1",
    f"{SEARCH} --json --limit max_latency_cycles=60000 --no-proof --out three",
    f"{SEARCH} --no-proof --out four",
    f"{SEARCH} --l1-bytes 1",
    "mapper search -l mlp.2 --json --out five",
    "mapper search --network mlp --method ga --budget 60 --json --store n.db --out net",
    f"{EVALUATE} --json",
    f"{EVALUATE} --cost-model all --json",
    f"{EVALUATE} --l1-bytes 1 --json",
    "mapper evaluate -l resnet18.2 -a {examples}/three_levels.yaml "
    "--mapping {examples}/three_levels_mapping.yaml --json",
    f"{COMPARE} --seeds 2 --store c.db --workers 1 --format json",
    f"{COMPARE} --seeds 2 --store c.db --workers 1 --format csv",
    f"{COMPARE} --seeds 3 --store c.db --no-run --format markdown",
)
TIMES = re.compile(
    r'("(?:seconds|[a-z_]*cpu_s|command|version[a-z]*|git_revision|wall_s)"): [^\n]*'
)
FILES = (".yaml", ".m", ".json")
"""Files of `--out` that are compared; pages have times and drawings."""


def answers() -> list[dict[str, Any]]:
    """What the commands answer: exit code, JSON or text of a format, and files."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return [_answer(words) for words in COMMANDS]


def _answer(words: str) -> dict[str, Any]:
    before = set(Path().rglob("*"))
    code, out, _ = in_process(shlex.split(words.format(examples=EXAMPLES)))
    files = {
        str(path): _plain(path.read_text(encoding="utf-8"))
        for path in sorted(set(Path().rglob("*")) - before)
        if path.suffix in FILES
    }
    said = _plain(out) if "--json" in words or "--format" in words else ""
    return {"command": words, "code": code, "out": said, "files": files}


def _plain(text: str) -> str:
    """A text without times, versions and columns of times."""
    text = re.sub(r'"versions": \{[^}]*\}', '"versions": {}', text)
    text = re.sub(r",[\d.]*e?-?\d*,\n", ",,\n", TIMES.sub(r"\1: 0", text))
    return re.sub(r"(\| \d+ \| \d+ \|) [\d.]+ \| [\d.,]+ \|", r"\1", text)


@pytest.fixture(scope="module")
def now() -> list[dict[str, Any]]:
    return answers()


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_it_answers_as_it_did(number: int, now: list[dict[str, Any]]) -> None:
    assert now[number] == json.loads(gzip.decompress(FILE.read_bytes()))[number]


if __name__ == "__main__":
    FILE.write_bytes(gzip.compress(json.dumps(answers()).encode(), mtime=0))
