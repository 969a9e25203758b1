"""What can be concluded about the real table from a release: intervals and tests that count the noise."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
