"""What is raised: each error, in the words of whoever can cause it."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
