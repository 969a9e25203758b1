"""A warning of views and of row security: which rows there are may follow from the records of many people."""

from __future__ import annotations

import warnings

from counterfoil.callers import outside_the_package


class ViewWarning(UserWarning):
    """A release is made of a view, or under row security, whose query was read by nobody here; or of a virtual table of
    SQLite or a foreign table of PostgreSQL, which may be computed from others as a view is.

    All guarantees are for tables that differ in one row, or in the rows of one privacy unit. A view that ranks people,
    compares them with a mean of all, or takes the first thousand of them, changes in many rows where one person is
    added to the tables under it.
    """


def warn_of_view(name: str) -> None:
    """Gives the warning, each time that a release is begun.

    Args:
        name: of the view, or of the table that may be one.
    """
    warnings.warn(
        f"{name} is a view, or may be computed as one is: what is protected is its rows. It protects people only where "
        "each row follows from the records of one person, or of one privacy unit: no rank, no comparison with a mean "
        "or a count of others, no LIMIT, no row that joins two people.",
        ViewWarning,
        stacklevel=outside_the_package(),
    )


def warn_of_row_security(name: str) -> None:
    """Gives the warning of a table of which the role is shown some rows alone.

    Args:
        name: of the table.
    """
    warnings.warn(
        f"{name} has row security: only the rows that it shows to this role are read, and all that is released is "
        "about these. It protects people only where each row is shown, or not, by the records of one person, or of one "
        "privacy unit. For all rows, log in as a role that row security leaves out (its owner, or one with BYPASSRLS).",
        ViewWarning,
        stacklevel=outside_the_package(),
    )
