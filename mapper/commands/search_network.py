"""``mapper search --network``: the table of a whole network."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

import baselines
import layers
from layers import LanguageModel, Layer
from maestro_env import Objective
from mapper.commands.options import DEFAULT_STORE, OptionError
from mapper.commands.proof_options import ProofOptions
from mapper.commands.work_options import ResultOptions
from mapper.explaining.standing import standing_kept
from mapper.explaining.token_figures import TokenFigures
from mapper.explore.explore_file import NAME as EXPLORED
from mapper.report.errors import ReportError
from mapper.report.networks import NETWORK, NetworkShapes, write_network
from mapper.results.output import folder_names
from mapper.results.result_files import write_result
from mapper.search.carry import CARRIES, NEAREST, NOTHING, POLICIES, POLICY
from mapper.search.found import Found
from mapper.search.network_runs import ShapeResult, ShapeRun, plan_network, totals
from mapper.search.network_runs import results as results_of
from mapper.search.problem_spec import ProblemSpec
from mapper.search.search_run import SearchRun
from mapper.show.language import language_lines
from mapper.show.network_table import own_name, print_network
from mapper.staying.kept_network import check_keep
from mapper.staying.placement import Placement
from marl_common import atomic_write
from marl_runs import Experiment, SilentReporter, Store, go_on_with, print_json, run_all, tell

PAGE = "report.html"
FILES = EXPLORED, NETWORK, POLICIES, PAGE, DEFAULT_STORE
"""What else a folder of results may hold."""


@dataclass(frozen=True)
class NetworkSearch:
    """A network, and how its shapes are searched.

    Args:
        network: The network.
        objective: Of every shape.
        spec: The problem of a layer.
        search: Arguments of every search but the problem.
        carry: What a shape takes over from those before it; None for what the method does.
        counted: Whether totals have the nodes without MACs.
    """

    network: str
    objective: str
    spec: Callable[[Layer], ProblemSpec]
    search: Mapping[str, Any]
    carry: str | None = None
    counted: bool = False


def search_network(asked: NetworkSearch, given: ResultOptions, after: ProofOptions | None) -> None:
    """Search every distinct shape and print a row for each, and the totals.

    The searches live in a store, by default that of the folder `given.out`, and the same command
    goes on where it stopped. In that folder, if any, every shape has one. `after` names a
    certificate to write. Exit code 1 says that a shape has no mapping or is not done.
    """
    network, spec, search = asked.network, asked.spec, asked.search
    language = layers.language_of(network)
    passes = _passes(network, spec) if asked.counted else {}
    planned = plan_network(network, spec, search, _carried(asked.carry, search))
    runs = [item.run for item in planned if item.run is not None]
    out, as_json = given.out, given.as_json
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    quiet = SilentReporter() if as_json and not sys.stderr.isatty() else None
    with Store.open(given.location) as opened:
        files = _Files(planned, opened, out)
        outcome = run_all(
            runs, opened, workers=given.workers or 1, reporter=quiet, on_end=files.write
        )
        files.write_kept()
        found = list(results_of(planned, opened, outcome.kept))
    _print(network, language, found, asked.objective, as_json, passes)
    if out is not None:
        counts = {result.shape.layer.name: result.shape.count for result in found}
        tokens = 0 if language is None else language.run.new_tokens
        taken = (passes.get(name, 0.0) for name in ("latency_cycles", "energy_nj"))
        _write_page(NetworkShapes(network, counts, tokens, *taken), runs, given.location, out)
    if outcome.stopped:
        tell(go_on_with())
    if after is not None and after.certificate is not None:
        from mapper.commands.certifying import certify_network

        certify_network(network, found, after.certificate, after)
    if files.fault is not None:
        raise files.fault
    if any(result.error for result in found):
        raise typer.Exit(1)


class _Files:
    """Writes the result of each shape into a folder of its own; a fault waits until the end."""

    def __init__(self, planned: Sequence[ShapeRun], store: Store, out: Path | None) -> None:
        self._left = {item.run.name: (item.run, item) for item in planned if item.run is not None}
        self._store, self._out = store, out
        self._folders = folder_names((item.shape.layer.name for item in planned), FILES)
        self.fault: OSError | None = None

    def write(self, run: Experiment) -> None:
        """Write what the store holds of one search, and the policies that it left."""
        searched, item = self._left.pop(run.name)
        if self._out is None:
            return
        try:
            self._write(searched, item, self._out)
        except OSError as error:
            self.fault = error

    def write_kept(self) -> None:
        """Write those that were finished before: the process may have been killed in between."""
        for run, _ in list(self._left.values()):
            self.write(run)

    def _write(self, run: SearchRun, item: ShapeRun, out: Path) -> None:
        stored = self._store.runs(key=item.key)
        found = Found.of_stored(run, stored[0]) if stored else None
        if found is None or found.interrupted:
            return
        folder = out / self._folders[item.shape.layer.name]
        write_result(folder, found)
        left = self._store.folder(item.key)
        for source, target in ((POLICY, folder / POLICY), (POLICIES, out / POLICIES)):
            if (left / source).exists():
                with atomic_write(target) as draft:
                    shutil.copyfile(left / source, draft)


def _write_page(network: NetworkShapes, runs: Sequence[SearchRun], store: str, out: Path) -> None:
    """Write the network's page, and what `mapper report` needs to write it again."""
    from mapper.report.page import render, write
    from mapper.report.sources import from_store

    write_network(out / NETWORK, network)
    keys = {run.identity().key for run in runs}
    try:
        source = from_store(store).of_network(network, keys)
        write(out / PAGE, render(source.with_explored(out)))
    except ReportError as error:  # without the extra viz there is no page
        tell(f"no page: {error}")
        return
    tell(f"wrote {out / PAGE}")


