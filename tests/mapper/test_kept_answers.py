"""JSON, files and exit codes are what they were before text said less."""

import gzip
import json

import pytest

from tests.mapper.kept_answers import COMMANDS, FILE, answers

KEPT = json.loads(gzip.decompress(FILE.read_bytes()))


@pytest.fixture(scope="module")
def now():
    return answers()


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_it_answers_as_it_did(number, now):
    assert now[number] == KEPT[number]
