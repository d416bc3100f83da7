"""Runs experiments (anything with a budget and a seed) and records them in a store."""

from mapper.runner.context import Context, StopRun
from mapper.runner.experiment import Experiment
from mapper.runner.progress import LineReporter, Reporter, SilentReporter, choose
from mapper.runner.runner import Summary, run_all

__all__ = [
    "Context",
    "Experiment",
    "LineReporter",
    "Reporter",
    "SilentReporter",
    "StopRun",
    "Summary",
    "choose",
    "run_all",
]
