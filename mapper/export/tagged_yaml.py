"""YAML with tags such as ``!Component``, as Timeloop and AccelForge read it."""

from __future__ import annotations

from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict


class ToolNode(BaseModel):
    """A part of another tool's file: unknown fields are refused, None is left out.

    A subclass with a `tag` is written under it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Dumper(yaml.SafeDumper):
    pass


def _node(dumper: _Dumper, node: ToolNode) -> yaml.Node:
    names = {name: field.alias or name for name, field in type(node).model_fields.items()}
    fields = {names[name]: getattr(node, name) for name in names if getattr(node, name) is not None}
    tag = getattr(type(node), "tag", "")
    if tag:
        return dumper.represent_mapping(tag, fields)
    return dumper.represent_dict(fields)


def _flat(dumper: _Dumper, items: tuple[Any, ...] | list[Any]) -> yaml.Node:
    plain = all(isinstance(item, str | int | float) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=plain)


_Dumper.add_multi_representer(ToolNode, _node)
_Dumper.add_representer(tuple, _flat)
_Dumper.add_representer(list, _flat)


def tagged_text(content: Any) -> str:
    """A file's text; the same content gives the same text."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=100)
