"""What every floor above may use: files read and written safely, suggestions, quantities, text."""

from common.files import atomic_write
from common.printable import brief, printable
from common.reading import compose_yaml, parse_yaml, read_json, read_text, read_yaml, yaml_loader
from common.suggest import suggest
from common.units import engineering

__all__ = [
    "atomic_write",
    "brief",
    "compose_yaml",
    "engineering",
    "parse_yaml",
    "printable",
    "read_json",
    "read_text",
    "read_yaml",
    "suggest",
    "yaml_loader",
]
