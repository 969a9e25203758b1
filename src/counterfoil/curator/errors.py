"""What is raised of a table that can't be read."""

from __future__ import annotations


class SourceError(ValueError):
    """A table that can't be read; the sentence holds no value of a record."""
