"""Files that a person gives: what is read, and what is refused."""

from pathlib import Path

import pytest

from marl_common import brief, read_json, read_text, read_yaml


class WrongFileError(ValueError):
    """What these tests ask for."""


def test_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("\ufeffa: &x [1, 2.5, 2024-01-01]\nb: *x\n", encoding="utf-8")
    assert read_yaml(path, WrongFileError) == {
        "a": [1, 2.5, "2024-01-01"],
        "b": [1, 2.5, "2024-01-01"],
    }
    path.write_text('{"a": [1]}')
    assert read_json(path, WrongFileError) == {"a": [1]}
    path.write_text("")
    assert read_yaml(path, WrongFileError) is None
    assert read_text(path, WrongFileError) == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x\0y", "cannot be read"),
        ("long" * 99, "cannot be read"),
    ],
)
def test_what_is_no_file(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(WrongFileError, match=message):
        read_text(tmp_path / name, WrongFileError)


def test_a_device_that_never_ends_is_not_read_for_ever() -> None:
    with pytest.raises(WrongFileError, match="is larger than 8 MiB"):
        read_text("/dev/zero", WrongFileError)


def test_values_are_shown_in_brief() -> None:
    nested: list[object] = []
    for _ in range(100):
        nested = [nested, nested]
    assert len(brief(nested)) <= 200
    assert brief(10**5000) == "<a number of some 5016 digits>"
    assert brief("x" * 500).startswith("'xxx")
    assert len(brief("x" * 500)) <= 200
    assert brief({"a": 1}) == "{'a': 1}"
