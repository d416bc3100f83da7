"""The problem: mapping spaces, objectives, sample counting, environments."""

from maestro_env.evaluation import Evaluation
from maestro_env.map_space import ActionError, MapSpace, MapSpaceError
from maestro_env.objective import OBJECTIVES, Objective, ObjectiveError
from maestro_env.parameters import Parameter
from maestro_env.problem import BudgetExhausted, Problem, ProblemError

__all__ = [
    "OBJECTIVES",
    "ActionError",
    "BudgetExhausted",
    "Evaluation",
    "MapSpace",
    "MapSpaceError",
    "Objective",
    "ObjectiveError",
    "Parameter",
    "Problem",
    "ProblemError",
]
