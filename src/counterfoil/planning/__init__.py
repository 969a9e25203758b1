"""What to expect of a release before anything is spent, rehearsed on public or simulated records."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
