"""Assignments: fields, text or members are edited.

An assignment is true where each parameter that it names belongs to one agent.
"""

from __future__ import annotations

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from benchmarks.edits.fields import Edit, Rng, doubled, edit_field, edit_file, judged
from mapper.clustering.assignment import Assignment, AssignmentError


def prepare(folder: Path) -> Edit:
    """Edits of an assignment of seven parameters to three agents."""
    Assignment(
        (("tile_K", "tile_C"), ("order", "parallel", "cluster"), ("tile_Y", "tile_X")),
        {"layer": "conv:K=4", "samples": 300, "policy": "mean"},
    ).save(folder / "a.json")
    good = (folder / "a.json").read_bytes()

    def edit(rng: Rng) -> tuple[str, bytes]:
        what = ["field", "field", "fields", "text", "members"][rng.integers(5)]
        fields = json.loads(good)
        for _ in range({"field": 1, "fields": 3}.get(what, 0)):
            edit_field(rng, fields, copy.deepcopy(fields))
        text = json.dumps(fields)
        if rng.integers(2):
            text = yaml.safe_dump(fields, sort_keys=False, default_flow_style=None)
        if what == "members":
            text = doubled(rng, json.dumps(fields))
        return what, edit_file(rng, text.encode()) if what == "text" else text.encode()

    return edit


judge = partial(judged, Assignment.load, AssignmentError)
"""What reading an assignment makes of a file."""


class _Strict(yaml.SafeLoader):
    """A loader that refuses a member named twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len({*names}) != len(names):
            raise ValueError("a member twice")
        return super().construct_mapping(node, deep)


def truth(path: Path, _judged: str) -> bool:
    """Whether a file gives each of its parameters to one agent."""
    try:
        data = yaml.load(path.read_text("utf-8"), _Strict)
        names = [name for agent in data["agents"] for name in agent]
        lists = all(isinstance(agent, list) and agent for agent in data["agents"])
        source = {} if data.get("source") is None else data["source"]
        texts = all(isinstance(name, str) for name in (*names, *source))
        kinds = isinstance(data["agents"], list) and isinstance(source, dict)
        alone = len({*names}) == len(names)
        return lists and texts and kinds and alone and set(data) <= {"agents", "source"}
    except (ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError):
        return False
