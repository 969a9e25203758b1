"""Which relations between columns a release was made to keep, where its receipt says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.listing import first_few

_MATTER = "asks for those that matter."
_MOST_NAMED = 5
"""Sets that were left out."""
FEWEST_LOOKED_AT = 20
"""Columns of a table in which AIM looks for hidden classes of records, where all pairs are counted in one query."""


def three_columns(document: Mapping[str, Any]) -> str:
    """That relations of three columns follow from those of two, and what would buy them; empty where that is not so.

    It is so where a method that counts marginals counted pairs, and no larger ones: also where its workload has larger
    ones, for noisy scores choose what is counted, and may choose none of them.
    """
    method = document.get("method", {})
    flags = {"aim": "`--workload 3`", "mst": "`--method aim --workload 3`"}
    counted = list(_counted(document))
    if method.get("name") not in flags or max(map(len, counted), default=0) != 2:
        return ""
    if len({name for clique in counted for name in clique}) < 3:
        return ""
    parameters = method.get("parameters", {})
    workload, taken = parameters.get("workload", 2), parameters.get("classes_taken", 0)
    classes = f", and {taken:,} hidden classes of records," if taken else ""
    implied = f"Relations of three or more columns are only what those of one and two columns{classes} imply"
    if max(map(len, workload), default=0) > 2 if isinstance(workload, list) else workload not in (1, 2):
        return (
            f"{implied}: the workload has larger sets, and noisy scores chose none of them to be counted. "
            "`--method direct --workload FILE` counts the sets that it lists."
        )
    return f"{implied}; {flags[method['name']]} buys counts of three."


def pairs_left_out(document: Mapping[str, Any]) -> str:
    """That some pairs of columns were not counted together, and what asks for them; empty where that is not so.

    It is so of wide tables, of whose columns a tree joins each to few others. Where half of the pairs are counted, a
    relation of the others may be lost all the same: they are chosen by their error in counts of cells, in which a
    correlation of .2 between two columns of many values is small. What a look at all pairs has is not counted.
    """
    flags = {"aim": "`--workload FILE`", "mst": "`--method aim --workload FILE`"}
    name = document.get("method", {}).get("name")
    columns = len({one for clique in _counted(document) for one in clique})
    pairs = len(pairs_counted_well(document))
    possible = columns * (columns - 1) // 2
    looks = noisy_looks(document)
    if name not in flags or not (pairs or looks) or pairs >= possible:
        return ""
    together = ("none was", "1 was")[pairs] if pairs < 2 else f"{pairs:,} were"
    remedy = _sets_left_out(document) or f"{flags[name]} {_MATTER}"
    if looks:
        return f"Of {possible:,} pairs of columns {together} counted by themselves{_others(document)} {remedy}"
    return (
        f"Of {possible:,} pairs of columns {together} counted together: relations of the others are only what these "
        f"imply, and may be far weaker than in the table, or show where it has none. {remedy}"
    )


def _others(document: Mapping[str, Any]) -> str:
    """What the relations of pairs are that were counted in a look at all of them alone."""
    taken = document["method"].get("parameters", {}).get("classes_taken", 0)
    if taken:
        return (
            f": relations of the others are what {taken:,} hidden classes of records say of them, which were fitted to "
            "noisy counts of all pairs, and may be weaker than in the table."
        )
    return (
        ". All were counted at once besides, with much noise, to see whether hidden classes of records explain them. "
        "The rows do not follow these counts: relations of the others are only what the counted ones imply, and may be "
        "far weaker than in the table, or show where it has none."
    )


def _sets_left_out(document: Mapping[str, Any]) -> str:
    """Which sets of a workload that names its sets were not counted; empty where it names none."""
    workload = document.get("method", {}).get("parameters", {}).get("workload")
    if not isinstance(workload, list):
        return ""
    counted = [set(clique) for clique in _counted(document, but=noisy_looks(document))]
    asked = [list(clique) for clique in workload if len(set(clique)) > 1]
    left = [clique for clique in asked if not any(set(clique) <= columns for columns in counted)]
    if not left:
        return "All sets of the workload are among them."
    named = first_few([" with ".join(clique) for clique in left], _MOST_NAMED, between="; ")
    return (
        f"Noisy scores left out {len(left):,} of the {len(asked):,} sets of the workload: "
        f"{named}. `--method direct --workload FILE` "
        "counts the sets that it lists."
    )


def noisy_looks(document: Mapping[str, Any]) -> frozenset[int]:
    """The numbers of the charges, from 1, in which AIM counted all pairs at once to look for hidden classes of records.

    Each pair then has far more noise than one that was counted by itself, and the rows follow the classes alone: a
    relation that does not show there may be one all the same. What AIM's model follows has a query for each marginal.
    """
    if document.get("method", {}).get("name") != "aim":
        return frozenset()
    return frozenset(
        number
        for number, charge in enumerate(document.get("charges", ()), 1)
        if charge.get("query") == MarginalCounts.name and _is_look(charge.get("parameters", {}).get("cliques", ()))
    )


def _is_look(cliques: Sequence[Sequence[str]]) -> bool:
    columns = len({name for clique in cliques for name in clique})
    pairs = columns * (columns - 1) // 2
    return columns >= FEWEST_LOOKED_AT and len(cliques) == pairs and all(len(clique) == 2 for clique in cliques)


def pairs_counted_well(document: Mapping[str, Any]) -> set[frozenset[str]]:
    """The pairs that were counted together by something else than a noisy look at all of them."""
    cliques = _counted(document, but=noisy_looks(document))
    return {frozenset(pair) for clique in cliques for pair in combinations(sorted(set(clique)), 2)}


def _counted(document: Mapping[str, Any], *, but: frozenset[int] = frozenset()) -> Iterator[tuple[str, ...]]:
    """The columns of each marginal that was counted, but by the charges of these numbers."""
    for number, charge in enumerate(document.get("charges", ()), 1):
        if charge.get("query") == MarginalCounts.name and number not in but:
            yield from (tuple(clique) for clique in charge.get("parameters", {}).get("cliques", ()))
