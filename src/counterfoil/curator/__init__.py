"""The curator and its accounts: the wall, and what comes through it."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
