"""Which relations between columns a release was made to keep, where its receipt says so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.listing import first_few

_MATTER = "asks for those that matter."
_MOST_NAMED = 5
"""Sets that were left out."""
_MUCH = 4
"""Times the noise of pairs that were counted by themselves."""


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
    implied = "Relations of three or more columns are only what those of one and two columns imply"
    workload = method.get("parameters", {}).get("workload", 2)
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
    correlation of .2 between two columns of many values is small. A look at all pairs with much noise counts none.
    """
    flags = {"aim": "`--workload FILE`", "mst": "`--method aim --workload FILE`"}
    name = document.get("method", {}).get("name")
    looks = noisy_looks(document)
    columns = len({one for clique in _counted(document) for one in clique})
    pairs = len(pairs_counted_well(document))
    possible = columns * (columns - 1) // 2
    if name not in flags or not 0 < pairs < possible:
        return ""
    together = "1 was" if pairs == 1 else f"{pairs:,} were"
    remedy = _sets_left_out(document) or f"{flags[name]} {_MATTER}"
    if looks:
        return (
            f"Of {possible:,} pairs of columns {together} counted well together. All were counted at once besides, "
            f"with more than {_MUCH:g} times the noise, in which only strong relations show: those of the others may "
            f"be far weaker than in the table, or show where it has none. {remedy}"
        )
    return (
        f"Of {possible:,} pairs of columns {together} counted together: relations of the others are only what these "
        f"imply, and may be far weaker than in the table, or show where it has none. {remedy}"
    )


def _sets_left_out(document: Mapping[str, Any]) -> str:
    """Which sets of a workload that names its sets were not counted; empty where it names none."""
    workload = document.get("method", {}).get("parameters", {}).get("workload")
    if not isinstance(workload, list):
        return ""
    counted = [set(clique) for clique in _counted(document)]
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
    """The numbers of the charges, from 1, that counted most pairs at once, and with far more noise than any pair had
    that was counted by itself: a relation that does not show there may be one all the same."""
    counted = {
        number: [clique for clique in charge.get("parameters", {}).get("cliques", ()) if len(clique) > 1]
        for number, charge in enumerate(document.get("charges", ()), 1)
        if charge.get("query") == MarginalCounts.name
    }
    noise = {number: document["charges"][number - 1].get("noise", {}).get("scale", 0.0) for number in counted}
    columns = len({name for cliques in counted.values() for clique in cliques for name in clique})
    alone = max((noise[number] for number, cliques in counted.items() if len(cliques) == 1), default=math.inf)
    most = columns * (columns - 1) / 4
    return frozenset(
        number for number, cliques in counted.items() if len(cliques) > max(most, 1) and noise[number] > _MUCH * alone
    )


def pairs_counted_well(document: Mapping[str, Any]) -> set[frozenset[str]]:
    """The pairs that were counted together by something else than a noisy look at all of them."""
    cliques = _counted(document, but=noisy_looks(document))
    return {frozenset(pair) for clique in cliques for pair in combinations(sorted(set(clique)), 2)}


def _counted(document: Mapping[str, Any], *, but: frozenset[int] = frozenset()) -> Iterator[tuple[str, ...]]:
    """The columns of each marginal that was counted, but by the charges of these numbers."""
    for number, charge in enumerate(document.get("charges", ()), 1):
        if charge.get("query") == MarginalCounts.name and number not in but:
            yield from (tuple(clique) for clique in charge.get("parameters", {}).get("cliques", ()))
