"""Private Evolution's parts, and whether a space of your own is one that it converges in."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
