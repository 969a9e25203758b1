"""The public names of `counterfoil.curator`, each from its home."""

from counterfoil.curator.account import Account as Account
from counterfoil.curator.curator import Curator as Curator
from counterfoil.curator.filter_account import FilterAccount as FilterAccount
from counterfoil.noise.answer import Answer as Answer
from counterfoil.noise.answer import Choice as Choice

__all__: list[str]
