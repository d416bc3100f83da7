"""One small problem, and the samples that a search of it takes."""

import numpy as np

from maestro_env import Problem


def problem():
    return Problem("mobilenetv2.7", "edge", "edp")


def samples_of(searcher, budget=400, seed=0):
    counted = problem()
    actions = []
    counted.on_evaluate = lambda batch, evaluation: actions.append(batch.copy())
    result = searcher.search(counted, budget, seed)
    return np.concatenate(actions), result
