"""``mapper cluster``: which parameters belong to one agent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.commands import completion
from mapper.commands.options import (
    LayerOption,
    ObjectiveOption,
    OptionError,
    check_word,
    leave_out,
)
from mapper.commands.problem_options import NamedChip, NamedModel, WholeSpace
from mapper.results.output import check_writable
from marl_common import LARGEST_SEED, brief, option, takes_records
from marl_runs import Column, plain, print_rows, save_figure, say, tell

if TYPE_CHECKING:
    from maestro_env import Problem
    from mapper.clustering.assignment import Assignment
    from mapper.clustering.correlation import Correlation
    from mapper.clustering.dataset import Dataset
    from mapper.clustering.tree import ClusterTree


MOST_DATASET = 100_000_000
"""Samples that a dataset in memory may have."""


@dataclass(frozen=True)
class SampleOptions:
    """What is explored, and what of it counts.

    Attributes:
        policy: The searcher that explores: random, ga, gamma, ppo ...
        samples: Samples of the dataset.
        seed: Same seed, same samples.
        top: Best share of the samples that counts [%].
    """

    policy: str = option("random", autocompletion=completion.methods)
    samples: int = option(20_000, low=3, high=MOST_DATASET)
    seed: int = option(0, low=0, high=LARGEST_SEED)
    top: float = option(15.0)


@dataclass(frozen=True)
class TreeOptions:
    """How parameters become agents.

    Attributes:
        correlation: pearson, spearman or mutual-information.
        linkage: ward, average, complete or single.
        metric: Distance of two parameters: rows (of |r|), or pairs (1 - |r|).
        reward: Correlate with the objective, too.
        agents: auto (from the dendrogram), or a number of agents.
        threshold: Cut the dendrogram at this distance instead.
    """

    correlation: str = option("pearson")
    linkage: str = option("ward")
    metric: str = option("rows")
    reward: bool = option(False, "", "--reward")
    agents: str = option("auto")
    threshold: float | None = option(None, kind=float)

    def check(self) -> None:
        """Check words and numbers.

        Raises:
            OptionError: There is no such word, or the threshold is out of range.
            ClusteringError: They do not go together.
        """
        from mapper.clustering.correlation import METHODS
        from mapper.clustering.tree import LINKAGES, METRICS, check_tree_options

        for name, known in (("correlation", METHODS), ("linkage", LINKAGES), ("metric", METRICS)):
            check_word(f"--{name}", getattr(self, name), known)
        check_tree_options(self.linkage, self.metric, self.reward)

    def how(self) -> dict[str, Any]:
        """What an assignment keeps of them."""
        return {
            name: getattr(self, name) for name in ("correlation", "linkage", "metric", "reward")
        }


@dataclass(frozen=True)
class ClusterProblem(WholeSpace, NamedModel, NamedChip):
    """Where samples are drawn: a chip, a cost model and a space."""

    def of(self, layer: str, objective: str) -> Problem:
        """The problem of a layer.

        Raises:
            ValueError: One of them is wrong.
        """
        from maestro_env import Problem

        space = self.options(self.cost_model)
        return Problem(layer, self.accelerator, objective, self.cost_model, space)


@dataclass(frozen=True)
class ClusterFiles:
    """What is read and written.

    Attributes:
        dataset: Use this dataset (.npz) instead of sampling one.
        out: Folder for agents.yaml, dataset.npz, and pictures of correlation and tree (PNG, SVG,
            PDF).
    """

    dataset: Path | None = option(None, kind=Path)
    out: Path | None = option(None, kind=Path)


@takes_records
def cluster(
    *,
    layer: LayerOption,
    objective: ObjectiveOption = "edp",
    sampling: SampleOptions,
    options: TreeOptions,
    asked: ClusterProblem,
    files: ClusterFiles,
) -> None:
    """Explore, correlate the best samples' parameters, and cluster them into agents.

    The printed assignment goes into ``mapper search --agents FILE``.
    """
    budget = _budget(options.agents)
    options.check()
    top, threshold = sampling.top, options.threshold
    if not 0 < top <= 100:
        raise OptionError(f"--top: got {top:g}, expected a share above 0 and up to 100 [%]")
    if threshold is not None and not 0 <= threshold < float("inf"):
        raise OptionError(f"--threshold: got {threshold:g}, expected a distance of at least 0")
    if budget is not None and threshold is not None:
        raise OptionError("--agents and --threshold: got both, expected one of them")
    if files.out is not None:
        check_writable(files.out)
    data = _data(asked.of(layer, objective), files.dataset, sampling)
    matrix, tree = _tree(data, top, options)
    source = {**data.source, "top_percent": top, **options.how()}
    assignment = tree.assign(budget, threshold, **_short(source))
    _print(data, matrix, tree, assignment)
    if files.out is not None:
        _write(files, data, matrix, tree, assignment)


def _data(problem: Problem, dataset: Path | None, sampling: SampleOptions) -> Dataset:
    """The samples, read or drawn."""
    from mapper.clustering.dataset import Dataset, collect

    if dataset is not None:
        beside = replace(sampling, top=SampleOptions.top) != SampleOptions()
        leave_out({"--policy, --samples and --seed": beside}, f"--dataset {dataset}: has samples")
        data = Dataset.load(dataset)
        for part, asked in plain(problem.describe()).items():
            _check_same(dataset, part, data.source.get(part, asked), asked)
        return data
    policy, samples = sampling.policy, sampling.samples
    tell(f"Exploring {problem.layer.name} with {policy}: {samples:,} samples")
    data = collect(problem, policy, samples, sampling.seed)
    return data.choosing(problem.space.nvec > 1)


def _check_same(dataset: Path, part: str, its: Any, asked: Any) -> None:
    """Check that a dataset is of the problem that is asked for.

    Raises:
        OptionError: This part of the two differs, in what both tell of it.
    """
    if isinstance(its, dict) and isinstance(asked, dict) and its.keys() & asked.keys():
        for name in sorted(its.keys() & asked.keys()):  # other versions have fields besides
            _check_same(dataset, f"{part}.{name}", its[name], asked[name])
    elif its != asked:
        raise OptionError(
            f"--dataset {dataset}: its {part} is {brief(its)}, expected {brief(asked)}"
        )


def _tree(data: Dataset, top: float, options: TreeOptions) -> tuple[Correlation, ClusterTree]:
    """How the parameters of the best samples depend on each other, and the tree of it."""
    from mapper.clustering.correlation import correlate
    from mapper.clustering.tree import cluster as build_tree

    best, values = data.best_with_values(top)
    reward = values if options.reward else None
    matrix = correlate(best, data.names, data.categorical, options.correlation, reward)
    return matrix, build_tree(matrix, options.linkage, options.metric, options.reward)


def _budget(agents: str) -> int | None:
    if agents == "auto":
        return None
    if not agents.isdecimal():
        raise OptionError(f"--agents: got {agents!r}, expected auto or a number")
    return int(agents)


def _short(source: dict[str, Any]) -> dict[str, Any]:
    """What an assignment keeps of its dataset's source: plain values only."""
    return {key: value for key, value in source.items() if isinstance(value, str | int | float)}


