"""The papers' figures: numbers first, pictures from them.

Profiles are the JSON objects that ``mpe-marl profile --json`` prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from marl_runs import (
    Line,
    Store,
    colour,
    mean_line,
    new_figure,
    panel_figure,
    save_figure,
    tell,
    writable,
)
from mpe_marl import saved
from mpe_marl.clock import UPDATE_PHASES
from mpe_marl.errors import MpeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ProfileRow = Mapping[str, Any]
Shares = dict[str, dict[str, float]]
Curves = dict[str, dict[str, Line]]

Reports = Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
"""Name of a run -> episodes and mean rewards."""

_REST = ("environment", "store")


def _label(p: ProfileRow) -> str:
    return f"{p['algorithm']} {p['n_agents']}"


def _percent(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: 100 * part / sum(parts.values()) for name, part in parts.items()}


def training_shares(profiles: Sequence[ProfileRow], interaction: bool = True) -> Shares:
    """Figure 2: share in action selection, update-all-trainers and the rest [%].

    Args:
        profiles: The profiles.
        interaction: Whether the worlds' steps are part of the time; the papers leave them out, as
            they depend on the environment ("agents interactions phase").
    """
    rest = _REST if interaction else tuple(phase for phase in _REST if phase != "environment")
    shares: Shares = {}
    for p in profiles:
        ms = p["phase_ms"]
        parts = {
            "action selection": ms["act"],
            "update all trainers": sum(ms[k] for k in UPDATE_PHASES),
            "other": sum(ms[k] for k in rest),
        }
        shares[_label(p)] = _percent(parts)
    return shares


def growth(profiles: Sequence[ProfileRow]) -> Shares:
    """Figure 3: how many times each phase's time grows from one size to the next."""
    grown: Shares = {}
    by_algorithm: dict[str, list[ProfileRow]] = {}
    for p in sorted(profiles, key=lambda p: int(p["n_agents"])):
        by_algorithm.setdefault(p["algorithm"], []).append(p)
    for algorithm, rows in by_algorithm.items():
        for one, two in pairwise(rows):
            label = f"{algorithm} {one['n_agents']} to {two['n_agents']}"
            groups = {"action selection": ("act",), "sampling": ("sample",),
                      "update all trainers": UPDATE_PHASES}  # fmt: skip
            grown[label] = {
                name: sum(two["phase_ms"][k] for k in keys)
                / max(sum(one["phase_ms"][k] for k in keys), 1e-12)
                for name, keys in groups.items()
            }
            for counter in ("cache_misses", "dtlb_misses"):
                if one["counters"].get(counter) and two["counters"].get(counter):
                    ratio = two["counters"][counter] / one["counters"][counter]
                    grown[label][counter.replace("_", " ")] = ratio
    return grown


def update_shares(profiles: Sequence[ProfileRow]) -> Shares:
    """Figure 4: share of update-all-trainers in each of its phases [%]."""
    names = {
        "sample": "mini-batch sampling", "target_q": "target Q", "q_loss": "Q loss",
        "p_loss": "P loss", "target_update": "target update",
    }  # fmt: skip
    shares: Shares = {}
    for p in profiles:
        shares[_label(p)] = _percent({names[k]: p["phase_ms"][k] for k in UPDATE_PHASES})
    return shares


def reductions(rows: Sequence[Mapping[str, Any]]) -> Shares:
    """Figure 5: reduction of sampling and of a whole cycle below the baseline [%]."""
    cuts: Shares = {}
    for row in rows:
        if row["sample_cut_percent"] or row["cycle_cut_percent"]:
            cuts[f"{row['variant']} {row['n_agents']}"] = {
                "sampling": row["sample_cut_percent"],
                "whole cycle": row["cycle_cut_percent"],
            }
    return cuts


def bars(title: str, unit: str, groups: Shares, *, stacked: bool) -> Figure:
    """Draw groups of bars, stacked or side by side."""
    if not groups:
        raise MpeError(f"nothing to draw for {title!r}; give profiles of two sizes or more.")
    figure = new_figure(3.2 + 0.8 * len(groups), 4)
    axes = figure.subplots()
    names = list(dict.fromkeys(name for parts in groups.values() for name in parts))
    base = [0.0] * len(groups)
    width = 0.7 if stacked else 0.8 / len(names)
    for k, name in enumerate(names):
        heights = [parts.get(name, 0.0) for parts in groups.values()]
        shift = 0.0 if stacked else (k - (len(names) - 1) / 2) * width
        places = [i + shift for i in range(len(groups))]
        axes.bar(
            places, heights, width, bottom=base if stacked else None, label=name, color=colour(k)
        )
        base = [b + h for b, h in zip(base, heights, strict=True)]
    axes.set_xticks(range(len(groups)), list(groups), rotation=30, ha="right")
    axes.set_ylabel(unit)
    axes.set_title(title)
    figure.legend(loc="outside center right", fontsize="small")
    return figure


