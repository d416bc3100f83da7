"""``mapper search --network --fuse``: tensors that stay in L2, and layers that are fused."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

import layers
from layers import LanguageModel, NetworkGraph
from mapper.commands.network_options import NetworkOptions
from mapper.commands.options import OptionError, cores
from mapper.commands.proof_options import ProofOptions
from mapper.commands.search_network import PAGE
from mapper.commands.stay_options import RESULT
from mapper.commands.work_options import ResultOptions
from mapper.explaining.token_figures import TokenFigures
from mapper.fusing.fused_network import FusedProblem
from mapper.search.problem_spec import ProblemSpec
from mapper.show.kept_table import print_kept
from mapper.staying.kept_network import (
    USUAL_GAP,
    KeptNetwork,
    check_inputs,
    check_keep,
    check_space,
    keep_network,
    stored_proofs,
)
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import NetworkStoppedError, UnmappableError
from mapper.staying.stay_proof import StayProof, StaySetting
from marl_common import write_text
from marl_runs import SilentReporter, Store, go_on_with, print_json, tell

METHODS = ("auto", "optimal")


def check_kept(
    spec: ProblemSpec,
    method: str | None,
    refused: Mapping[str, Any],
    network: str | None,
    shared: NetworkOptions,
    certified: bool,
) -> None:
    """Refuse options that a network with tensors that stay does not take.

    Args:
        spec: The problem of its first layer.
        method: The method that is asked for.
        refused: Options that say something else, by name; those that are None or empty are not
            given.
        network: The network.
        shared: Whether it is ``keep`` or ``tiles``, and how often the network runs.
        certified: Whether a certificate is asked for.

    Raises:
        OptionError: One is given.
        KeepError: The chip, the model or the objective cannot be.
    """
    fuse, inputs = shared.fuse, shared.inputs
    if network is None:
        raise OptionError(f"--fuse {fuse}: a single layer has no others; give --network N")
    if method not in (None, *METHODS):
        raise OptionError(f"--fuse {fuse}: is proven, expected the method optimal, not {method}")
    for name, value in refused.items():
        if value:
            raise OptionError(f"--fuse {fuse}: takes no {name}; leave it out")
    check_keep(
        spec.accelerator, spec.cost_model, spec.cost_model_options, spec.objective, f"--fuse {fuse}"
    )
    check_inputs(spec.accelerator, inputs, f"--fuse {fuse}")
    check_space(spec.space)
    if certified and inputs > 1:
        raise OptionError(
            "--certificate: where layers share the chip it is of one run; leave out --inputs"
        )


def search_kept(
    network: str,
    spec: ProblemSpec,
    results: ResultOptions,
    shared: NetworkOptions,
    proof: ProofOptions,
) -> None:
    """Search a network whose tensors may stay, and print totals with and without.

    With ``--fuse tiles`` layers may be fused besides. `proof` has the gap at which to stop, and the
    certificate to write.

    The proofs live in a store, and the same command goes on where it stopped. Results have a folder
    for a page and the whole as JSON, if any. Exit code 1 says that it was stopped, or that a layer
    has no mapping.
    """
    graph: NetworkGraph = layers.graph_of(network)
    out = results.out
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    gap = USUAL_GAP if proof.gap is None else proof.gap
    setting = StaySetting(spec.accelerator, spec.cost_model_options, spec.space)
    with Store.open(results.location) as opened:
        prove = stored_proofs(opened, results.workers or cores(), SilentReporter())

        proved: list[tuple[StayProof, Any]] = []

        def run(proofs: Sequence[StayProof]) -> Sequence[Any]:
            if sys.stderr.isatty():
                tell(f"{len(proofs)} proofs")
            told = prove(proofs)
            proved.extend(zip(proofs, told, strict=True))
            return told

        try:
            kept = keep_network(
                network,
                NetworkProblem(graph, setting, run, shared.counted, gap),
                spec.objective,
                fused=FusedProblem if shared.fuse == "tiles" else None,
                inputs=shared.inputs,
            )
        except (NetworkStoppedError, KeyboardInterrupt):
            tell(go_on_with())
            raise typer.Exit(1) from None
        except UnmappableError as error:
            tell(f"error: {error}")
            raise typer.Exit(1) from None
    language = layers.language_of(network)
    if results.as_json:
        print_json(kept.to_dict() | ({} if language is None else _by_token(language, kept)))
    else:
        print_kept(kept, language)
    if out is not None:
        _write(out, kept)
    if proof.certificate is not None:
        from mapper.commands.certifying import certify_kept

        certify_kept(kept, spec, proved, proof.certificate)


def _by_token(language: LanguageModel, kept: KeptNetwork) -> dict[str, Any]:
    """A language model's pass, and the best schedule's speed and energy by token."""
    found = TokenFigures.of(language.run.new_tokens, kept.chip, kept.best.latency, kept.best.energy)
    return {"language_model": language.to_dict(), **asdict(found)}


def _write(out: Path, kept: KeptNetwork) -> None:
    from mapper.staying.staying_page import write_staying_page

    write_text(out / RESULT, json.dumps(kept.to_dict(), indent=1) + "\n")
    if write_staying_page(out / PAGE, kept):
        tell(f"wrote {out / PAGE}")
    else:
        tell("no page: it needs jinja2: pip install 'marl-mapper[viz]'")
