"""``mapper evaluate --network``: what the answer of a whole network costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import layers
from mapper.fusing.answer_file import AnswerError, read_answer
from mapper.fusing.network_answer import NetworkAnswer
from mapper.show.kept_table import print_evaluated
from mapper.staying.network_result import NetworkResult
from marl_runs import print_json


def evaluate_network(path: Path, model: str, as_json: bool) -> None:
    """Evaluate every node of an answer again, check all its figures, and print them.

    Raises:
        AnswerError: It is not what its mappings cost.
        ValueError: The network, the chip or an option cannot be.
    """
    answer = read_answer(path)
    graph = layers.graph_of(answer.network)
    try:
        checked = NetworkAnswer(answer, graph, model)
        found = checked.evaluated()
    except AnswerError as error:
        raise AnswerError(f"{path}: {error}") from None
    if as_json:
        print_json({"network": answer.network, "cost_model": model, **_values(found)})
    else:
        print_evaluated(answer.network, model, checked.setting.chip, found)


def _values(found: NetworkResult) -> dict[str, Any]:
    return {
        **found.totals(),
        "nodes": [
            {"node": step.node.name, "latency_cycles": step.latency, "energy_nj": step.energy,
             "dram_bytes": step.dram}
            for step in found.steps
        ],
    }  # fmt: skip