def draw_profiles(profiles: Sequence[ProfileRow], folder: Path) -> list[Path]:
    """Write Figures 2, 3 (with two sizes or more) and 4 as PNG, SVG, PDF; returns their paths.

    Figure 2 comes twice: of the whole cycle, and without the worlds' steps, as the papers have it.
    """
    without = training_shares(profiles, interaction=False)
    title = "Share of training time"
    figures = {
        "figure2.png": (title, "%", training_shares(profiles), True),
        "figure2-papers.png": (f"{title} without the worlds' steps", "%", without, True),
        "figure3.png": ("Growth from size to size", "times", growth(profiles), False),
        "figure4.png": ("Inside update-all-trainers", "%", update_shares(profiles), True),
    }
    return _write(figures, folder)


def draw_comparison(rows: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write Figure 5 as PNG, SVG and PDF; returns their paths."""
    title = "Reduction below the baseline"
    return _write({"figure5.png": (title, "%", reductions(rows), False)}, folder)


def _write(figures: Mapping[str, tuple[str, str, Shares, bool]], folder: Path) -> list[Path]:
    writable(folder)
    written = []
    for name, (title, unit, groups, stacked) in figures.items():
        if groups:
            written += save_figure(bars(title, unit, groups, stacked=stacked), folder / name)
    return written


def stored_rewards(store: Path) -> dict[str, Any]:
    """Curves of a store's runs by name; of runs of one name the last, and that is said."""
    found: dict[str, Any] = {}
    with Store.open(store, create=False) as opened:
        for run in opened.runs(kind="mpe"):
            if run.name in found:
                tell(f"run {run.id} is drawn instead of an earlier one of its name: {run.name}")
            found[run.name] = opened.metrics(run.id, "mean_reward")
    return found


def learning_curves(runs: Reports) -> Curves:
    """Figure 6: mean reward over the seeds of each setting, and its interval.

    Args:
        runs: Name of a run -> ``(M,)`` episodes and ``(M,)`` mean rewards.

    Returns:
        ``world algorithm`` -> setting and number of seeds -> episodes, means, half widths, where
        all the setting's runs have reported.
    """
    curves: Curves = {}
    for (panel, how), seeds in _settings(runs).items():
        if (line := mean_line(list(seeds.values()))) is not None:
            label = f"{how}, {len(seeds)} seeds" if len(seeds) > 1 else how
            curves.setdefault(panel, {})[label] = line
    return curves


def left_out(runs: Reports) -> list[str]:
    """What :func:`learning_curves` leaves out, a line a run: episodes that not all seeds have."""
    lines = []
    for (panel, how), seeds in _settings(runs).items():
        common = set.intersection(*(set(curve) for curve in seeds.values()))
        for seed, curve in seeds.items():
            others = sorted(set(curve) - common)
            if others:
                lines.append(
                    f"{panel} {how} seed {seed}: {len(others)} of {len(curve)} points left out, "
                    f"episodes {others[0]:,} to {others[-1]:,}; another seed has none there"
                )
            elif not curve:
                lines.append(f"{panel} {how} seed {seed}: has no points yet, so none is drawn")
    return lines


def _settings(runs: Reports) -> dict[tuple[str, str], dict[str, dict[int, float]]]:
    """Panel and setting -> seed -> episode -> mean reward."""
    found: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for name, (episodes, rewards) in runs.items():
        setting, _, seed = name.rpartition(" seed ")
        world, algorithm, how = setting.split(" ", 2)
        curve = dict(zip(episodes.tolist(), rewards.tolist(), strict=True))
        found.setdefault((f"{world} {algorithm}", how), {})[seed] = curve
    return found


def draw_rewards(curves: Curves, path: Path) -> list[Path]:
    """Draw Figure 6: mean reward against episodes, a panel a world and algorithm.

    Args:
        curves: See :func:`learning_curves`.
        path: PNG file to write, with SVG and PDF beside it.

    Returns:
        The files.

    Raises:
        MpeError: There is no curve, or nothing can be written there.
    """
    if not curves:
        raise MpeError("no training runs to draw; run `mpe-marl train` with this store first.")
    writable(path.parent)
    return save_figure(panel_figure(curves, "episodes", "mean reward an episode"), path)


def draw_kept(source: Path, folder: Path) -> list[Path]:
    """Draw what a file holds: profiles, a comparison, or a store's runs.

    Args:
        source: JSON that ``profile --json`` or ``compare --json`` printed, or a store.
        folder: Where the pictures go.

    Returns:
        The pictures.

    Raises:
        MpeError: It is none of these, or nothing can be drawn or written.
    """
    if source.is_file() and source.open("rb").read(15) == b"SQLite format 3":
        runs = stored_rewards(source)
        for line in left_out(runs):
            tell(line)
        return draw_rewards(learning_curves(runs), folder / "figure6.png")
    kind, rows = saved.read(source)
    return (draw_profiles if kind == "profiles" else draw_comparison)(rows, folder)
