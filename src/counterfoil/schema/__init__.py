"""Public facts about a table: columns, rules, and the TOML file that states them."""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
