"""Pictures of a clustering: the correlation heat map and the dendrogram."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mapper.clustering.correlation import Correlation
from mapper.clustering.tree import ClusterTree
from marl_runs import BACKDROP, colour, new_figure
from marl_runs import save_figure as save

__all__ = ["cut_height", "dendrogram", "heat_map", "save"]

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def heat_map(
    correlation: Correlation,
    title: str = "",
    tree: ClusterTree | None = None,
    agents: int | None = None,
) -> Figure:
    """The matrix with every parameter named; values printed where ``|r| >= 0.2``.

    Args:
        correlation: The matrix.
        title: What stands above it.
        tree: Orders the parameters by group; None leaves them as they are.
        agents: Draws a frame around each of so many groups of the tree.
    """
    groups = [correlation.names] if tree is None else tree.groups(agents)
    correlation = correlation.ordered([name for group in groups for name in group])
    count = len(correlation.names)
    side = 2.5 + 0.34 * count
    figure = new_figure(side + 1.0, side)
    axes = figure.add_subplot()
    image = axes.imshow(correlation.matrix, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    axes.set_xticks(range(count), correlation.names, rotation=90, fontsize=8)
    axes.set_yticks(range(count), correlation.names, fontsize=8)
    for i, j in np.argwhere(np.abs(correlation.matrix) >= 0.2):
        if i != j:
            value = correlation.matrix[i, j]
            ink = "white" if abs(value) > 0.6 else "black"
            axes.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=7, color=ink)
    if len(groups) > 1:
        _frame(axes, [len(group) for group in groups])
    figure.colorbar(image, ax=axes, shrink=0.8, label=correlation.method)
    axes.set_title(title or f"{correlation.method}, {correlation.samples} samples", fontsize=10)
    return figure


def _frame(axes: Axes, sizes: list[int]) -> None:
    """Frames around the groups on the diagonal."""
    from matplotlib.patches import Rectangle

    first = 0
    for size in sizes:
        if size > 1:
            corner = (first - 0.5, first - 0.5)
            axes.add_patch(
                Rectangle(corner, size, size, fill=False, edgecolor="black", linewidth=1.4)
            )
        first += size


def colour_of_link(tree: ClusterTree, agents: int) -> Callable[[int], str]:
    """The colour of each link by its number: one for each cluster, grey above the cut."""
    count = len(tree.names)
    joined = {int(child) for child in tree.links[: count - agents, :2].ravel()}
    tops = [link for link in range(count, 2 * count - agents) if link not in joined]
    colours = {}
    for place, top in enumerate(tops):
        below = [top]
        while below:
            link = below.pop()
            if link >= count:
                colours[link] = colour(place)
                below += [int(child) for child in tree.links[link - count, :2]]
    return lambda link: colours.get(link, BACKDROP)


def dendrogram(tree: ClusterTree, agents: int | None = None, title: str = "") -> Figure:
    """The tree; with `agents`, a dashed line where it is cut and one colour for each cluster."""
    from scipy.cluster.hierarchy import dendrogram as draw

    figure = new_figure(3.0 + 0.34 * len(tree.names), 4.2)
    axes = figure.add_subplot()
    cut = None if agents is None else cut_height(tree, agents)
    draw(
        tree.links,
        labels=list(tree.names),
        ax=axes,
        leaf_rotation=90,
        leaf_font_size=8,
        color_threshold=0,
        link_color_func=colour_of_link(tree, len(tree.names) if agents is None else agents),
    )
    if cut is not None:
        axes.axhline(cut, linestyle="--", linewidth=0.8, color="black")
        axes.text(1.0, cut, f" {agents} agents", transform=axes.get_yaxis_transform(), va="center")
    axes.set_ylabel("distance")
    axes.set_title(title, fontsize=10)
    return figure


def cut_height(tree: ClusterTree, agents: int) -> float:
    """A distance between the two merges where `agents` clusters are left."""
    heights = tree.links[:, 2]
    done = len(tree.names) - agents
    below = heights[done - 1] if done > 0 else 0.0
    above = heights[done] if done < len(heights) else heights[-1] * 1.1
    return float((below + above) / 2.0)
