"""One small problem, and the samples that a search of it takes."""

import hashlib
import os
import subprocess
import sys

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


def digest_of(actions):
    return hashlib.sha256(actions.tobytes()).hexdigest()


def digest_elsewhere(method, budget, **options):
    """A digest of all samples of a search in another process, with other hashes of text."""
    code = "import baselines; from tests.mapper.marl_runs import digest_of, samples_of\n"
    code += f"searcher = baselines.load({method!r}, **{options!r})\n"
    code += f"print('digest', digest_of(samples_of(searcher, {budget})[0]))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("digest "))
    return line.removeprefix("digest ")
