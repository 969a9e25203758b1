"""The public names of this package."""

from counterfoil.training.bought_fairness import BoughtFairness as BoughtFairness
from counterfoil.training.bought_fairness import fairness_of as fairness_of
from counterfoil.training.classification import DPSGDClassifier as DPSGDClassifier
from counterfoil.training.fair_encoder import FairEncoder as FairEncoder
from counterfoil.training.fair_models import FairClassifier as FairClassifier
from counterfoil.training.fair_models import FairRegressor as FairRegressor
from counterfoil.training.pate import PATEClassifier as PATEClassifier
from counterfoil.training.sliced_wasserstein_generator import SlicedWassersteinGenerator as SlicedWassersteinGenerator
