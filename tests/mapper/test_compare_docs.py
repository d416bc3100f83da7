from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compare.md"


def test_options_are_documented():
    import inspect

    from mapper.commands.compare import compare

    text = PAGE.read_text(encoding="utf-8")
    for name in inspect.signature(compare).parameters:
        assert "--" + name.replace("_", "-") in text