def _carried(carry: str | None, search: Mapping[str, Any]) -> str:
    """What a shape takes over from those before it.

    Raises:
        OptionError: There is no such thing, or the method carries nothing.
    """
    searcher = baselines.load(search["method"], **search["options"])
    able = "warm_start" in vars(searcher.config)
    if carry is None:
        return NEAREST if able else NOTHING
    if carry not in CARRIES:
        raise OptionError(f"--carry: got {carry!r}, expected {', '.join(CARRIES)}")
    if carry != NOTHING and not able:
        raise OptionError(f"--carry {carry}: only the method marl carries policies on")
    return carry


def _print(
    network: str,
    language: LanguageModel | None,
    results: Sequence[ShapeResult],
    objective: str,
    as_json: bool,
    passes: Mapping[str, float],
) -> None:

    rows = [_row(result) for result in results]
    whole = totals(results)
    if passes:
        whole |= {name: whole[name] + passes[name] for name in ("latency_cycles", "energy_nj")}
        whole |= {
            "edp": whole["latency_cycles"] * whole["energy_nj"],
            "passes": passes["passes"],
            "pass_cycles": passes["latency_cycles"],
            "pass_energy_nj": passes["energy_nj"],
        }
    by_token = _by_token(language, results, whole)
    if as_json:
        said = {} if language is None else {"language_model": language.to_dict()}
        more = {} if by_token is None else asdict(by_token)
        print_json({"network": network, **said, "shapes": rows, "totals": whole | more})
        return
    if language is not None:  # the settings of the pass stand above the table once
        rows = [row | {"layer": own_name(row["layer"])} for row in rows]
    whole_chip = None if any(result.cost is None for result in results) else results[0].chip
    print_network(network, rows, whole, Objective.parse(objective), whole_chip)
    if passes:
        typer.echo(
            f"{passes['passes']:,.0f} nodes without MACs take {passes['latency_cycles']:,.0f} of "
            f"these cycles and {passes['energy_nj']:,.0f} nJ of the energy"
        )
    if by_token is not None:
        typer.echo(f"{by_token.speed}, {by_token.energy}")
    if language is not None:
        typer.echo("\n".join(language_lines(language)))
    for result in results:
        if result.error:
            tell(f"error: {result.shape.layer.name}: {result.error}")


def _passes(network: str, spec: Callable[[Layer], ProblemSpec]) -> dict[str, float]:
    """What the nodes without MACs of a network take, with all tensors in DRAM.

    Raises:
        LayerError: It has no edges.
        KeepError: The chip or the cost model knows none.
    """
    graph = layers.graph_of(network)
    first = spec(graph.layers[0])
    options = first.cost_model_options
    chip = check_keep(first.accelerator, first.cost_model, options, "edp", "--passes counted")
    placement = Placement(graph, chip, options, counted=True)
    nodes = [node for node in graph.nodes if node.layer is None]
    found = [placement.pass_of(node, frozenset()) for node in nodes]
    return {
        "passes": float(len(nodes)),
        "latency_cycles": sum(latency for latency, _, _ in found),
        "energy_nj": sum(energy for _, energy, _ in found),
    }


def _by_token(
    language: LanguageModel | None, results: Sequence[ShapeResult], whole: Mapping[str, float]
) -> TokenFigures | None:
    """Speed and energy by token; None where a layer is missing, or it is no language model."""
    if language is None or any(result.cost is None for result in results):
        return None
    cycles, energy = whole["latency_cycles"], whole["energy_nj"]
    return TokenFigures.of(language.run.new_tokens, results[0].chip, cycles, energy)


def _row(result: ShapeResult) -> dict[str, Any]:
    cost = result.cost
    row: dict[str, Any] = {
        "layer": result.shape.layer.name,
        "count": result.shape.count,
        **dict.fromkeys(("macs", "latency_cycles", "energy_nj", "objective", "x bound")),
        "samples": 0 if result.found is None else result.found.problem.samples,
        "gap": None,
        "proven": None,
        "error": result.error,
    }
    if result.found is None or cost is None:
        return row
    problem = result.found.problem
    figures = {name: getattr(cost, name) for name in ("macs", "latency_cycles", "energy_nj")}
    ratio = round(problem.best_value / problem.bound, 3) if problem.bound else None
    return (
        row | figures | {"objective": problem.best_value, "x bound": ratio} | _proof(result.found)
    )


def _proof(found: Found) -> dict[str, Any]:
    """What the search proved of its answer; nothing where it proved nothing."""
    proved = standing_kept(found)
    if proved is None:
        return {}
    gap = 0.0 if proved.optimal else proved.gap
    return {"gap": gap, "proven": "optimal" if gap == 0 else f"within {gap:.2%}"}
