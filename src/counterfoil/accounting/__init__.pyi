"""The public names of `counterfoil.accounting`, each from its home."""

from counterfoil.accounting.budget import Budget as Budget
from counterfoil.accounting.calibration import largest_steps as largest_steps
from counterfoil.accounting.calibration import subsampled_noise_multiplier as subsampled_noise_multiplier
from counterfoil.accounting.charge import Charge as Charge
from counterfoil.accounting.composition import Composition as Composition
from counterfoil.accounting.curve import concentrated_delta as concentrated_delta
from counterfoil.accounting.curve import concentrated_epsilon as concentrated_epsilon
from counterfoil.accounting.curve import gaussian_delta as gaussian_delta
from counterfoil.accounting.curve import gaussian_epsilon as gaussian_epsilon
from counterfoil.accounting.curve import largest_mu as largest_mu
from counterfoil.accounting.curve import largest_rho as largest_rho
from counterfoil.accounting.event import ApproximateEvent as ApproximateEvent
from counterfoil.accounting.event import BoundedRangeEvent as BoundedRangeEvent
from counterfoil.accounting.event import GaussianEvent as GaussianEvent
from counterfoil.accounting.event import PrivacyEvent as PrivacyEvent
from counterfoil.accounting.event import PureEvent as PureEvent
from counterfoil.accounting.event import SubsampledGaussianEvent as SubsampledGaussianEvent
from counterfoil.accounting.event import bounded_range_of_mu as bounded_range_of_mu
from counterfoil.accounting.filter import ConcentratedFilter as ConcentratedFilter
from counterfoil.accounting.filter import Filter as Filter
from counterfoil.accounting.filter import GaussianFilter as GaussianFilter
from counterfoil.accounting.filter import PureFilter as PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation as NeighboringRelation
from counterfoil.accounting.neighbors import Neighbors as Neighbors
from counterfoil.accounting.neighbors import PrivacyUnit as PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan as PrivacyLossPlan
from counterfoil.accounting.renyi_filter import RenyiFilter as RenyiFilter
from counterfoil.accounting.replacement import ANY_QUESTION as ANY_QUESTION
from counterfoil.accounting.replacement import COUNTS_WITH_GAUSSIAN_NOISE as COUNTS_WITH_GAUSSIAN_NOISE

__all__: list[str]
