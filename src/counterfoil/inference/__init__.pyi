"""The public names of `counterfoil.inference`, each from its home."""

from counterfoil.inference.caveats import InferenceWarning as InferenceWarning
from counterfoil.inference.contingency import chi2 as chi2
from counterfoil.inference.covariances import correlation as correlation
from counterfoil.inference.covariances import covariance as covariance
from counterfoil.inference.edges import graph as graph
from counterfoil.inference.evidence import Evidence as Evidence
from counterfoil.inference.finding import Finding as Finding
from counterfoil.inference.finding import Test as Test
from counterfoil.inference.finding import Unanswerable as Unanswerable
from counterfoil.inference.least_squares import ols as ols
from counterfoil.inference.linear_risk import risk as risk
from counterfoil.inference.m_estimation import m_estimate as m_estimate
from counterfoil.inference.means import mean as mean
from counterfoil.inference.principal_components import pca as pca
from counterfoil.inference.proportions import proportion as proportion

__all__: list[str]