def _print(
    data: Dataset, correlation: Correlation, tree: ClusterTree, assignment: Assignment
) -> None:
    import numpy as np

    feasible = int(np.isfinite(data.values).sum())
    say(
        f"{len(data.values):,} samples, {feasible:,} feasible; "
        f"{correlation.samples:,} of the best correlated by {correlation.method}"
    )
    if correlation.constant:
        say(f"constant among them: {', '.join(correlation.constant)}")
    rows, columns = np.triu_indices(len(correlation.names), 1)
    strength = np.abs(correlation.matrix[rows, columns])
    pairs = []
    for place in np.argsort(-strength, kind="stable")[:8]:
        i, j = rows[place], columns[place]
        names = f"{correlation.names[i]}, {correlation.names[j]}"
        pairs.append(
            {"pair of parameters": names, "correlation": f"{correlation.matrix[i, j]:+.2f}"}
        )
    stays = Column.lasting("correlation", right=True)
    print_rows("\nStrongest correlations", pairs, "", [Column.name("pair of parameters"), stays])
    agents = [
        {"agent": number, "parameters": ", ".join(agent)}
        for number, agent in enumerate(assignment.agents)
    ]
    shown = [Column.lasting("agent"), Column.name("parameters")]
    print_rows(f"\n{len(assignment)} agents", agents, "", shown)
    heights = tree.links[:, 2]
    say(
        f"\nmerges at distances {heights[0]:.2f} to {heights[-1]:.2f}; "
        f"the dendrogram suggests {tree.suggested()} agents"
    )


def _write(
    files: ClusterFiles,
    data: Dataset,
    correlation: Correlation,
    tree: ClusterTree,
    assignment: Assignment,
) -> None:
    """The assignment first: pictures need the extra viz."""
    from importlib.util import find_spec

    out = files.out
    assert out is not None
    out.mkdir(parents=True, exist_ok=True)
    assignment.save(out / "agents.yaml")
    written = ["agents.yaml"]
    if files.dataset is None:
        data.save(out / "dataset.npz")
        written.append("dataset.npz")
    if find_spec("matplotlib") is None:
        tell("no pictures: they need matplotlib (pip install 'marl-mapper[viz]')")
    else:
        from mapper.clustering import plots

        title = f"{data.source.get('layer', '')}, {data.source.get('objective', '')}"
        agents = len(assignment)
        figures = {
            "correlation.png": plots.heat_map(correlation, title, tree, agents),
            "dendrogram.png": plots.dendrogram(tree, agents, title),
        }
        for name, figure in figures.items():
            written += [path.name for path in save_figure(figure, out / name)]
    tell(f"wrote {', '.join(written)} to {out}")
