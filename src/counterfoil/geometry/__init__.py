"""Spaces of points, and how they are cut into cells."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
