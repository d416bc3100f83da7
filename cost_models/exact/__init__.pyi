from .model import ExactModel as ExactModel
from .simulator_model import SimulatorModel as SimulatorModel
