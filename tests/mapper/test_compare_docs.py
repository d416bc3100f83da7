from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compare.md"


def test_options_are_documented():
    import inspect

    from mapper.commands.compare import compare

    text = PAGE.read_text(encoding="utf-8")
    named = {"sets": "set"}
    for name in set(inspect.signature(compare).parameters) - {"parser_context"}:
        assert "--" + named.get(name, name).replace("_", "-") in text
