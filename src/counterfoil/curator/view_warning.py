"""A warning of views: what is protected is their rows, and a row may follow from the records of many people."""

from __future__ import annotations

import warnings

from counterfoil.callers import outside_the_package


class ViewWarning(UserWarning):
    """A release is made of a view, whose query was read by nobody here.

    All guarantees are for tables that differ in one row, or in the rows of one privacy unit. A view that ranks people,
    compares them with a mean of all, or takes the first thousand of them, changes in many rows where one person is
    added to the tables under it.
    """


def warn_of_view(name: str) -> None:
    """Gives the warning, each time that a release is begun.

    Args:
        name: of the view.
    """
    warnings.warn(
        f"{name} is a view: what is protected is its rows. It protects people only where each row follows from the "
        "records of one person, or of one privacy unit: no rank, no comparison with a mean or a count of others, no "
        "LIMIT, no row that joins two people.",
        ViewWarning,
        stacklevel=outside_the_package(),
    )
