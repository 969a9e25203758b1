"""What is added to answers: each noise, and what all noises are."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
