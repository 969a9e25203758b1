"""From a sensitive table to a synthetic one, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypedDict, Unpack

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.sanity import require_moderate_delta, warn_of_loose_budget
from counterfoil.callers import outside_the_package
from counterfoil.curator.curator import Curator
from counterfoil.curator.given import ledger_given, schema_given
from counterfoil.curator.kept_release import kept_release, place_of_answers
from counterfoil.curator.release_facts import release_facts
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.curator.rest import words_beside_a_rest
from counterfoil.curator.stored_orders import orders_lost
from counterfoil.curator.unnoted import unnoted_at_worst
from counterfoil.fidelity.acceptance import Acceptance
from counterfoil.fidelity.acceptance_runs import JudgedRuns, withheld
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.fidelity.schema_check import DEFAULT_SHARE, SchemaCheck, SchemaWarning
from counterfoil.ledger.ledger import Ledger
from counterfoil.ledger.no_ledger import warn_without_ledger
from counterfoil.methods.method import DEFAULT_DELTA, Synthesizer, SyntheticRelease, time_limit_for
from counterfoil.methods.registry import JUDGED, class_that_takes, method_named, method_type, require_fidelity_possible
from counterfoil.schema import Schema
from counterfoil.schema.bought import Bought, RestUnspentWarning
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.known_losses import known_losses
from counterfoil.schema.lookup_gaps import require_lookups_met
from counterfoil.schema.unit_advice import warn_of_row_protection
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.row_memory import require_rows_fit
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit
from counterfoil.synthesis.unit_sizes import UnitHistogram


class CuratorOptions(TypedDict, total=False):
    """The further options of `Curator`."""

    privacy_unit: PrivacyUnit | tuple[str, int] | None
    ledger: Ledger | str | Path | None
    seed: int | None
    in_memory: bool | None


def synthesize(
    source: Any,
    schema: Schema | str | Path,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    method: str | Synthesizer = "aim",
    relation: NeighboringRelation | str | None = None,
    rows: int | None = None,
    fidelity: Fidelity | float | None = None,
    check_schema: float | None = None,
    unit_sizes: float = 0,
    confirm_delta: float | None = None,
    accept: Acceptance | None = None,
    time_limit: TimeLimit | float | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    rest: bool = False,
    **options: Unpack[CuratorOptions],
) -> SyntheticRelease:
    """A synthetic copy of a sensitive table, (epsilon, delta)-differentially private, with its receipt.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table. Types that the storage
            states are taken as public. Those of a frame that `pandas.read_csv` made were guessed from the records, so
            that one record can change them: give the path of the file instead, whose types are then bought.
        schema: the public facts about the table, or the path of the TOML file that states them.
        epsilon: of the guarantee; positive. One above 10 is warned of (`LooseBudgetWarning`). It must be said, but with
            `rest`.
        delta: of the guarantee; in [0, 1), and 0 only for methods with pure privacy. 1e-9 where None.
        method: a name of `counterfoil.methods.registry.method_names()`, or a synthesizer with its own parameters.
        relation: which tables are neighbors; where None, what the method needs (`replace_one` for
            "wasserstein-generator"), which is `add_or_remove_one` for all others.
        rows: how many rows to draw; about as many as the table has when None.
        fidelity: the share of the budget that buys error measures of the rows, or a `Fidelity`, which may name a target
            to certify linear models for; nothing is bought when None.
        check_schema: the share of the budget that buys noisy counts of the values which were clamped, moved, sent to
            `other` or not understood, as on the command line: .01 where None and the method can leave one; nothing is
            bought at 0, and the receipt says so. What stands out is warned of (`SchemaWarning`).
        unit_sizes: the share of the budget, such as 0.02, that buys a histogram of rows per privacy unit, which the
            identifiers of the synthetic rows then follow; nothing is bought at 0, and the receipt says so.
        confirm_delta: the same as `delta`, which one of .1 or more needs, because it promises next to nothing.
        accept: criteria that the release must meet, by noisy measures that a share of the budget buys; the whole budget
            is charged before the first run. None asks nothing of it.
        time_limit: seconds of processor time that the fits of a run may take, all together; reading, counting and
            drawing are not limited. When it is reached, the release has the best model so far, and its receipt how far
            that is from the best one. None for as long as they take, which depends on no clock.
        keep: a file, or a folder, where each noisy answer is kept from the first charge until the release is whole, so
            that a run that ended early can be finished; nothing is kept when None.
        resume: finishes the run that left its answers at `keep`, without paying for them again. The other arguments
            must be those that it was begun with.
        rest: spends what the purchase of the schema left of a budget, of which it took a share (`buy_schema`):
            `epsilon` and `delta` are then those of both together, as they were stated there, also where None. A ledger
            that counted the purchase has reserved them already. Without it the two budgets add up, which is warned of
            (`RestUnspentWarning`).
        options: `privacy_unit`, `ledger`, `seed` and `in_memory`, as `Curator` takes them. Without a privacy unit each
            row is protected by itself, which is warned of where the schema has an identifier (`RowProtectionWarning`).

    Returns:
        a `Synthesis` by methods for tables; a `PointSynthesis` by "evolution", "signed-measure" and "measure-tree".

    Raises:
        ValueError: in one sentence, before anything is charged.
        TypeError: for a schema, ledger, privacy unit or `accept` of another type, an argument that is none, and no
            `epsilon`.
        LedgerError: when the ledger refuses.
        OSError: where answers can't be kept.
        Withheld: where no run met the criteria of `accept`; what was charged stays charged.
    """
    _require_known(options)
    if accept is not None and not isinstance(accept, Acceptance):
        raise TypeError(
            "`accept` must be an `Acceptance`, with the bounds that a release must keep. Found "
            f"{type(accept).__name__}: give one, or leave it out."
        )
    require_rows_fit(rows, 1)
    if isinstance(method, type):
        raise ValueError(f"`method` must be a name, or a synthesizer such as `{method.__name__}()`. Found the class.")
    facts, unit = schema_given(schema, source=source), PrivacyUnit.of(options.get("privacy_unit"))
    measured = Fidelity(fidelity) if isinstance(fidelity, (int, float)) else fidelity
    if isinstance(method, str):
        if accept is not None:
            require_fidelity_possible(method, asked=JUDGED)
        if measured is not None:
            require_fidelity_possible(method)
        target = None if measured is None else measured.target
        synthesizer: Synthesizer = method_named(method, focus=method_type(method).focus_for(target))
    else:
        synthesizer = method
    if rest:
        require_rest_possible(synthesizer, judged=accept is not None, seed=options.get("seed"))
    check_schema = schema_check_share(check_schema, synthesizer)
    limit = time_limit_for(time_limit, synthesizer)
    budget = _budget(epsilon, delta, facts.bought if rest else None)
    require_moderate_delta(budget.delta, confirm_delta)
    warn_of_loose_budget(budget)
    if relation is None:
        relation = getattr(synthesizer, "default_relation", NeighboringRelation.ADD_OR_REMOVE_ONE)
    place = None
    if keep is not None or resume:
        place = _place_of_answers(keep, synthesizer, resume=resume, judged=accept is not None, seed=options.get("seed"))
    with ExitStack() as opened:
        kept = None
        if place is not None:
            stated = release_facts(
                source,
                schema_for(source, facts, unit=unit.column if unit else ""),
                synthesizer,
                method=method if isinstance(method, str) else type(method).__name__,
                budget=budget,
                relation=NeighboringRelation(relation).value,
                unit=unit,
                rows=rows,
                fidelity=None if measured is None else (measured.share, measured.target, measured.protected),
                check_schema=check_schema,
                unit_sizes=unit_sizes,
                time_limit=None if limit is None else limit.seconds,
                has_ledger=options.get("ledger") is not None,
                rest=rest,
            )
            kept = opened.enter_context(kept_release(place, stated, resume=resume))
        ledger = ledger_given(options.get("ledger"), opened)
        if ledger is not None and not rest and (kept is None or not kept.is_reserved):
            ledger.require_room(budget, Neighbors(NeighboringRelation(relation), unit).describe())
        given = CuratorOptions(**{**options, "privacy_unit": unit, "ledger": ledger})
        curator = opened.enter_context(Curator(source, facts, budget=budget, relation=relation, **given))
        require_rows_fit(rows, len(curator.domain.attributes))
        if kept is not None:
            kept.keep(curator)
        if rest:
            curator.spend_rest()
        elif (words := words_beside_a_rest(facts.bought, ledger)) is not None:
            warnings.warn(f"{words} `rest=True` spends its rest.", RestUnspentWarning, stacklevel=outside_the_package())
        _warn_of_schema(curator.schema)
        if lost := orders_lost(source, curator.schema):
            warnings.warn(lost, SchemaWarning, stacklevel=outside_the_package())
        warn_of_row_protection(curator.schema, unit)
        make = partial(
            release_from,
            synthesizer=synthesizer,
            rows=rows,
            fidelity=measured,
            check_schema=check_schema,
            unit_sizes=unit_sizes,
            time_limit=limit,
        )
        if accept is None:
            released = make(curator)
            with unnoted_at_worst(curator):
                curator.record_receipt(released.receipt.digest)
                curator.close()
            return _warned(released)
        require_judgeable(synthesizer)
        runs = JudgedRuns(curator, accept)
        if ledger is None:
            warn_without_ledger()  # what runs warn of is not shown
        made = runs.first_accepted(make)
        if made is None:
            raise withheld(budget)
        return _warned(made)


def _budget(epsilon: float | None, delta: float | None, bought: Bought | None) -> Budget:
    """The budget that is stated; what is not of it is that of which a share bought the schema, whose rest is spent.

    Raises:
        TypeError: where nothing says what the release may cost.
        ValueError: for a budget that is none.
    """
    whole = None if bought is None else bought.whole
    if epsilon is None and whole is None:
        raise TypeError(
            "`epsilon` says the most that this release may cost, and is needed but to spend the rest of a budget of "
            "which a share bought the schema. Found none: add it, such as epsilon=1."
        )
    known = Budget(1.0, DEFAULT_DELTA) if whole is None else whole
    return Budget(known.epsilon if epsilon is None else epsilon, known.delta if delta is None else delta)


def _require_known(options: Mapping[str, Any]) -> None:
    """Refuses arguments that `synthesize` does not have.

    Raises:
        TypeError: with the nearest one.
    """
    known = [name for name, each in signature(synthesize).parameters.items() if each.kind is each.KEYWORD_ONLY]
    for name in options:
        if name not in CuratorOptions.__annotations__:
            hint = did_you_mean(name, [*known, *CuratorOptions.__annotations__])
            if (kind := class_that_takes(name)) is not None:
                hint = f" It belongs to a method: give it there, as in method={kind}({name}=...)."
            if name == "target":
                hint = " Name it in `fidelity=Fidelity(share, target=...)`, and the relations with it are kept best."
            if name == "max_rows":
                hint = " It belongs to the privacy unit: give both, as in privacy_unit=('person', 3)."
            raise TypeError(f"`synthesize` has no argument {name!r}.{hint}")


def _warn_of_schema(schema: Schema) -> None:
    """Says, before anything is charged, where derived columns will be empty, and values that rules name are lost.

    Raises:
        SchemaError: where a lookup table can only be met by chance.
    """
    require_lookups_met(schema)
    for loss in known_losses(schema):
        warnings.warn(loss, SchemaWarning, stacklevel=outside_the_package())


def _warned(made: SyntheticRelease) -> SyntheticRelease:
    """The release, of whose values that the schema has no place for the caller was warned."""
    for sentence in made.receipt.document.get("schema_check", {}).get("warnings", ()):
        warnings.warn(sentence, SchemaWarning, stacklevel=outside_the_package())
    return made


def _place_of_answers(
    keep: str | Path | None, synthesizer: Synthesizer, *, resume: bool, judged: bool, seed: int | None
) -> Path:
    """The file where answers are kept.

    Raises:
        TypeError: for a `keep` of another type.
        ValueError: where nothing can be kept, or `keep` names no file for it.
    """
    if keep is None:
        raise ValueError("`resume` finishes a run whose answers were kept. Found no `keep`: say where they are.")
    why = "a release with a `seed` is made again at no cost" if seed is not None else ""
    why = why or ("a release with `accept` is charged as a whole" if judged else "")
    if isinstance(synthesizer, method_type("wasserstein-generator")):
        why = "the steps of this method are not kept"
    if why:
        raise ValueError(f"`keep` and `resume` are for answers that were paid for one by one: {why}. Leave them out.")
    return place_of_answers(keep, resume=resume)


def require_judgeable(synthesizer: Synthesizer) -> None:
    """Refuses a method whose releases no measures can be bought for.

    Raises:
        ValueError: for one of points, or one that plans its whole budget.
    """
    if getattr(synthesizer, "gives_points", False) or not getattr(synthesizer, "can_reserve", True):
        raise ValueError(
            "Acceptance needs a method for tables that leaves a share of its budget for the measures that decide. "
            f"Found {type(synthesizer).__name__}: choose another, such as 'aim'."
        )


def require_rest_possible(synthesizer: Synthesizer, *, judged: bool, seed: int | None = None) -> None:
    """Refuses a method that can't spend the rest of a budget of which a share bought the schema.

    Raises:
        ValueError: for one of points, or that plans its whole budget beforehand, for runs that are judged, and for a
            seed, whose release protects nobody and would have the rest for good.
    """
    if seed is not None:
        raise ValueError(
            "The rest of a budget is for one release. Found a seed, with which none is private: leave it out."
        )
    if judged:
        raise ValueError(
            "Runs that are judged are paid for with a budget of their own. Found `rest` with `accept`: buy the schema "
            "with another epsilon, or leave one of them out."
        )
    if getattr(synthesizer, "gives_points", False) or not getattr(synthesizer, "can_reserve", True):
        raise ValueError(
            "`rest` needs a method for tables that spends its budget step by step, such as 'aim' or 'mst'. Found "
            f"{type(synthesizer).__name__}: buy the schema for it with an epsilon of its own."
        )


def schema_check_share(asked: float | None, synthesizer: Synthesizer) -> float:
    """The share of the budget for the schema check: what is asked for, or the default where that is None.

    By default it is `DEFAULT_SHARE`, and 0 for a method that plans its whole budget before its first question.

    Raises:
        ValueError: for a share that is not at least 0 and below 1, or one above 0 for such a method.
    """
    able = bool(getattr(synthesizer, "can_reserve", True))
    if asked is None:
        return DEFAULT_SHARE if able else 0.0
    if not asked:
        return 0.0
    if not able:
        raise ValueError(
            "`check_schema` needs a method that leaves a share of its budget. Found one that plans all of it before "
            "its first question: leave `check_schema` out, and spend a small budget on `counterfoil check --epsilon`."
        )
    return SchemaCheck(asked).share


def release_from(
    curator: Curator,
    synthesizer: Synthesizer,
    *,
    rows: int | None = None,
    fidelity: Fidelity | None = None,
    check_schema: float = 0,
    unit_sizes: float = 0,
    progress: Progress = quiet,
    time_limit: TimeLimit | float | None = None,
) -> SyntheticRelease:
    """Spends the budget of an open curator, which stays open: the one way from a curator to a release.

    Args:
        curator: it must not have answered any query yet.
        synthesizer: how the release is made.
        rows: how many rows to draw; about as many as the table has when None.
        fidelity: the error measures to buy, or None.
        check_schema: the share of the budget that buys counts of cells which were not placed as declared; none at 0.
        unit_sizes: the share of the budget that buys a histogram of rows per privacy unit; none at 0.
        progress: called with what is being done and the share of the work that is done.
        time_limit: of the fits of the synthesizer, or seconds; None for as long as they take.

    Raises:
        ValueError: in one sentence, before anything is charged.
        TypeError: where error measures are asked for, and `synthesizer` gives something else than a `Synthesis`.
    """
    limit = time_limit_for(time_limit, synthesizer)
    limited: dict[str, Any] = {} if limit is None else {"time_limit": limit}
    check = SchemaCheck(check_schema) if check_schema else None
    units = UnitHistogram(unit_sizes) if unit_sizes else None
    if units is not None:
        units.prepare(curator)
    if check is not None:
        check.prepare(curator)
    if fidelity is not None:
        fidelity.prepare(curator)
    own = 1 - curator.reserved
    made = synthesizer.synthesize(
        curator, rows=rows, progress=lambda message, share: progress(message, share * own), **limited
    )
    if check is not None:
        progress("checking the schema", own)
        made = check.measure(curator, made)
    if units is not None:
        progress("counting rows per unit", own)
        made = units.measure(curator, made)
    if fidelity is None:
        return made
    if not isinstance(made, Synthesis):
        raise TypeError("Error measures can be bought for a `Synthesis`. Found a synthesizer of another kind.")
    progress("measuring fidelity", 1 - fidelity.share)
    return fidelity.measure(curator, made)
