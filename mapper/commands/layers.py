"""``mapper layers``: what the zoo or a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import layers
from mapper.commands import completion
from marl_common import AsJson, write_text
from marl_runs import print_json

if TYPE_CHECKING:
    from layers import Layer


def list_layers(
    network: Annotated[
        str | None,
        typer.Argument(
            help="A network of the zoo (a language model's forward pass: "
            "llama-3-8b:tokens=1,cache=2048,batch=8), or a file; all networks if absent.",
            autocompletion=completion.networks,
        ),
    ] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Each shape once, with how often it occurs.")
    ] = False,
    graph: Annotated[
        bool,
        typer.Option("--graph", help="All nodes, also those without MACs, and what each reads."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="With --graph: draw it here (.svg).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the networks of the zoo, or the layers of one."""
    from mapper.show.language import language_lines
    from mapper.show.layer_tables import print_layers, print_networks

    if graph or out is not None:
        _show_graph(network, distinct, graph, out, as_json)
        return
    if network is None:
        rows = [_network_row(name) for name in layers.networks()]
    else:
        found = layers.layers_of(network)
        if distinct:
            shapes = layers.distinct(found)
            rows = [{"count": count, **_layer_row(layer)} for layer, count in shapes]
        else:
            rows = [{"index": i, **_layer_row(layer)} for i, layer in enumerate(found)]
    if as_json:
        print_json(rows)
    elif network is None:
        print_networks(rows)
    else:
        print_layers(network, rows)
        language = layers.language_of(network)
        for line in language_lines(language) if language else ():
            typer.echo(line)


def _show_graph(
    network: str | None, distinct: bool, graph: bool, out: Path | None, as_json: bool
) -> None:
    """Print a network's nodes, or draw them."""
    from mapper.commands.options import OptionError
    from mapper.show.graph_drawing import graph_rows, graph_svg, print_graph

    if not graph:
        raise OptionError(f"--out {out}: draws a graph; expected --graph with it")
    if network is None or distinct:
        what = "no network is named" if network is None else "--distinct lists shapes"
        raise OptionError(f"--graph: {what}; expected `mapper layers NETWORK --graph`")
    if out is not None and out.suffix.lower() != ".svg":
        raise OptionError(f"--out {out}: expected a name ending in .svg")
    found = layers.graph_of(network)
    if out is not None:
        write_text(out, graph_svg(network, found))
        typer.echo(f"wrote {out}", err=True)
    if as_json:
        print_json(graph_rows(found))
    elif out is None:
        print_graph(network, found)


def _network_row(name: str) -> dict[str, Any]:

    found = layers.network(name)
    return {
        "network": name,
        "layers": len(found),
        "distinct": len(layers.distinct(found)),
        "macs": sum(layer.macs for layer in found),
        "weights": sum(layer.filter_size for layer in found),
    }


def _layer_row(layer: Layer) -> dict[str, Any]:
    fields = ("K", "C", "Y", "X", "R", "S", "stride", "dilation", "N", "groups")
    return {
        "name": layer.name,
        "kind": str(layer.kind),
        **{field: getattr(layer, field) for field in fields},
        "macs": layer.macs,
    }
