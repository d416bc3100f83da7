"""The device that tensors live on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


class DeviceError(ValueError):
    """A device that cannot be used here."""


def usable_device(name: str) -> torch.device:
    """The device of this name, tried.

    Args:
        name: As torch names it; ``"auto"`` takes a GPU where there is one.

    Raises:
        DeviceError: It cannot be used here.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise DeviceError(f"device {name!r} cannot be used ({reason}); try 'cpu'.") from None
    return device
