"""Pictures of a clustering: the correlation heat map and the dendrogram."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mapper.clustering.correlation import Correlation
from mapper.clustering.tree import ClusterTree
from runs import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def heat_map(correlation: Correlation, title: str = "") -> Figure:
    """The matrix with every parameter named; values printed where ``|r| >= 0.2``."""
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
            colour = "white" if abs(value) > 0.6 else "black"
            axes.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=6, color=colour)
    figure.colorbar(image, ax=axes, shrink=0.8, label=correlation.method)
    axes.set_title(title or f"{correlation.method}, {correlation.samples} samples", fontsize=10)
    return figure


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
        color_threshold=cut,
        above_threshold_color="#888888",
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


def save(figure: Figure, path: Path) -> None:
    """Write the figure as the file's ending says (png, pdf, svg)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
