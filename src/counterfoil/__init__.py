"""Differentially private synthetic data that comes with receipts.

The public names and their homes are listed in `__init__.pyi`, and are imported on first use, so that
`import counterfoil` takes milliseconds. What mechanisms are composed of has packages of its own: `accounting`, `noise`,
`queries`, `graphical_model`, `geometry`, `curator`, `methods` and `errors`.
"""

from counterfoil.public_names import lazily

__version__ = "0.13.0"

__getattr__, __dir__ = lazily(__name__)
