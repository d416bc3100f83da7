"""One HTML page of an exploration that needs no other file."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from cost_models import prices_wires
from mapper.explore.design_figures import OBJECTIVES, gap_text
from mapper.explore.design_ranges import ExploreError
from mapper.explore.design_rows import COLUMN_OF, loop_nests
from mapper.explore.design_space import short_name, value_text
from mapper.explore.exploration import Exploration
from mapper.explore.explore_file import design_text, explored
from mapper.explore.hints import wires_line
from mapper.explore.ranking import rank_text
from mapper.report.fronts import FrontView
from marl_common import engineering
from marl_runs import made_with


def check_page() -> None:
    """Find out before anything is computed whether a page can be made.

    Raises:
        ExploreError: jinja2 is not installed.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise ExploreError(
            "--page needs jinja2, which is not installed; "
            "install it with: pip install 'marl-mapper[viz]'"
        ) from None


def render_page(exploration: Exploration, notes: Sequence[str]) -> str:
    """The page.

    Args:
        exploration: The designs.
        notes: Sentences above the pictures.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(_text("explore_page.html.j2"))
    made, chip = made_with(), exploration.designs[0].chip
    data = json.dumps(_data(exploration), separators=(",", ":"))
    return template.render(
        network=exploration.plan.network,
        objectives=", ".join(exploration.plan.objectives),
        style=Markup(_text("style.css")),
        script=Markup(_text("explore_page.js")),
        pictures=FrontView(explored(exploration), {}).numbered,
        data=Markup(data.replace("<", "\\u003c")),  # no name in it ends the script element
        wires=wires_line(chip) if prices_wires(chip) else "",
        notes=list(notes),
        command=made.command,
        versions=made.versions,
    )


def _text(name: str) -> str:
    return files("mapper.report").joinpath(name).read_text(encoding="utf-8")


def _data(exploration: Exploration) -> dict[str, Any]:
    """What the page's script draws: every design as a row, and the mappings of the front."""
    fields = list(exploration.designs[0].fields)
    rows = [_row(row, fields) for row in explored(exploration).rows]
    return {
        "names": list(OBJECTIVES),
        "fields": [short_name(path) for path in fields],
        "front": len(exploration.front),
        "rows": rows,
        "nests": _nests(exploration),
    }


def _row(row: Mapping[str, Any], fields: Sequence[str]) -> list[Any]:
    """Name, figures as texts, what is proven, the swept fields' values, figures as numbers."""
    figures = {name: row.get(COLUMN_OF[name]) for name in OBJECTIVES}
    texts = [
        "" if value is None else engineering(value, OBJECTIVES[name])
        for name, value in figures.items()
    ]
    numbers = [None if value is None else float(f"{value:.6g}") for value in figures.values()]
    gap = row.get("gap")
    proven = row.get("why") or "" if gap is None else gap_text(gap)
    if row.get("shares_rank"):
        proven += f", rank {rank_text(row['rank'], True)}"
    return [
        design_text(row),
        texts,
        proven,
        [value_text(path, row[path]) for path in fields],
        [*numbers, gap],
    ]


def _nests(exploration: Exploration) -> str:
    """The loop nests of the front, compressed: each text once, and the texts of each point."""
    texts: dict[str, int] = {}
    of = [
        [[layer, texts.setdefault(nest, len(texts))] for layer, nest in loop_nests(exploration, p)]
        for p in exploration.front
    ]
    packed = zlib.compress(json.dumps({"texts": list(texts), "of": of}).encode(), level=9)
    return base64.b64encode(packed).decode("ascii")
