"""The public names of `counterfoil.graphical_model`, each from its home."""

from counterfoil.domain.coarsening import Coarsening as Coarsening
from counterfoil.domain.domain import Domain as Domain
from counterfoil.domain.workload import Workload as Workload
from counterfoil.graphical_model.error_bars import ErrorBar as ErrorBar
from counterfoil.graphical_model.error_bars import ErrorBars as ErrorBars
from counterfoil.graphical_model.error_bars import measured_bounds as measured_bounds
from counterfoil.graphical_model.estimation import Estimate as Estimate
from counterfoil.graphical_model.estimation import estimate as estimate
from counterfoil.graphical_model.graphical_model import GraphicalModel as GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal as NoisyMarginal
from counterfoil.graphical_model.noisy_marginal import combine as combine
from counterfoil.graphical_model.noisy_marginal import estimate_total as estimate_total
from counterfoil.graphical_model.outcome import FitOutcome as FitOutcome
from counterfoil.graphical_model.outcome import Status as Status
from counterfoil.graphical_model.warm_estimator import WarmEstimator as WarmEstimator

__all__: list[str]
