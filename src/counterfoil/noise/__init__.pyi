"""The public names of `counterfoil.noise`, each from its home."""

from counterfoil.noise.gaussian import GaussianNoise as GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise as LaplaceNoise
from counterfoil.noise.noise import CountNoise as CountNoise
from counterfoil.noise.noise import Noise as Noise
from counterfoil.noise.noise import Norm as Norm
from counterfoil.noise.noise import SelectionNoise as SelectionNoise
from counterfoil.noise.randomness import Randomness as Randomness
from counterfoil.noise.selection import ExponentialSelection as ExponentialSelection
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise as ThresholdedGaussianNoise
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise as ThresholdedLaplaceNoise

__all__: list[str]
