"""The result of a network with tensors that stay: a row for each shape and what of it stays."""

from __future__ import annotations

from collections.abc import Sequence

from cost_models import Accelerator, Chain
from layers import LanguageModel
from mapper.explaining.token_figures import TokenFigures
from mapper.show.language import language_lines
from mapper.show.network_table import own_name
from mapper.staying.kept_figures import comparison, kept_rows, stay_lines
from mapper.staying.kept_network import KeptNetwork
from mapper.staying.network_result import NetworkResult, NodeResult
from mapper.staying.rooms import home_of
from marl_runs import Column, print_rows, say

FIGURES = (
    Column("latency_cycles", "cycles", "", keep=6),
    Column("energy_nj", "energy", "nJ", keep=6),
    Column("edp", "EDP", "cycles * nJ", keep=5),
    Column("dram_bytes", "over DRAM", "B", keep=4),
)


def print_steps(
    title: str, chip: Accelerator | Chain, steps: Sequence[NodeResult], *, short: bool = False
) -> None:
    """Print the layers of a network, a row for each shape and what of it stays.

    With `short` layers' names are those without the network's.
    """
    rows = kept_rows(steps)
    if short:
        rows = [row | {"layer": own_name(row["layer"])} for row in rows]
    fused = any(step.fused for step in steps)
    print_rows(
        title,
        rows,
        "",
        [
            Column.name("layer"),
            Column("count", keep=5),
            Column("in L2", f"in {home_of(chip).name}", keep=8, right=False),
            *([Column("fused", keep=7, right=False, blank="")] if fused else []),
            *FIGURES[:2],
            FIGURES[-1],
        ],
    )


def print_evaluated(
    network: str, model: str, chip: Accelerator | Chain, found: NetworkResult
) -> None:
    """Print the layers and totals of an answer that was evaluated again."""
    print_steps(f"{network}: {model}", chip, found.steps)
    print()
    print_rows("Network", [found.totals()], "", list(FIGURES))
    say("the file says the same of every node, and of the whole")


def print_kept(kept: KeptNetwork, language: LanguageModel | None = None) -> None:
    """Print the layers, all totals, what stays, and what a language model takes for a token."""
    title = f"{kept.network}: {len(kept.graph.layers)} layers, {kept.objective}"
    print_steps(title, kept.chip, kept.best.steps, short=language is not None)
    print()
    print_rows(
        "Network",
        comparison(kept),
        "",
        [
            Column.name("schedule"),
            *FIGURES,
            Column("proven", keep=9),
        ],
    )
    for line in stay_lines(kept):
        say(line)
    if language is not None:
        best, tokens = kept.best, language.run.new_tokens
        found = TokenFigures.of(tokens, kept.chip, best.latency, best.energy)
        say("\n".join([f"{found.speed}, {found.energy}", *language_lines(language)]))
