"""``mapper cluster``: which parameters belong to one agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.commands import completion
from mapper.commands.options import (
    AcceleratorOption,
    CostModelOption,
    LayerOption,
    ObjectiveOption,
    OptionError,
    SeedOption,
    SpaceOption,
    space_of,
)
from mapper.output import check_writable
from marl_common import suggest
from marl_runs import Column, print_rows, save_figure, say, tell

if TYPE_CHECKING:
    from mapper.clustering import Assignment, ClusterTree, Correlation, Dataset


MOST_DATASET = 100_000_000
"""Samples that a dataset in memory may have."""


def cluster(
    layer: LayerOption,
    objective: ObjectiveOption = "edp",
    policy: Annotated[
        str,
        typer.Option(
            help="The searcher that explores: random, ga, gamma, ppo ...",
            autocompletion=completion.methods,
        ),
    ] = "random",
    samples: Annotated[
        int, typer.Option(min=3, max=MOST_DATASET, help="Samples of the dataset.")
    ] = 20_000,
    seed: SeedOption = 0,
    top: Annotated[float, typer.Option(help="Best share of the samples that counts [%].")] = 15.0,
    correlation: Annotated[
        str, typer.Option(help="pearson, spearman or mutual-information.")
    ] = "pearson",
    linkage: Annotated[str, typer.Option(help="ward, average, complete or single.")] = "ward",
    metric: Annotated[
        str, typer.Option(help="Distance of two parameters: rows (of |r|), or pairs (1 - |r|).")
    ] = "rows",
    reward: Annotated[
        bool, typer.Option("--reward", help="Correlate with the objective, too.")
    ] = False,
    agents: Annotated[
        str, typer.Option(help="auto (from the dendrogram), or a number of agents.")
    ] = "auto",
    threshold: Annotated[
        float | None, typer.Option(help="Cut the dendrogram at this distance instead.")
    ] = None,
    accelerator: AcceleratorOption = "edge",
    cost_model: CostModelOption = "exact",
    space: SpaceOption = None,
    dataset: Annotated[
        Path | None, typer.Option(help="Use this dataset (.npz) instead of sampling one.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for agents.yaml, dataset.npz, and pictures of correlation and tree "
            "(PNG, SVG, PDF)."
        ),
    ] = None,
) -> None:
    """Explore, correlate the best samples' parameters, and cluster them into agents.

    The printed assignment goes into ``mapper search --agents FILE``.
    """
    from maestro_env import Problem
    from mapper.clustering import cluster as build_tree
    from mapper.clustering import correlate
    from mapper.clustering.correlation import METHODS
    from mapper.clustering.dataset import Dataset, collect
    from mapper.clustering.tree import LINKAGES, METRICS, check_tree_options

    budget = _budget(agents)
    for option, name, known in (
        ("--correlation", correlation, METHODS),
        ("--linkage", linkage, LINKAGES),
        ("--metric", metric, METRICS),
    ):
        if name not in known:
            raise OptionError(
                f"{option}: got {name!r}, expected {', '.join(known)}.{suggest(name, known)}"
            )
    check_tree_options(linkage, metric, reward)
    if not 0 < top <= 100:
        raise OptionError(f"--top: got {top:g}, expected a share above 0 and up to 100 [%]")
    if threshold is not None and not 0 <= threshold < float("inf"):
        raise OptionError(f"--threshold: got {threshold:g}, expected a distance of at least 0")
    if out is not None:
        check_writable(out)
    of_space = space_of(space, None, cost_model)
    problem = Problem(layer, accelerator, objective, cost_model, of_space)
    if dataset is not None:
        data = Dataset.load(dataset)
    else:
        tell(f"Exploring {problem.layer.name} with {policy}: {samples:,} samples")
        data = collect(problem, policy, samples, seed)
        data = data.choosing(problem.space.nvec > 1)
    best, values = data.best_with_values(top)
    matrix = correlate(best, data.names, data.categorical, correlation, values if reward else None)
    tree = build_tree(matrix, linkage, metric, reward)
    how = {"correlation": correlation, "linkage": linkage, "metric": metric, "reward": reward}
    source = {**data.source, "top_percent": top, **how}
    assignment = tree.assign(budget, threshold, **_short(source))
    _print(data, matrix, tree, assignment)
    if out is not None:
        _write(out, data, matrix, tree, assignment, with_dataset=dataset is None)


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
    strength = np.abs(np.triu(correlation.matrix, 1))
    pairs = []
    for place in np.argsort(-strength, axis=None, kind="stable")[:8]:
        i, j = np.unravel_index(place, strength.shape)
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
    columns = [Column.lasting("agent"), Column.name("parameters")]
    print_rows(f"\n{len(assignment)} agents", agents, "", columns)
    heights = tree.links[:, 2]
    say(
        f"\nmerges at distances {heights[0]:.2f} to {heights[-1]:.2f}; "
        f"the dendrogram suggests {tree.suggested()} agents"
    )


def _write(
    out: Path,
    data: Dataset,
    correlation: Correlation,
    tree: ClusterTree,
    assignment: Assignment,
    *,
    with_dataset: bool,
) -> None:
    """The assignment first: pictures need the extra viz."""
    from importlib.util import find_spec

    out.mkdir(parents=True, exist_ok=True)
    assignment.save(out / "agents.yaml")
    written = ["agents.yaml"]
    if with_dataset:
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
