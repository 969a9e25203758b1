"""What a release may cost, between which tables it protects, and how costs add up."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
