"""What may be asked of the sensitive table: each query, what all queries are, and `vouch_for` your own."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
