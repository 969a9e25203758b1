"""`--show-values`: the value at fault, for the steward's own eyes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from counterfoil.schema.errors import UnplacedValue

if TYPE_CHECKING:
    from counterfoil.schema import Schema


@contextmanager
def showing_values(source: str, schema: Schema, *, show: bool) -> Iterator[None]:
    """Adds the value to an `UnplacedValue` raised inside, where `show`; else lets it pass as it is.

    Args:
        source: the table.
        schema: its public facts.
        show: whether its user asked for values.

    Raises:
        UnplacedValue: as raised inside.
    """
    try:
        yield
    except UnplacedValue as error:
        if not show:
            raise
        from counterfoil.curator.source_facts import value_at

        between = schema.between.get(error.column)
        stored = between.inputs if between else (error.column,)
        values = " and ".join(value_at(source, column, error.row, schema.encoding) for column in stored)
        shown = error.located(error.row, error.place, values)
        for note in getattr(error, "__notes__", ()):
            shown.add_note(note)
        raise shown from None
