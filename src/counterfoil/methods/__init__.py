"""From a curator to a release: the methods, one file each, and the steps that they share."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
