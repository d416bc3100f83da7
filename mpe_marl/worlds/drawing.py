"""Pictures of a particle world: landmarks, movers, and the trails that these leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import atomic_write
from mpe_marl.errors import MpeError
from mpe_marl.worlds.spec import AnySpec

SIZE = 400
"""Pixels along a side."""
_SEEN = 1.3  # half width of what is seen, or of where the farthest mover is
_AGENT, _PREY, _LANDMARK, _PAPER = "#0072b2", "#009e73", "#555555", "#ffffff"
_DOT = 0.06  # radius of a landmark that movers pass through
_STEP_MS = 100  # a step takes 0.1 s in the world as well


def draw(spec: AnySpec, states: NDArray[Any]) -> NDArray[np.uint8]:
    """Draw a world as it is, with the way its movers came.

    Args:
        spec: The world.
        states: ``(T, state_dim)`` states, the latest one last.

    Returns:
        ``(SIZE, SIZE, 3)`` red, green and blue.

    Raises:
        MpeError: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise MpeError("drawing a world needs Pillow; pip install 'marl-mapper[viz]'.") from None
    movers = 2 * spec.n_movers
    places = states[:, :movers].reshape(len(states), -1, 2)
    landmarks = states[-1, 2 * movers : 2 * movers + 2 * spec.n_landmarks].reshape(-1, 2)
    scale = SIZE / 2 / max(_SEEN, float(abs(places[-1]).max()) + 0.1)
    image = Image.new("RGB", (SIZE, SIZE), _PAPER)
    pen = ImageDraw.Draw(image)
    for (x, y), radius in zip(_pixels(landmarks, scale), spec.landmark_radii, strict=True):
        reach = scale * (radius or _DOT)
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), fill=_LANDMARK)
    for m in range(spec.n_movers):
        colour = _AGENT if m < spec.first_team else _PREY
        trail = _pixels(places[:, m], scale)
        pen.line([tuple(p) for p in trail.tolist()], fill=colour, width=2)
        (x, y), reach = trail[-1], scale * float(spec.movers[m, 0])
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), outline=colour, width=3)
    return np.asarray(image)


def _pixels(places: NDArray[Any], scale: float) -> NDArray[np.float64]:
    """``(K, 2)`` pixels of places; y grows upwards in the world."""
    return SIZE / 2 + scale * places * [1.0, -1.0]


def write_gif(frames: Sequence[NDArray[np.uint8]], path: Path) -> None:
    """Write pictures as a GIF that plays as fast as the world does.

    Args:
        frames: ``(H, W, 3)`` pictures.
        path: File to write, whole or not at all.

    Raises:
        MpeError: Pillow is not installed, or the file cannot be written.
    """
    try:
        from PIL import Image
    except ImportError:
        raise MpeError("a GIF needs Pillow; pip install 'marl-mapper[viz]'.") from None
    first, *others = (Image.fromarray(frame).quantize(32) for frame in frames)
    try:
        with atomic_write(path) as draft:
            first.save(draft, "GIF", save_all=True, append_images=others, duration=_STEP_MS, loop=0)
    except OSError as error:
        raise MpeError(
            f"cannot write {path} ({error.strerror}); expected a file name in a folder that "
            "exists. Name another."
        ) from None
