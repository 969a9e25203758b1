"""The public names of `counterfoil.queries`, each from its home."""

from counterfoil.curator.queries.fidelity_fairness import GroupPredictions as GroupPredictions
from counterfoil.curator.queries.fidelity_marginals import LargestMarginalDistance as LargestMarginalDistance
from counterfoil.curator.queries.fidelity_marginals import TotalMarginalDistance as TotalMarginalDistance
from counterfoil.curator.queries.fidelity_model import CorrectPredictions as CorrectPredictions
from counterfoil.curator.queries.fidelity_model import TotalLoss as TotalLoss
from counterfoil.curator.queries.fidelity_moments import LargestMomentGap as LargestMomentGap
from counterfoil.curator.queries.fidelity_transport import ColumnWasserstein as ColumnWasserstein
from counterfoil.curator.queries.function_averages import FunctionAverages as FunctionAverages
from counterfoil.curator.queries.generator_gradient import GeneratorGradient as GeneratorGradient
from counterfoil.curator.queries.lattice import LatticeKernelDensity as LatticeKernelDensity
from counterfoil.curator.queries.loss_gradient import LossGradient as LossGradient
from counterfoil.curator.queries.marginal import MarginalCounts as MarginalCounts
from counterfoil.curator.queries.nearest import NearestNeighborHistogram as NearestNeighborHistogram
from counterfoil.curator.queries.partition import PartitionCounts as PartitionCounts
from counterfoil.curator.queries.query import Block as Block
from counterfoil.curator.queries.query import CountQuery as CountQuery
from counterfoil.curator.queries.query import Query as Query
from counterfoil.curator.queries.query import Records as Records
from counterfoil.curator.queries.query import SelectionQuery as SelectionQuery
from counterfoil.curator.queries.registry import vouch_for as vouch_for
from counterfoil.curator.queries.selection import MarginalDistances as MarginalDistances
from counterfoil.curator.queries.selection import WorstApproximatedMarginal as WorstApproximatedMarginal
from counterfoil.curator.queries.transport_gradient import TransportGradient as TransportGradient
from counterfoil.curator.queries.votes import TeacherVotes as TeacherVotes

__all__: list[str]
