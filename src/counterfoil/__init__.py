"""Differentially private synthetic data that comes with receipts.

Names are imported on first use, so that `import counterfoil` takes milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfoil.api import synthesize
    from counterfoil.curator.account import PrivacyUnit
    from counterfoil.curator.budget import Budget, NeighboringRelation
    from counterfoil.curator.curator import Curator
    from counterfoil.curator.ledger import Ledger
    from counterfoil.marginals.aim import AIM
    from counterfoil.marginals.direct import Direct
    from counterfoil.marginals.independent import Independent
    from counterfoil.marginals.mst import MST
    from counterfoil.marginals.workload import Workload
    from counterfoil.report.receipt import Receipt
    from counterfoil.schema import Schema
    from counterfoil.synthesis import Synthesis

__version__ = "0.1.0"

_HOMES = {
    "AIM": "counterfoil.marginals.aim",
    "Budget": "counterfoil.curator.budget",
    "Curator": "counterfoil.curator.curator",
    "Direct": "counterfoil.marginals.direct",
    "Independent": "counterfoil.marginals.independent",
    "Ledger": "counterfoil.curator.ledger",
    "MST": "counterfoil.marginals.mst",
    "NeighboringRelation": "counterfoil.curator.budget",
    "PrivacyUnit": "counterfoil.curator.account",
    "Receipt": "counterfoil.report.receipt",
    "Schema": "counterfoil.schema",
    "Synthesis": "counterfoil.synthesis",
    "Workload": "counterfoil.marginals.workload",
    "synthesize": "counterfoil.api",
}

__all__ = [
    "AIM",
    "MST",
    "Budget",
    "Curator",
    "Direct",
    "Independent",
    "Ledger",
    "NeighboringRelation",
    "PrivacyUnit",
    "Receipt",
    "Schema",
    "Synthesis",
    "Workload",
    "synthesize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'counterfoil' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
