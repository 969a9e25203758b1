"""From noisy marginals to a distribution over tables, and how far it can be off."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
