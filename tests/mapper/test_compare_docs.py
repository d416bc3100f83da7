import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compare.md"


def test_the_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "dice.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "dice.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "dice, seed 3" in done.stdout
    assert done.stdout.rstrip().endswith("1.0")


def test_options_are_documented():
    import inspect

    from mapper.commands.compare import compare

    text = PAGE.read_text(encoding="utf-8")
    for name in inspect.signature(compare).parameters:
        assert "--" + name.replace("_", "-") in text
