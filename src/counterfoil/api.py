"""From a sensitive table to a synthetic one, in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict, Unpack

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator.curator import Curator
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.ledger.ledger import Ledger
from counterfoil.methods.method import DEFAULT_DELTA, Synthesizer, SyntheticRelease
from counterfoil.methods.registry import method_named, method_type, require_fidelity_possible
from counterfoil.schema import Schema
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.synthesis import Synthesis


class CuratorOptions(TypedDict, total=False):
    """The further options of `Curator`."""

    privacy_unit: PrivacyUnit | None
    ledger: Ledger | None
    seed: int | None
    in_memory: bool | None


def synthesize(
    source: Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    method: str | Synthesizer = "aim",
    relation: NeighboringRelation | str | None = None,
    rows: int | None = None,
    fidelity: Fidelity | float | None = None,
    **options: Unpack[CuratorOptions],
) -> SyntheticRelease:
    """A synthetic copy of a sensitive table, (epsilon, delta)-differentially private, with its receipt.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        schema: the public facts about the table, or the path of the TOML file that states them.
        epsilon: of the guarantee; positive.
        delta: of the guarantee; in [0, 1), and 0 only for methods with pure privacy.
        method: a name of `counterfoil.methods.registry.method_names()`, or a synthesizer with its own parameters.
        relation: which tables are neighbors; where None, what the method needs (`replace_one` for
            "wasserstein-generator"), which is `add_or_remove_one` for all others.
        rows: how many rows to draw; about as many as the table has when None.
        fidelity: the share of the budget that buys error measures of the rows, or a `Fidelity`, which may name a target
            to certify linear models for; nothing is bought when None.
        options: `privacy_unit`, `ledger`, `seed` and `in_memory`, as `Curator` takes them.

    Returns:
        a `Synthesis` by methods for tables; a `PointSynthesis` by "evolution", "signed-measure" and "measure-tree".

    Raises:
        ValueError: in one sentence, before anything is charged.
        LedgerError: when the ledger refuses.
    """
    if rows is not None and (not isinstance(rows, int) or rows < 1):
        raise ValueError(f"`rows` must be a whole number of at least 1. Found {rows!r}.")
    facts = schema if isinstance(schema, Schema) else Schema.from_toml(schema)
    measured = Fidelity(fidelity) if isinstance(fidelity, (int, float)) else fidelity
    if isinstance(method, str):
        if measured is not None:
            require_fidelity_possible(method)
        target = None if measured is None else measured.target
        synthesizer: Synthesizer = method_named(method, focus=method_type(method).focus_for(target))
    else:
        synthesizer = method
    budget, ledger = Budget(epsilon, delta), options.get("ledger")
    if relation is None:
        relation = getattr(synthesizer, "default_relation", NeighboringRelation.ADD_OR_REMOVE_ONE)
    if ledger is not None:
        neighbors = Neighbors(NeighboringRelation(relation), options.get("privacy_unit"))
        ledger.require_room(budget, neighbors.describe())
    with Curator(source, facts, budget=budget, relation=relation, **options) as curator:
        return release_from(curator, synthesizer, rows=rows, fidelity=measured)


def release_from(
    curator: Curator,
    synthesizer: Synthesizer,
    *,
    rows: int | None = None,
    fidelity: Fidelity | None = None,
    progress: Progress = quiet,
) -> SyntheticRelease:
    """Spends the budget of an open curator, which stays open: the one way from a curator to a release.

    Args:
        curator: it must not have answered any query yet.
        synthesizer: how the release is made.
        rows: how many rows to draw; about as many as the table has when None.
        fidelity: the error measures to buy, or None.
        progress: called with what is being done and the share of the budget that is spent.

    Raises:
        ValueError: in one sentence, before anything is charged.
        TypeError: where error measures are asked for, and `synthesizer` gives something else than a `Synthesis`.
    """
    if fidelity is None:
        return synthesizer.synthesize(curator, rows=rows, progress=progress)
    fidelity.prepare(curator)
    made = synthesizer.synthesize(curator, rows=rows, progress=progress)
    if not isinstance(made, Synthesis):
        raise TypeError("Error measures can be bought for a `Synthesis`. Found a synthesizer of another kind.")
    progress("measuring fidelity", 1 - fidelity.share)
    return fidelity.measure(curator, made)
