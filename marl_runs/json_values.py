"""Values as JSON can hold them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: lists, dicts, and None for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    return number(value) if isinstance(value, float) else value


def number(value: float | None) -> float | None:
    """`value`, or None where it is missing, infinite or not a number."""
    return float(value) if value is not None and math.isfinite(value) else None


def print_json(value: Any) -> None:
    """Print a value as JSON, alone on standard output."""
    print(json_text(value))


def json_text(value: Any) -> str:
    """The value as JSON, indented; a list of plain values stays on one line."""
    text = json.dumps(plain(value), indent=2, allow_nan=False)
    on_one_line = r"\[\n([^\[\]{}\"]*?)\n\s*\]"
    return re.sub(on_one_line, lambda found: f"[{' '.join(found[1].split())}]", text)
