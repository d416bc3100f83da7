"""What a move of code must not change: hashes of training, searches and stores, and all help.

    python -m benchmarks house_hashes --out docs/data/house_hashes.json
    python -m benchmarks house_hashes --check docs/data/house_hashes.json --only learners arms

A hash is over losses and weights of 200 updates (learners of mpe_marl, arms of mast and mst), over
all samples of a search, or over what a store of 0.2.0 lists. Help is the words of every command, an
entry an option. Hashes of training hold for one machine and one version of torch; one thread.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import Row, asked
from tests.programs import PROGRAMS, give

UPDATES = 200
STEPS = 6_000
"""Length of mast's runs, of which arms differ after `t0`; 200 updates take 5,000 steps."""
SEARCHES = (("mobilenetv2.2", "exact"), ("vgg16.4", "maestro"))
BUDGET, MOST_SEARCHES = 60, 24
STORES = ("search", "network", "mpe", "mast", "mst")
OLD_STORES = Path(__file__).parents[1] / "tests/fixtures/v0_2/stores"
Hashes = Iterator[tuple[str, Any]]


def digest(*values: Any) -> str:
    """The first 16 digits of the SHA-256 of arrays, tensors, numbers, texts and nests of them."""
    found = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, dict):
            for name in sorted(value, key=str):
                add(str(name))
                add(value[name])
        elif isinstance(value, list | tuple):
            for part in value:
                add(part)
        elif hasattr(value, "detach"):
            found.update(value.detach().cpu().numpy().tobytes())
        elif isinstance(value, np.ndarray | np.generic | float):
            found.update(np.ascontiguousarray(value).tobytes())
        else:
            found.update(repr(value).encode())

    add(values)
    return found.hexdigest()[:16]


def learners() -> Hashes:
    """Every algorithm of mpe_marl in every way to compute its update."""
    from mpe_marl.learners import LearnerConfig
    from mpe_marl.learners.config import ALGORITHMS, MODES, ON_POLICY
    from mpe_marl.train_config import TrainConfig
    from mpe_marl.trainer import Trainer

    ways = {"loop": ("lists", "uniform"), "batched": ("joint", "uniform")}
    ways |= {"shared": ("joint", "shared"), "folded": ("state", "shared")}
    for algorithm in (*ALGORITHMS, *ON_POLICY):
        for mode in MODES if algorithm in ALGORITHMS else ("batched",):
            layout, law = ways[mode]
            learner = LearnerConfig(algorithm=algorithm, mode=mode, hidden=16)
            how: Row = {"layout": layout, "law": law, "capacity": 2000, "batch": 32}
            how |= {"update_every": 10, "warmup": 40}
            if algorithm in ON_POLICY:
                how = {"n_worlds": 4, "batch": 20, "update_every": 40}
            config = TrainConfig(learner=learner, **how)
            trainer, losses = Trainer(config, seed=1), []
            while trainer.history.updates < UPDATES:
                trainer.step()
                losses.append(dict(trainer.history.losses))
            yield f"mpe-marl {algorithm} {mode}", digest(losses, trainer.learner.state_dict())


def mast_arms() -> Hashes:
    """Every arm of mast, and every algorithm with the arm mast."""
    from mast.arms import ARMS
    from mast.config import ALGORITHMS, MastConfig
    from mast.trainer import MastTrainer

    small = MastConfig(
        task="tag-3", hidden=12, mixer_width=6, hyper_width=8, batch=4, topology_every=8,
        target_every=8, update_every=1, sparsity=0.8, explore_steps=400, t0=0.4, worlds=4,
    )  # fmt: skip
    configs = [replace(small, arm=arm) for arm in ARMS]
    configs += [replace(small, algorithm=name) for name in ALGORITHMS if name != small.algorithm]
    configs += [replace(small, backend="compiled")]
    for config in configs:
        trainer, figures = MastTrainer(config, STEPS, 1, episodes=4), []
        trainer._evaluate_if_due = lambda: None  # type: ignore[method-assign]
        while trainer.progress.updates < UPDATES:
            trainer.step()
            figures.append(dict(trainer.progress.latest))
        name = f"mast {config.arm} {config.algorithm} {config.backend}"
        yield name, digest(figures, trainer.learner.state_dict())


def mst_arms() -> Hashes:
    """Every arm of mst, on text that is drawn here."""
    from mst.arms import ARMS, arm_run
    from mst.config import GptShape, PretrainConfig, SparseSettings
    from mst.data import Corpus, TokenizerChoice, build_own
    from mst.presets import three_phases
    from mst.trainer import Pretrainer

    letters = np.random.default_rng(0).choice(list("etaoin shrdlu\n"), 60_000)
    shape = GptShape(layers=2, width=16, heads=2, context=32)
    sparse = SparseSettings(
        sparsity=0.8, phases=three_phases(0.2, 0.2), every=5, moves=3, window=8, stride=16
    )
    base = PretrainConfig(shape=shape, sparse=sparse, batch=4, micro_batch=2, repeat=True)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(letters), encoding="utf-8")
        build_own(Path(folder) / "corpus", text, 0.05, TokenizerChoice("bytes", 4096))
        corpus = Corpus.open(Path(folder) / "corpus")
        for arm in ARMS:
            run = arm_run(arm, base, UPDATES * base.tokens_per_update)
            trainer = Pretrainer(run.config, 1, run.config.updates(run.tokens), corpus)
            while trainer.done < min(UPDATES, trainer.updates):
                trainer.step()
            yield f"mst {arm}", digest(trainer.losses, trainer.model.state_dict())


