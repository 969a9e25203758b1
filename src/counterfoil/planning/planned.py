"""A plan: rehearsals at each epsilon, and the search for the smallest one that is good enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import MOST_ROWS, NeighboringRelation
from counterfoil.accounting.sanity import require_moderate_delta
from counterfoil.curator.given import schema_given
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.evaluation.train_on_synthetic import require_scikit_learn
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.fidelity.schema_check import DEFAULT_SHARE, SchemaCheck
from counterfoil.methods.method import Synthesizer
from counterfoil.methods.registry import method_named, method_type, require_fidelity_possible
from counterfoil.planning.checked import (
    MOST_RUNS,
    epsilons_of,
    require_memory,
    require_whole,
    target_for,
)
from counterfoil.planning.like import like as like_table
from counterfoil.planning.like import read_like
from counterfoil.planning.outlook import Outlook
from counterfoil.planning.public_table import Codes, PublicTable, World
from counterfoil.planning.rehearsal import Reference, Rehearsal, Setting, Task, rehearse
from counterfoil.planning.search import Search
from counterfoil.planning.simulated import simulated
from counterfoil.planning.want import Want
from counterfoil.planning.workers import Workers
from counterfoil.schema import Schema
from counterfoil.schema.possibility import require_possible
from counterfoil.synthesis.progress import Progress, quiet

LIKE_IS_PUBLIC = (
    "`like` must be a public table: never the sensitive one, and no part of it. Nothing is charged for what a plan "
    "says about it."
)
_ONE_RECORD = (
    "Each record is protected by itself. Where a release will protect all records of a person, give `max_rows`: noise "
    "grows with it."
)
_TEST_ROWS = 1000
_PROBES = 7
"""Rehearsals that a search takes about, for the progress."""


def plan(
    schema: Schema | str | Path,
    *,
    rows: int | None = None,
    epsilons: Iterable[float] | float = (),
    like: Any = None,
    wants: Iterable[Want | str] = (),
    method: str | Synthesizer = "aim",
    delta: float | None = None,
    relation: NeighboringRelation | str | None = None,
    max_rows: int | None = None,
    target: str | None = None,
    focus: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    fidelity: float | None = None,
    check_schema: float | None = None,
    runs: int | None = None,
    jobs: int = 1,
    seed: int = 0,
    progress: Progress = quiet,
) -> Outlook:
    """What to expect of a release, rehearsed as a whole on records that are not sensitive.

    Nothing sensitive is read and no ledger is charged. Without `like`, records are simulated from the schema alone:
    some with skewed, weakly related columns, some with even, strongly related ones. The errors of most real tables are
    between the two; they may be outside. The same `seed` gives the same outlook.

    Args:
        schema: the public facts, or the path of the TOML file that states them.
        rows: about how many records the sensitive table has, as far as that is public; as many as `like` has where
            None.
        epsilons: what the release may cost, above 0 and at most 100 each.
        like: a public table with the same columns: a path or a frame. It must not be the sensitive table or a part of
            it.
        wants: bounds such as "pairs 0.08" or "income auc 0.89", for each of which the smallest epsilon is looked for
            that keeps it, from .01 to 100.
        method: a name of `counterfoil.methods.registry.method_names()`, or a synthesizer.
        delta: of the guarantee; what the method has by default where None.
        relation: which tables are neighbors; what the method has by default where None.
        max_rows: how many records of each person the release will protect together, as its `privacy_unit` says;
            `rows` is then how many are used, at most so many of each. Each record by itself where None.
        target: a column of 2 to 64 values, which logistic regression and gradient boosting predict after being trained
            on the synthetic rows; needs scikit-learn.
        focus: with "aim": the column whose relations are kept best; `target` where None.
        parameters: with a method's name: what it is made with, such as `{"workload": 3}`; those that are None are left
            out.
        fidelity: the share of the budget that will buy error measures, which rehearsals set aside.
        check_schema: the share for the schema check, likewise; .01 where None and the method can leave one, as
            `counterfoil synth` has it.
        runs: how many rehearsals there are at each epsilon in each world; where None, two in each of the two simulated
            ones, and three on a public table.
        jobs: how many processes rehearse at a time. With more than one, a script that calls this needs the guard
            `if __name__ == "__main__":`, because processes are spawned.
        seed: repeats the simulation and the noise, which protects nobody and has nobody to protect.
        progress: called with what is being done and the share of it that is done.

    Raises:
        ValueError: in one sentence, for what can't be planned, or for a table that a ledger beside it protects.
        ModuleNotFoundError: with a target, without scikit-learn.
    """
    facts = schema_given(schema, source=like)
    facts = facts if like is None else schema_for(like, facts)
    facts.require_confirmed()
    require_possible(facts)
    if rows is not None:
        require_whole("rows", rows, least=1)
    elif like is None:
        raise ValueError(
            "A plan needs the number of records. Found none: give `rows`, about how many there are, or rehearse on a "
            "public table of as many (`like`)."
        )
    runs = (2 if like is None else 3) if runs is None else runs
    require_whole("runs", runs, least=1, most=MOST_RUNS)
    require_whole("jobs", jobs, least=1)
    require_whole("seed", seed, least=0)
    if max_rows is not None:
        require_whole("max_rows", max_rows, least=1, most=MOST_ROWS)
    asked, wanted = epsilons_of(epsilons), tuple(Want.of(want) for want in wants)
    if not asked and not wanted:
        raise ValueError(
            "A plan needs an epsilon or something that is wanted. Found neither: give `epsilons`, such as 0.3, 1, 3."
        )
    goal = target_for(facts, target, wanted)
    if goal is not None:
        require_scikit_learn()
    setting, name = _setting(facts, method, delta, relation, goal, focus, parameters or {}, fidelity, check_schema)
    setting = replace(setting, max_rows=max_rows)
    if rows is not None:
        require_memory(rows, len(facts.domain.attributes), jobs)
    known = None if like is None else read_like(like, facts)
    notes = (*_notes(known, rows, tested=goal is not None), *([_ONE_RECORD] if max_rows is None else []))
    if rows is None:
        assert known is not None
        rows = len(next(iter(known.values())))
        require_memory(rows, len(facts.domain.attributes), jobs)
    worlds = (World.WEAK, World.STRONG) if known is None else (World.PUBLIC,)
    tables = [_table(facts, known, rows, world, run, seed, target=goal) for world in worlds for run in range(runs)]
    rehearsing = _Rehearsing(setting, tables, seed, progress)
    searches = [Search(want, world) for want in wanted for world in worlds]
    with Workers(min(jobs, max(len(tables) * max(len(asked), 1), 1))) as workers:
        rehearsing.run(workers, asked, searches)
    return Outlook(
        schema=facts.name,
        rows=rows,
        columns=len(facts.domain.attributes),
        method=name,
        delta=setting.delta,
        relation=setting.relation,
        target=goal,
        worlds=worlds,
        epsilons=asked,
        runs=runs,
        seed=seed,
        rehearsals=tuple(rehearsing.rehearsals),
        references=tuple(rehearsing.references),
        answers=tuple(search.answer() for search in searches),
        notes=notes,
        max_rows=max_rows,
    )


@dataclass
class _Rehearsing:
    """The tables of a plan, and what their rehearsals have shown so far."""

    setting: Setting
    tables: Sequence[PublicTable]
    seed: int
    progress: Progress
    rehearsals: list[Rehearsal] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    done: int = 0

    def run(self, workers: Workers, epsilons: Sequence[float], searches: Sequence[Search]) -> None:
        """Rehearses at all `epsilons`, then wherever the searches ask."""
        tested: list[float | None] = [None] if self.setting.target is not None else []
        first = [self._task(table, epsilon) for epsilon in (*tested, *epsilons) for table in self.tables]
        expected = len(first) + _PROBES * len(self.tables) * len({search.want for search in searches})
        self._take(workers.map(rehearse, first, self._told(expected)), searches)
        while probes := {(search.world, epsilon) for search in searches if (epsilon := search.next_epsilon())}:
            ordered = sorted(probes, key=lambda probe: (list(World).index(probe[0]), probe[1]))
            tasks = [self._task(table, eps) for world, eps in ordered for table in self.tables if table.world is world]
            self._take(workers.map(rehearse, tasks, self._told(expected)), searches)

    def _task(self, table: PublicTable, epsilon: float | None) -> Task:
        """The same seed at every epsilon: what differs between two is mostly the epsilon."""
        key = [self.seed, list(World).index(table.world), table.run, 1]
        return Task(self.setting, table, epsilon, int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0]))

    def _take(self, made: Sequence[Rehearsal | Reference], searches: Sequence[Search]) -> None:
        new = [one for one in made if isinstance(one, Rehearsal)]
        self.rehearsals += new
        self.references += [one for one in made if isinstance(one, Reference)]
        for search in searches:
            search.add(new)

    def _told(self, expected: int) -> Callable[[], None]:
        def tell() -> None:
            self.done += 1
            self.progress(f"rehearsing: {self.done} runs done", min(self.done / max(expected, 1), 0.99))

        return tell


def _setting(
    schema: Schema,
    method: str | Synthesizer,
    delta: float | None,
    relation: NeighboringRelation | str | None,
    target: str | None,
    focus: str | None,
    parameters: Mapping[str, Any],
    fidelity: float | None,
    check_schema: float | None,
) -> tuple[Setting, str]:
    """What every rehearsal has in common, and what the method is called."""
    if isinstance(method, str):
        kind = method_type(method)
        if fidelity is not None:
            require_fidelity_possible(method)
        focused = kind.focus_for(target, **parameters) if focus is None else focus
        synthesizer: Synthesizer = method_named(method, **{"focus": focused, **parameters})
        name = method
    else:
        if focus is not None or parameters:
            raise ValueError(
                "`focus` and `parameters` go with the name of a method. Found a synthesizer: state its own."
            )
        synthesizer, name = method, type(method).__name__
    given = getattr(synthesizer, "default_delta", 1e-9) if delta is None else delta
    require_moderate_delta(Budget(1.0, given).delta)
    default = getattr(synthesizer, "default_relation", NeighboringRelation.ADD_OR_REMOVE_ONE)
    able = bool(getattr(synthesizer, "can_reserve", True))
    share = (DEFAULT_SHARE if able else 0.0) if check_schema is None else check_schema
    if share:
        share = SchemaCheck(share).share
    if share and not able:
        raise ValueError(
            "`check_schema` needs a method that leaves a share of its budget. Found one that plans all of it before "
            "its first question: leave `check_schema` out."
        )
    measured = None if fidelity is None else Fidelity(fidelity)
    named = NeighboringRelation(default if relation is None else relation).value
    return Setting(schema, synthesizer, given, named, target, measured, share), name


def _table(
    schema: Schema, known: Codes | None, rows: int, world: World, run: int, seed: int, *, target: str | None
) -> PublicTable:
    if known is not None:
        return like_table(known, rows, run, seed=seed, tested=target is not None)
    test_rows = 0 if target is None else max(rows // 4, _TEST_ROWS)
    return simulated(schema, rows, world, run, seed=seed, target=target, test_rows=test_rows)


def _notes(known: Codes | None, rows: int | None, *, tested: bool) -> tuple[str, ...]:
    """What to know about the records, in sentences."""
    if known is None:
        notes = [
            "The records are simulated from the schema alone. The errors of most real tables are between the two, "
            "which are far apart where columns are counts or amounts. A public table that is alike (`like`) says more."
        ]
        compared = "Models are trained on the synthetic rows and tested on further simulated records of the same law."
    else:
        there = len(next(iter(known.values())))
        notes = [LIKE_IS_PUBLIC]
        if rows is None:
            notes.append(
                f"The sensitive table is taken to have as many records as the public one, {there:,}. Give `rows` where "
                "it has fewer or more: errors fall with the number of records."
            )
        elif there < rows:
            notes.append(
                f"The public table has {there:,} records, fewer than {rows:,}: they are drawn with replacement, so "
                "that what is chance among them counts as a relation."
            )
        elif there > rows:
            notes.append(f"Each rehearsal copies {rows:,} of the public table's {there:,} records, drawn at random.")
        compared = (
            "Models are trained on the synthetic rows and tested on a fifth of the records that were copied; the "
            "reference is trained on the other four fifths."
        )
    return (*notes, compared) if tested else tuple(notes)
