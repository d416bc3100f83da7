"""Options of ``mapper evaluate`` that say what is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import layers
from mapper.commands import completion
from mapper.commands.options import OptionError, leave_out
from marl_common import option, read_text

if TYPE_CHECKING:
    from cost_models import ChainMapping, Dataflow
    from cost_models import Mapping as LoopMapping
    from layers import Layer

    Given = LoopMapping | ChainMapping | Dataflow
    Pair = tuple[Layer, Given]


@dataclass(frozen=True)
class EvaluatedFiles:
    """What is evaluated.

    Attributes:
        layer: Zoo name, FILE.yaml:NAME, or in line (see `mapper search --help`); not needed for a
            .m file that names its layers.
        mapping: A mapping as YAML.
        dataflow: MAESTRO's directives, or a whole network, as .m.
        network: The answer of a whole network, network.json of `mapper search --network N --fuse
            keep --out DIR`, with its chip; its figures are checked.
    """

    layer: str | None = option(None, "", "--layer", "-l", autocompletion=completion.layers)
    mapping: Path | None = option(None, kind=Path)
    dataflow: Path | None = option(None, kind=Path)
    network: Path | None = option(None, kind=Path)

    def pairs(self) -> list[Pair]:
        """The layers to evaluate, each with its mapping or dataflow.

        Raises:
            OptionError: A mapping lacks its layer, or there are two.
        """
        from mapper.results.result_files import read_any_mapping

        if (self.mapping is None) == (self.dataflow is None):
            raise OptionError(
                "give either --mapping FILE.yaml or --dataflow FILE.m, or --network network.json"
            )
        found = None if self.layer is None else layers.parse(self.layer)
        if self.dataflow is not None:
            return _pairs_of_file(found, self.dataflow)
        assert self.mapping is not None
        if found is None:
            raise OptionError(
                f"--mapping {self.mapping} needs --layer, such as --layer mobilenetv2.2"
            )
        return [(found, read_any_mapping(self.mapping))]

    def alone(self, others: Mapping[str, Any]) -> Path:
        """The network's answer, which says all but the cost model itself.

        Raises:
            OptionError: Something else is said, too.
        """
        assert self.network is not None
        given = {"a layer": self.layer, "a mapping": self.mapping, "a dataflow": self.dataflow}
        says = f"--network {self.network}: says all itself but the cost model"
        leave_out({**given, **others}, says)
        return self.network


def _pairs_of_file(layer: Layer | None, path: Path) -> list[Pair]:
    """A file of directives belongs to `layer`; a whole network brings its own layers."""
    from cost_models import DataflowError, parse_dataflow, parse_network

    text = read_text(path, DataflowError, "MAESTRO's directives (.m)")
    if "Network" not in text:
        directives = parse_dataflow(text, path=str(path))
        if not directives.directives:
            raise DataflowError(f"{path}: no directives; expected lines such as SpatialMap(1,1) K;")
        if layer is None:
            raise OptionError(f"--dataflow {path} names no layer; give --layer")
        return [(layer, directives)]
    pairs = parse_network(text, str(path))
    if not pairs:
        raise DataflowError(f"{path}: the network has no layers")
    if layer is None:
        return list(pairs)
    if len(pairs) > 1:
        raise OptionError(
            f"--dataflow {path} holds {len(pairs)} layers; leave --layer out to evaluate them, "
            "or give a file with one dataflow"
        )
    return [(layer, pairs[0][1])]
