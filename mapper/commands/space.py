"""``mapper space``: how many mappings a layer has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cost_models
import layers
from mapper.commands import completion
from mapper.commands.options import OptionError
from mapper.commands.problem_options import NamedChip, SpaceOptions
from marl_common import AsJson, option, takes_records
from marl_runs import Column, print_json, print_rows

if TYPE_CHECKING:
    from cost_models import Accelerator, Chain
    from layers import Layer

LEVELS = (1, 2, 3)
"""Memory levels that equation 1 is printed for on a chip of two."""


@dataclass(frozen=True)
class CountedLayers:
    """The layers whose mappings are counted.

    Attributes:
        layer: Zoo name, FILE.yaml:NAME, or in line.
        network: A network of the zoo, or a YAML or CSV file: all its layers.
    """

    layer: str | None = option(None, "", "--layer", "-l", autocompletion=completion.layers)
    network: str | None = option(None, "", "--network", "-n", autocompletion=completion.networks)

    def chosen(self) -> list[Layer]:
        """The layers; none where nothing is said.

        Raises:
            OptionError: A layer and a network are given.
        """
        if self.layer is not None and self.network is not None:
            raise OptionError("--layer and --network: got both, expected one of them")
        if self.layer is not None:
            return [layers.parse(self.layer)]
        return [] if self.network is None else list(layers.layers_of(self.network))


@dataclass(frozen=True)
class Equation:
    """Equation 1 of the paper.

    Attributes:
        tile_sizes: Equation 1: tile sizes of a dimension, n.
        parallel_levels: Equation 1: levels of parallelism, k.
    """

    tile_sizes: int = option(10, low=1, high=10**9)
    parallel_levels: int = option(3, low=1, high=3)


@takes_records
def space(
    *,
    counted: CountedLayers,
    chip: NamedChip,
    space: SpaceOptions,
    equation: Equation,
    as_json: AsJson = False,
) -> None:
    """Print the size of the mapping space, exact and by the paper's equation 1.

    Equation 1 counts (n^d * d! * d!/(d-k)!)^l mappings of a nest of d loops on l memory levels,
    whether or not they differ; the map space holds what the searchers choose from.
    """
    chosen = counted.chosen()
    loaded, options = cost_models.load_chip(chip.accelerator), space.options()
    rows = [_row(one, loaded, options, equation) for one in chosen]
    table = _table(equation)
    if as_json:
        print_json({"layers": rows, "classes": table})
    else:
        _print(rows, table, equation)


def _row(
    layer: Layer, chip: Accelerator | Chain, options: dict[str, Any], equation: Equation
) -> dict[str, Any]:
    from maestro_env import layer_class, make_space, mapping_space_size

    space = make_space(layer, chip, options)
    kind = layer_class(layer)
    others = {}
    if isinstance(chip, cost_models.Chain):
        for name in ("uneven", "full"):
            others[name] = make_space(layer, chip, {**options, name: True}).size
    return {
        "layer": layer.name,
        "class": kind.name,
        "parameters": sum(len(parameter) > 1 for parameter in space.parameters),
        "map_space": space.size,
        **others,
        **{
            f"equation1_l{memory}": mapping_space_size(
                kind.loops, equation.tile_sizes, equation.parallel_levels, memory
            )
            for memory in _memories(chip)
        },
    }


def _memories(chip: Accelerator | Chain) -> tuple[int, ...]:
    """Memory levels that equation 1 is printed for."""
    return (len(chip.memories),) if isinstance(chip, cost_models.Chain) else LEVELS


def _table(equation: Equation) -> list[dict[str, Any]]:
    """The paper's Table II."""
    from maestro_env import LAYER_CLASSES, table_sizes

    sizes = table_sizes(equation.tile_sizes, equation.parallel_levels)
    return [
        {
            "class": name,
            "dims": row.dims,
            "loops": row.loops,
            "fewest": sizes[name][0],
            "most": sizes[name][1],
        }
        for name, row in LAYER_CLASSES.items()
    ]


def _print(rows: list[dict[str, Any]], table: list[dict[str, Any]], equation: Equation) -> None:

    if rows:
        scientific = [key for key in rows[0] if key.startswith("equation1_l")]
        others = [key for key in ("uneven", "full") if key in rows[0]]
        memories = [int(key.removeprefix("equation1_l")) for key in scientific]
        exact = [
            {**_short(row, *scientific)} | {key: f"{row[key]:,}" for key in ("map_space", *others)}
            for row in rows
        ]
        print_rows(
            "Mappings per layer: the map space (exact), and equation 1 by memory levels",
            exact,
            "",
            [
                Column.name("layer"),
                Column("class", keep=3, fold=True),
                Column("parameters", keep=4),
                Column.lasting("map_space", "map space", right=True),
                *(Column(key, keep=1, right=True, fold=True) for key in others),
                *(
                    Column(key, f"{memory} level{'s' * (memory > 1)}", keep=2, right=True)
                    for memory, key in zip(memories, scientific, strict=True)
                ),
            ],
        )
        print()
    print_rows(
        f"Equation 1 by kind of layer, {equation.tile_sizes} tile sizes, "
        f"{equation.parallel_levels} levels of parallelism, 1 to 3 memory levels",
        [_short(row, "fewest", "most") for row in table],
        "",
        [
            Column.name("class"),
            Column("dims", keep=3, fold=True),
            Column("loops", keep=3),
            Column.lasting("fewest", right=True),
            Column.lasting("most", right=True),
        ],
    )


def _short(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: _scientific(value) if key in keys else value for key, value in row.items()}


def _scientific(size: int) -> str:
    """A whole number of any size in three digits, cut off, not rounded."""
    digits = str(size)
    return digits if len(digits) < 4 else f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"
