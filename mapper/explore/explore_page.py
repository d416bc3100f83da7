"""One HTML page of an exploration that needs no other file."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from mapper.explore.design_figures import OBJECTIVES
from mapper.explore.design_ranges import ExploreError
from mapper.explore.design_rows import loop_nests
from mapper.explore.design_space import label_of
from mapper.explore.exploration import Exploration, FrontPoint
from mapper.explore.front_plot import front_figure
from marl_common import atomic_write, engineering
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
            "--page needs jinja2 and matplotlib, which are not installed; "
            "install them with: pip install 'marl-mapper[viz]'"
        ) from None


def render_page(exploration: Exploration, notes: Sequence[str]) -> str:
    """The page.

    Args:
        exploration: The designs.
        notes: Sentences below the table.
    """
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(
        files("mapper.explore").joinpath("explore_page.html.j2").read_text(encoding="utf-8")
    )
    made = made_with()
    return template.render(
        network=exploration.plan.network,
        objectives=", ".join(exploration.plan.objectives),
        picture=_picture(exploration),
        names=list(OBJECTIVES),
        points=[_shown(exploration, point) for point in exploration.front],
        notes=list(notes),
        command=made.command,
        versions=made.versions,
    )


def write_page(path: Path, exploration: Exploration, notes: Sequence[str]) -> None:
    """Write the page, whole or not at all."""
    page = render_page(exploration, notes)
    with atomic_write(path) as draft:
        draft.write_text(page, encoding="utf-8")


def gap_text(gap: float) -> str:
    """How far a point is from what is proven: ``optimal``, or ``within 0.13 %``."""
    if gap <= 1e-9:
        return "optimal"
    return f"within {100 * gap:.2g} %" if gap < 10 else "unknown"


def _shown(exploration: Exploration, point: FrontPoint) -> dict[str, Any]:
    return {
        "design": label_of(point.design.chip),
        "figures": [engineering(point.figures[name], unit) for name, unit in OBJECTIVES.items()],
        "gap": gap_text(point.gap),
        "nests": loop_nests(exploration, point),
    }


def _picture(exploration: Exploration) -> str:
    stream = io.BytesIO()
    front_figure(exploration).savefig(stream, format="png", dpi=110)
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
