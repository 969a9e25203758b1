"""Neural networks in double precision, with exact bounds on what one record adds to a gradient.

The modules of this room need PyTorch, which the extra `counterfoil[torch]` installs; this one does not.
"""

from __future__ import annotations

from importlib.util import find_spec


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
