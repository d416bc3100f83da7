"""Runs experiments (anything with a budget and a seed) and records them in a store."""

from runs.runner.context import Context, StopRun
from runs.runner.experiment import Experiment
from runs.runner.progress import LineReporter, Reporter, SilentReporter, choose
from runs.runner.runner import RunSummary, run_all

__all__ = [
    "Context",
    "Experiment",
    "LineReporter",
    "Reporter",
    "RunSummary",
    "SilentReporter",
    "StopRun",
    "choose",
    "run_all",
]
