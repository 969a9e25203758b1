"""The public names: what `import counterfoil` gives, each from its home."""

from counterfoil.accounting.budget import Budget as Budget
from counterfoil.accounting.neighbors import NeighboringRelation as NeighboringRelation
from counterfoil.accounting.neighbors import PrivacyUnit as PrivacyUnit
from counterfoil.accounting.row_counts import RowCountWarning as RowCountWarning
from counterfoil.accounting.sanity import LooseBudgetWarning as LooseBudgetWarning
from counterfoil.api import synthesize as synthesize
from counterfoil.curator.curator import Curator as Curator
from counterfoil.curator.unnoted import UnnotedWarning as UnnotedWarning
from counterfoil.curator.view_warning import ViewWarning as ViewWarning
from counterfoil.domain.workload import Workload as Workload
from counterfoil.evaluation.schema_report import check_without_privacy as check_without_privacy
from counterfoil.fidelity.acceptance import Acceptance as Acceptance
from counterfoil.fidelity.fidelity import Fidelity as Fidelity
from counterfoil.fidelity.schema_check import SchemaWarning as SchemaWarning
from counterfoil.first_schema import buy_schema as buy_schema
from counterfoil.first_schema import draft_schema as draft_schema
from counterfoil.geometry.euclidean import Ball as Ball
from counterfoil.geometry.euclidean import Box as Box
from counterfoil.geometry.table_space import TableSpace as TableSpace
from counterfoil.ledger.ledger import Ledger as Ledger
from counterfoil.ledger.no_ledger import NoLedgerWarning as NoLedgerWarning
from counterfoil.ledger.no_ledger import RestWithoutLedgerWarning as RestWithoutLedgerWarning
from counterfoil.ledger.no_ledger import UncountedPurchaseWarning as UncountedPurchaseWarning
from counterfoil.ledger.source import SourceIdentity as SourceIdentity
from counterfoil.looks import evaluate_without_privacy as evaluate_without_privacy
from counterfoil.methods.aim import AIM as AIM
from counterfoil.methods.direct import Direct as Direct
from counterfoil.methods.evolution import PrivateEvolution as PrivateEvolution
from counterfoil.methods.independent import Independent as Independent
from counterfoil.methods.measure_tree import MeasureTree as MeasureTree
from counterfoil.methods.mst import MST as MST
from counterfoil.methods.reweighting import Reweighting as Reweighting
from counterfoil.methods.signed_measure import SignedMeasure as SignedMeasure
from counterfoil.methods.wasserstein_generator import WassersteinGenerator as WassersteinGenerator
from counterfoil.receipt.acceptance_bounds import Bound as Bound
from counterfoil.receipt.receipt import Receipt as Receipt
from counterfoil.schema.bought import RestUnspentWarning as RestUnspentWarning
from counterfoil.schema.schema import Schema as Schema
from counterfoil.schema.unit_advice import RowProtectionWarning as RowProtectionWarning
from counterfoil.synthesis.point_synthesis import PointSynthesis as PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis as Synthesis
from counterfoil.training.changed_rows import ChangedRowsWarning as ChangedRowsWarning
from counterfoil.training.noise_warnings import NoisyGradientsWarning as NoisyGradientsWarning
from counterfoil.training.noise_warnings import NoisyVotesWarning as NoisyVotesWarning

__version__: str
__all__: list[str]
