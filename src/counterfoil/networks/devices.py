"""Where networks are trained and applied."""

from __future__ import annotations

import torch


def device_or_cpu(name: str) -> str:
    """`name` where this machine has that device, and "cpu" elsewhere: a network says the same there up to rounding."""
    return name if name in _known() else "cpu"


def require_device(name: str) -> None:
    """Refuses a device that this machine does not have.

    Raises:
        ValueError: which says what there is.
    """
    known = _known()
    if name not in known:
        raise ValueError(f"`device` must be one that this machine has: {', '.join(known)}. Found {name!r}.")


def _known() -> list[str]:
    numbered = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return ["cpu", *(["cuda"] if torch.cuda.is_available() else []), *numbered]
