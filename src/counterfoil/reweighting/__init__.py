"""Reference densities and families of functions for `counterfoil.Reweighting`."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
