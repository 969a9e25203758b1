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
    from counterfoil.curator.no_ledger import NoLedgerWarning
    from counterfoil.evolution.euclidean import Ball, Box
    from counterfoil.evolution.measure_tree import MeasureTree
    from counterfoil.evolution.point_synthesis import PointSynthesis
    from counterfoil.evolution.private_evolution import PrivateEvolution
    from counterfoil.evolution.signed_measure import SignedMeasure
    from counterfoil.evolution.table_space import TableSpace
    from counterfoil.fidelity.fidelity import Fidelity
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
    "Ball": "counterfoil.evolution.euclidean",
    "Box": "counterfoil.evolution.euclidean",
    "Budget": "counterfoil.curator.budget",
    "Curator": "counterfoil.curator.curator",
    "Direct": "counterfoil.marginals.direct",
    "Fidelity": "counterfoil.fidelity.fidelity",
    "Independent": "counterfoil.marginals.independent",
    "Ledger": "counterfoil.curator.ledger",
    "MST": "counterfoil.marginals.mst",
    "MeasureTree": "counterfoil.evolution.measure_tree",
    "NeighboringRelation": "counterfoil.curator.budget",
    "NoLedgerWarning": "counterfoil.curator.no_ledger",
    "PointSynthesis": "counterfoil.evolution.point_synthesis",
    "PrivacyUnit": "counterfoil.curator.account",
    "PrivateEvolution": "counterfoil.evolution.private_evolution",
    "Receipt": "counterfoil.report.receipt",
    "Schema": "counterfoil.schema",
    "SignedMeasure": "counterfoil.evolution.signed_measure",
    "Synthesis": "counterfoil.synthesis",
    "TableSpace": "counterfoil.evolution.table_space",
    "Workload": "counterfoil.marginals.workload",
    "synthesize": "counterfoil.api",
}

__all__ = [
    "AIM",
    "MST",
    "Ball",
    "Box",
    "Budget",
    "Curator",
    "Direct",
    "Fidelity",
    "Independent",
    "Ledger",
    "MeasureTree",
    "NeighboringRelation",
    "NoLedgerWarning",
    "PointSynthesis",
    "PrivacyUnit",
    "PrivateEvolution",
    "Receipt",
    "Schema",
    "SignedMeasure",
    "Synthesis",
    "TableSpace",
    "Workload",
    "synthesize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'counterfoil' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
