"""Where networks are trained and applied."""

from __future__ import annotations

import torch


def require_device(name: str) -> None:
    """Refuses a device that this machine does not have.

    Raises:
        ValueError: which says what there is.
    """
    known = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    known += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if name not in known:
        raise ValueError(f"`device` must be one that this machine has: {', '.join(known)}. Found {name!r}.")
