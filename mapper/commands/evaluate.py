"""``mapper evaluate``: what one mapping of one layer costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

import cost_models
import layers
from mapper.commands import completion
from mapper.commands.evaluated_files import EvaluatedFiles
from mapper.commands.options import OptionError
from mapper.commands.problem_options import AnyChip, ModelOptions
from marl_common import AsJson, option, takes_records
from marl_runs import print_json, say, tell

if TYPE_CHECKING:
    from cost_models import Accelerator, Chain, Cost, CostModel, Dataflow, Mapping
    from layers import Layer
    from mapper.commands.evaluated_files import Given, Pair

    Chip = Accelerator | Chain


@dataclass(frozen=True)
class EvaluatedModels(ModelOptions):
    """A cost model, or all.

    Attributes:
        cost_model: exact, maestro, ..., or all of them side by side.
        no_guard: The maestro model's raw figures, impossible or not.
    """

    cost_model: str = option("exact", autocompletion=completion.cost_models)
    no_guard: bool = option(False, "", "--no-guard")

    def models(self) -> dict[str, CostModel]:
        """Every model by its name.

        Raises:
            ValueError: There is none, or an option is wrong.
        """
        if self.cost_model == "all" and self.cost_model_option:
            raise OptionError(
                "--cost-model-option: models differ in options; give one --cost-model"
            )
        return _models(self.model(), self.no_guard)


@takes_records
def evaluate(
    *,
    files: EvaluatedFiles,
    chip: AnyChip,
    model: EvaluatedModels,
    as_json: AsJson = False,
) -> None:
    """Print the cost of a mapping, or why it has none (exit code 1)."""
    if files.network is not None:
        from mapper.commands.evaluate_network import evaluate_network

        others = {"a chip": chip != AnyChip(), "options of a model": model.cost_model_option,
                  "--no-guard": model.no_guard}  # fmt: skip
        evaluate_network(files.alone(others), model.cost_model, as_json)
        return
    from mapper.results.result_files import chip_of_mapping

    loaded = chip.chip()
    pairs = files.pairs()
    loaded = chip_of_mapping(loaded, pairs[0][1])  # several are MAESTRO's, of two levels
    models = model.models()
    results = [(pair, _evaluated(pair, loaded, models)) for pair in pairs]
    from mapper.show.cost import print_costs_of_layers

    if as_json:
        _print_json(results, loaded)
    elif len(results) == 1:
        _print_one(*results[0], loaded, models)
    else:
        print_costs_of_layers([(layer.name, costs) for (layer, _), costs in results])
    if not all(cost.feasible for _, costs in results for cost in costs.values()):
        raise typer.Exit(1)


def _models(name: str, no_guard: bool) -> dict[str, CostModel]:

    options = {"guard": False} if no_guard else {}
    if name != "all":
        return {name: cost_models.load(name, **options)}
    models = {}
    for known in cost_models.names():
        try:
            models[known] = cost_models.load(known, **options)
        except cost_models.CostModelError as error:
            if no_guard and "guard" in str(error):
                models[known] = cost_models.load(known)
            else:
                tell(f"{known} is left out: {error}")
    return models


def _evaluated(pair: Pair, chip: Chip, models: dict[str, CostModel]) -> dict[str, Cost]:
    """Costs by model; of several models, one that cannot take the layer is left out.

    Raises:
        MappingError: It is no mapping of the chip.
        CostModelError: A single model cannot take the layer.
    """
    layer, mapping = pair
    costs = {}
    for name, model in models.items():
        try:
            cost_models.check_depth(model, chip)
            costs[name] = model.evaluate(layer, chip, mapping)  # type: ignore[arg-type]
        except cost_models.CostModelError as error:
            if len(models) == 1:
                raise
            tell(f"{name} is left out: {error}")
    return costs


def _print_json(results: list[tuple[Pair, dict[str, Cost]]], chip: Chip) -> None:
    from mapper.show.cost import cost_values

    rows = []
    for (layer, mapping), costs in results:
        rows.append(
            {
                "layer": layers.to_fields(layer),
                "accelerator": chip.to_dict(),
                **_mapping_values(layer, mapping),
                "costs": {name: cost_values(cost) for name, cost in costs.items()},
                **_comparison_values(layer, mapping, chip, costs),
            }
        )
    print_json(rows[0] if len(rows) == 1 else rows)


def _comparison_values(
    layer: Layer, mapping: Given, chip: Chip, costs: dict[str, Cost]
) -> dict[str, Any]:
    """Where and why MAESTRO differs, where both models were asked for."""
    if not {"exact", "maestro"} <= costs.keys():
        return {}
    assert not isinstance(chip, cost_models.Chain)
    assert not isinstance(mapping, cost_models.ChainMapping)
    found = cost_models.compare(layer, chip, mapping, {})
    return {
        "differences": [asdict(item) for item in found.differences],
        "causes": [
            {name: getattr(cause, name) for name in ("number", "title", "why")}
            for cause in found.causes
        ],
    }


def _mapping_values(layer: Layer, mapping: Given) -> dict[str, Any]:

    if isinstance(mapping, cost_models.ChainMapping):
        return {"mapping": mapping.to_dict(), "dataflow": None}
    if isinstance(mapping, cost_models.Mapping):
        try:
            dataflow = str(mapping.dataflow(layer))
        except cost_models.MappingError:  # MAESTRO has no words for it
            dataflow = None
        return {"mapping": mapping.to_dict(), "dataflow": dataflow}
    return {"mapping": None, "dataflow": str(mapping)}


def _print_one(
    pair: Pair, costs: dict[str, Cost], chip: Chip, models: dict[str, CostModel]
) -> None:
    from mapper.show.cost import bounds_of, print_costs, print_infeasible
    from mapper.show.limits import what_limits
    from mapper.show.speed import speed_lines

    layer, given = pair
    say(f"Layer {layer.name}: {layers.inline(layer)}, {layer.macs:,} MACs\n")
    if isinstance(chip, cost_models.Chain) or isinstance(given, cost_models.ChainMapping):
        _print_chain(layer, given, costs, chip)
        return
    mapping = _as_mapping(layer, given)
    if mapping is not given:
        say(f"{given}\n")
    if mapping is not None:
        print(f"{cost_models.loop_nest(mapping, layer, chip.num_pes)}\n")
    feasible = {name: cost for name, cost in costs.items() if cost.feasible}
    limits = (f"{key}={'none' if v is None else v}" for key, v in chip.to_dict().items())
    title = f"Cost on {', '.join(limits)}"
    if len(costs) == len(feasible) == 1:
        ((name, cost),) = feasible.items()
        print_costs(feasible, title, bounds_of(models[name], layer, chip, mapping))
        print()
        say("\n".join(what_limits(cost, layer, chip, mapping)))
        say("\n".join(speed_lines(chip, cost.latency_cycles, cost.energy_nj, cost.macs)))
    elif feasible:
        print_costs(feasible, title)
    print_infeasible(costs)
    if {"exact", "maestro"} <= costs.keys():
        print()
        say("\n".join(cost_models.compare(layer, chip, given, {}).lines()))


def _print_chain(layer: Layer, given: Given, costs: dict[str, Cost], chip: Chip) -> None:
    from mapper.show.chain import print_chain_details
    from mapper.show.cost import print_infeasible
    from mapper.show.speed import speed_lines

    assert isinstance(chip, cost_models.Chain)
    assert isinstance(given, cost_models.ChainMapping)
    feasible = {name: cost for name, cost in costs.items() if cost.feasible}
    for number, (name, cost) in enumerate(feasible.items()):
        if len(feasible) > 1:
            say(f"\nCost model {name}\n" if number else f"Cost model {name}\n")
        print(f"{cost_models.hierarchy(chip)}\n")
        print(f"{cost_models.nest_of_loops(given.loops(layer, chip))}\n")
        print_chain_details(chip, cost, -(-layer.macs // chip.peak_macs_per_cycle))
        say("\n".join(speed_lines(chip, cost.latency_cycles, cost.energy_nj, cost.macs)))
    print_infeasible(costs)


def _as_mapping(layer: Layer, given: Mapping | Dataflow) -> Mapping | None:
    """The mapping that directives stand for; they need not be a two-level one."""
    if isinstance(given, cost_models.Mapping):
        return given
    try:
        return cost_models.Mapping.from_dataflow(given, layer)
    except cost_models.InfeasibleError:
        return None
