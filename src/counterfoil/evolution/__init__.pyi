"""The public names of `counterfoil.evolution`, each from its home."""

from counterfoil.evolution.contraction import Contraction as Contraction
from counterfoil.evolution.contraction import estimate_contraction as estimate_contraction

__all__: list[str]
