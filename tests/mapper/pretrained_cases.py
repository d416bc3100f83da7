"""Random problems as the agents meet them in training."""

import numpy as np

import cost_models
from mapper.pretrained.training.random_problems import draw

MODEL = cost_models.load("exact")


def random_problems(count: int, seed: int):
    rng = np.random.default_rng(seed)
    return [draw(rng, MODEL) for _ in range(count)]
