"""A sentence for the receipt on moments whose cells are of a day or more, so that times of day are made up.

Public: it follows from the schema alone.
"""

from __future__ import annotations

from counterfoil.listing import first_few
from counterfoil.schema import Schema
from counterfoil.schema.instant import Datetime
from counterfoil.schema.made_up_times import made_up_parts

_MOST_NAMED = 5


def even_moments(schema: Schema) -> list[str]:
    """One sentence for each kind of cells, and none where all moments are counted by parts of a day.

    Args:
        schema: of the release.
    """
    lost: dict[str, list[str]] = {}
    for column in schema.synthesized:
        if isinstance(column, Datetime) and (parts := made_up_parts(column)):
            lost.setdefault(parts, []).append(column.name)
    return [
        f"Moments of {first_few(names, _MOST_NAMED)} are drawn anywhere within cells of a day or more, which are "
        f"all that was counted: their {parts} are made up. Where these matter, a finer `resolution` counts them, or a "
        'column of their own in the table. Where the table has days alone, all at midnight, declare kind = "date".'
        for parts, names in lost.items()
    ]
