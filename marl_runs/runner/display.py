"""Which reporter fits: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import TextIO

from marl_runs.runner.progress import LineReporter, LoneLineReporter, Reporter


def choose_reporter(runs: int, stream: TextIO | None = None) -> Reporter:
    """What fits `runs` runs and `stream` (standard error): a live display on a terminal."""
    stream = stream or sys.stderr
    if not stream.isatty():
        return LineReporter(stream) if runs > 1 else LoneLineReporter(stream)
    from marl_runs.runner.live import BarReporter, LoneReporter

    return BarReporter(stream) if runs > 1 else LoneReporter(stream)
