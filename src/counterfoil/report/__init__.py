"""Pages that show a release, from what was released alone."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
