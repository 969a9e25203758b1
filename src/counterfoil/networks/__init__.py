"""Neural networks in double precision, with exact bounds on what one record adds to a gradient.

The modules of this room need PyTorch, which the extra `counterfoil[torch]` installs; this one does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

SMALL = 2**28
"""Parameters times records of a batch below which threads of PyTorch cost more than they save."""


def require_torch() -> None:
    """Call it before importing a module of this room.

    Raises:
        ModuleNotFoundError: where PyTorch or safetensors is missing.
    """
    missing = [name for name in ("torch", "safetensors") if find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"Networks need the packages torch and safetensors. Found no {' and no '.join(missing)}: "
            "Install counterfoil[torch].",
            name=missing[0],
        )


@contextmanager
def few_threads(*, query_size: int) -> Iterator[None]:
    """One thread of PyTorch for a small step: they wait for each other longer than they work.

    Args:
        query_size: parameters times records of the batch.
    """
    import torch

    before = torch.get_num_threads()
    if query_size < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
