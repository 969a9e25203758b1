"""The public names of `counterfoil.reweighting`, each from its home."""

from counterfoil.features.convex_loss import ConvexLoss as ConvexLoss
from counterfoil.features.functions import Functions as Functions
from counterfoil.features.functions import Share as Share
from counterfoil.features.functions import Value as Value
from counterfoil.features.losses import LossNet as LossNet
from counterfoil.features.moments import Moments as Moments
from counterfoil.reweighting.fitting import Fit as Fit
from counterfoil.reweighting.histogram import PerturbedHistogram as PerturbedHistogram
from counterfoil.reweighting.point_reference import BernsteinDensity as BernsteinDensity
from counterfoil.reweighting.point_reference import Tree as Tree
from counterfoil.reweighting.reference import Product as Product
from counterfoil.reweighting.reference import Reference as Reference
from counterfoil.reweighting.reference import Uniform as Uniform

__all__: list[str]
