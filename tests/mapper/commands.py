"""Commands of ``mapper``, run in this process."""

import json
from typing import Any

from typer.testing import CliRunner

from mapper import cli


def said(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; an exception goes on."""
    result = CliRunner().invoke(cli.app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def printed(*words: str) -> str:
    """What a command that ends well prints."""
    code, out, err = said(*words)
    assert code == 0, err
    return out


def json_of(*words: str) -> Any:
    """What a command that ends well prints as JSON."""
    return json.loads(printed(*words, "--json"))
