"""The exact model: closed-form counts that equal an execution of the loop nest."""

from cost_models.exact.model import ExactModel
from cost_models.exact.simulator_model import SimulatorModel

__all__ = ["ExactModel", "SimulatorModel"]
