"""Random problems as the agents see them."""

import numpy as np

import cost_models
from maestro_env import MapSpace, Objective
from mapper.pretrained.cases import case_of
from mapper.pretrained.training.random_problems import draw

MODEL = cost_models.load("exact")


def random_cases(count: int, seed: int):
    rng = np.random.default_rng(seed)
    problems = [draw(rng) for _ in range(count)]
    return problems, [
        case_of(MapSpace(p.layer, p.accelerator), Objective.parse(p.objective), MODEL)
        for p in problems
    ]