def comparable() -> list[str]:
    """Searchers that neither prove an optimum nor take minutes."""
    import baselines

    found = {name: baselines.load(name).capabilities for name in baselines.names()}
    return [n for n, can in found.items() if not (can.proves_optimum or can.on_request)]


def searches() -> Hashes:
    """The samples of searches by every searcher that can be compared."""
    import baselines
    from maestro_env import Problem

    asked = [(method, *on) for on in SEARCHES for method in comparable()]
    for method, layer, model in asked[:MOST_SEARCHES]:
        problem, seen = Problem(layer, "edge", "edp", model), list[Any]()
        problem.on_evaluate = lambda actions, found, seen=seen: seen.append(
            (np.array(actions, np.int64), np.array(found.values, np.float64))
        )
        baselines.load(method).search(problem, BUDGET, 0)
        yield f"{method} {layer} {model}", digest(*seen)


def stores() -> Hashes:
    """What stores of 0.2.0 list, run by run, with the figures of their learning."""
    from marl_runs import Store, json_text

    for name in STORES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.db"
            with sqlite3.connect(path) as raw:
                raw.executescript(gzip.decompress((OLD_STORES / f"{name}.sql.gz").read_bytes())
                                  .decode())  # fmt: skip
            raw.close()
            with Store.open(path, create=False) as store:
                told = attrgetter("id", "key", "kind", "name", "seed", "budget", "samples")
                runs = [
                    [*told(run), str(run.status), json_text(run.spec), json_text(run.result)]
                    for run in store.runs()
                ]
                names = ("return", "mean_reward", "bpb", "flops")
                figures = [store.metrics(run[0], one) for run in runs for one in names]
            yield name, digest(runs, figures)


def entries(text: str) -> dict[str, str]:
    """First name of each option, argument and command that help lists -> the words of its line.

    What stands before them has no name.
    """
    found: dict[str, str] = {"": ""}
    for line in text.splitlines():
        inside = line.strip().strip("│╭╮╰╯─").strip()
        words = " ".join(inside.split())
        if not line.strip().startswith("│"):
            found[""] = f"{found['']} {words}".strip()
        elif words:
            name = re.split(r"[ ,]", words.removeprefix("* "))[0]
            found[name] = words
    return found


def help_of(program: str) -> dict[str, dict[str, str]]:
    """Command -> the entries of its help, for all commands of a program.

    Args:
        program: One of `PROGRAMS`.
    """
    import importlib

    import typer

    os.environ |= {"COLUMNS": "2000", "TERM": "dumb"}  # lines are not broken
    found, waiting = {}, [[]]
    root: Any = typer.main.get_command(importlib.import_module(PROGRAMS[program]).app)
    while waiting:
        words: list[str] = waiting.pop()
        command = root
        for word in words:
            command = command.get_command(None, word)
        if hasattr(command, "list_commands"):
            waiting += [[*words, name] for name in command.list_commands(None)]
        found[" ".join([program, *words])] = entries(give(program, *words, "--help"))
    return found


def help() -> Hashes:
    """The help of every command."""
    for program in PROGRAMS:
        yield from sorted(help_of(program).items())


PARTS: dict[str, Callable[[], Hashes]] = {
    "learners": learners,
    "arms": lambda: chain(mast_arms(), mst_arms()),
    "searches": searches,
    "stores": stores,
    "help": help,
}


def differences(found: Row, expected: Row, where: str = "") -> list[str]:
    """What is not as it was, a line each; parts that were not made are left out."""
    lines = []
    for name in sorted({*found, *expected}):
        one, other = found.get(name), expected.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            lines += differences(one, other, f"{where}{name}: ")
        elif one != other and (where or one is not None):
            lines.append(f"{where}{name}: is {one!r}, was {other!r}")
    return lines


def main() -> bool:
    """Make hashes; write them, or compare them with those of a file."""
    import torch

    torch.set_num_threads(1)
    given = asked(
        __doc__,
        only=(list(PARTS), None, PARTS),
        out=(Path, "write them here"),
        check=(Path, "compare with this file; 1 where they differ"),
    )
    out, check = (path and path.absolute() for path in (given.out, given.check))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = {part: dict(PARTS[part]()) for part in given.only}
    text = json.dumps(found, indent=0, sort_keys=True, ensure_ascii=False)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")
    if check is not None:
        lines = differences(found, json.loads(check.read_text(encoding="utf-8")))
        print("\n".join(lines) or f"{sum(map(len, found.values()))} as they were")
        return bool(lines)
    if out is None:
        print(text)
    return False
