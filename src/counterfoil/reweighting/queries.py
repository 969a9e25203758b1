"""Which averages of the records a reweighting asks for, as its user names them."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import DEFAULT_MAX_CELLS, Workload
from counterfoil.features.function_family import FunctionFamily
from counterfoil.features.functions import Functions, functions_of_toml
from counterfoil.features.losses import SPELLING, LossNet
from counterfoil.features.moments import Moments
from counterfoil.schema import Schema

_NAMED_AT_MOST = 5
_NAMED = re.compile(r"(marginals|moments):([0-9])")

Wish = str | Workload | FunctionFamily | Sequence[Any]
"""`marginals:K`, `moments:K`, `losses:...`, a TOML file, a workload, a family, or functions as (name, function, lower,
upper)."""

AskedQuery = MarginalCounts | FunctionAverages


def require_named(wish: Wish | None) -> None:
    """Refuses a name that no schema gives a meaning.

    Raises:
        ValueError: for an order that does not exist.
    """
    named = _NAMED.fullmatch(wish) if isinstance(wish, str) else None
    if named and named[1] == "marginals" and named[2] == "0":
        raise ValueError(f"The order of marginals must be a whole number of at least 1. Found {wish!r}.")
    if named and named[1] == "moments" and named[2] not in "12":
        raise ValueError(f"Moments must have `order` 1 or 2. Found {wish!r}.")


def query_of(wish: Wish, schema: Schema, *, counted: bool) -> AskedQuery:
    """The query that `wish` names.

    Args:
        wish: see `Wish`.
        schema: the public facts.
        counted: whether a family must ask for the number of records too.

    Raises:
        ValueError: for a wish that names no averages, in a sentence.
    """
    if isinstance(wish, Workload):
        return _marginals(wish, schema)
    if isinstance(wish, FunctionFamily):
        if counted and not wish.counted:
            raise ValueError("The number of records is not public here: make the family with `counted=True`.")
        return FunctionAverages(wish)
    if isinstance(wish, (str, Path)):
        return _named(str(wish), schema, counted)
    if isinstance(wish, Sequence):
        if not wish:
            raise ValueError("`queries` must name at least one function. Found an empty list.")
        return FunctionAverages(Functions.of(schema, [*wish], counted=counted))
    raise ValueError(
        "`queries` must be marginals:K, moments:K, a TOML file, a Workload, or functions as (name, function, lower, "
        f"upper). Found {type(wish).__name__}."
    )


def every_marginal(wish: Wish, schema: Schema) -> tuple[Clique, ...]:
    """All marginals of the order that `wish` names, however large; none where it names no order."""
    if not isinstance(wish, str) or not (named := _NAMED.fullmatch(wish)) or named[1] != "marginals":
        return ()
    names = schema.domain.attributes
    return tuple(combinations(names, min(int(named[2]), len(names))))


def fewest_marginals(wish: Wish, schema: Schema) -> int:
    """How many marginals `wish` has at least, without a list of them; 0 where it names no order."""
    if not isinstance(wish, str) or not (named := _NAMED.fullmatch(wish)) or named[1] != "marginals":
        return 0
    order = min(int(named[2]), len(schema.domain.attributes))
    return math.comb(len(Workload.surely_within(schema.domain, order)), order)


def small_enough(query: MarginalCounts, merged: Domain) -> MarginalCounts:
    """`query` without the marginals that are too large even on the domain where rare values are merged; columns alone
    where all are."""
    kept = tuple(clique for clique in query.cliques if merged.size(clique) <= DEFAULT_MAX_CELLS)
    return MarginalCounts(query.domain, kept or tuple((name,) for name in merged.attributes))


def left_out(wished: Sequence[Clique], asked: Sequence[Clique]) -> list[str]:
    """A sentence about the marginals among `wished` that are too large to be among `asked`, if there are any."""
    skipped = [clique for clique in wished if clique not in set(asked)]
    if not skipped:
        return []
    named = "; ".join(" x ".join(clique) for clique in skipped[:_NAMED_AT_MOST])
    more = f"; and {len(skipped) - _NAMED_AT_MOST} others" if len(skipped) > _NAMED_AT_MOST else ""
    return [
        f"Marginals of more than {DEFAULT_MAX_CELLS:,} cells were not bought, so that nothing tells these relations: "
        f"{named}{more}. Give their columns fewer values or bins, or use aim or mst."
    ]


def functions_in(query: AskedQuery) -> int:
    """How many averages the query asks for."""
    if isinstance(query, MarginalCounts):
        return sum(map(query.domain.size, query.cliques))
    return len(query.family.names)


def described(query: AskedQuery) -> Any:
    """The query's public parameters for a receipt."""
    if isinstance(query, MarginalCounts):
        return {"cliques": [list(clique) for clique in query.cliques]}
    listed = {"listed": query.family.listed()} if isinstance(query.family, Functions) else {}
    return query.family.describe() | listed


def _named(text: str, schema: Schema, counted: bool) -> AskedQuery:
    if named := _NAMED.fullmatch(text):
        kind, order = named[1], int(named[2])
        if kind == "moments":
            return FunctionAverages(Moments(schema, order, counted))
        return _marginals(Workload.of_order(schema.domain, order), schema)
    if text.startswith("losses:"):
        return FunctionAverages(LossNet.spelled(text, schema, counted=counted))
    if not text.endswith(".toml"):
        raise ValueError(
            f"`queries` must be marginals:K, moments:1, moments:2, {SPELLING}, or a TOML file. Found {text!r}."
        )
    if not Path(text).is_file():
        raise ValueError(f"There is no file {text!r} of queries.")
    try:
        keys = set(tomllib.loads(Path(text).read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"The queries {text!r} can't be read as TOML: {error}.") from error
    if keys == {"cliques"}:
        return _marginals(Workload.from_toml(text, schema.domain), schema)
    return FunctionAverages(Functions.of(schema, functions_of_toml(text, schema), counted=counted))


def _marginals(workload: Workload, schema: Schema) -> MarginalCounts:
    domain = schema.domain
    cliques = dict.fromkeys(map(domain.canonical, workload.weights))
    return MarginalCounts(domain, tuple(cliques))
