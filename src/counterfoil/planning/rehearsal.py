"""One rehearsal: a whole release of a public table, with noise from a seed, compared with the table it copies."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.row_counts import RowCountWarning, UncountableRows
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Clique
from counterfoil.evaluation.marginals import compare_marginals
from counterfoil.evaluation.train_on_synthetic import MODELS, Score, score_models
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.fidelity.schema_check import SchemaCheck
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.methods.method import Synthesizer
from counterfoil.planning.public_table import Codes, PublicTable, World
from counterfoil.schema import Schema
from counterfoil.synthesis.table import decode, encode
from counterfoil.threads import on_one_thread

TRAINED = MODELS[:2]
"""Logistic regression and gradient boosting."""

_PERSON = "\x00person of a rehearsal"
"""A column that no schema has: a name of a file's column has no such sign."""


@dataclass(frozen=True)
class Setting:
    """What every rehearsal of a plan has in common with the release that it is for.

    Args:
        schema: the public facts.
        synthesizer: how a release is made.
        delta: of the guarantee.
        relation: which tables are neighbors, by its name.
        target: the column that models predict, or None.
        fidelity: the error measures whose share is set aside, or None.
        check_schema: the share that is set aside for the schema check; 0 for none.
        max_rows: how many records of each person are protected together; None for a single record.
    """

    schema: Schema
    synthesizer: Synthesizer
    delta: float
    relation: str
    target: str | None = None
    fidelity: Fidelity | None = None
    check_schema: float = 0.0
    max_rows: int | None = None


@dataclass(frozen=True)
class Task:
    """One rehearsal that is to be run.

    Args:
        setting: of the plan.
        table: what is copied.
        epsilon: of the guarantee; None to train the reference models alone.
        seed: of the noise.
    """

    setting: Setting
    table: PublicTable
    epsilon: float | None
    seed: int


@dataclass(frozen=True)
class Rehearsal:
    """What one rehearsal showed.

    Args:
        world: where its records come from.
        run: its number within that world, from 0.
        epsilon: of the guarantee.
        rows: how many synthetic rows were made.
        columns: the L1 distance between shares for each column, from 0 to 2.
        pairs: the same for each pair of columns; empty for a table of one column.
        scores: of the models that were trained on the synthetic rows, by the model's name; empty without a target.
    """

    world: World
    run: int
    epsilon: float
    rows: int
    columns: Mapping[str, float]
    pairs: Mapping[Clique, float]
    scores: Mapping[str, Score]

    @property
    def pair_error(self) -> float:
        """The mean over pairs; over columns where there is but one."""
        errors = self.pairs or self.columns
        return sum(errors.values()) / len(errors)

    @property
    def column_error(self) -> float:
        """The mean over columns."""
        return sum(self.columns.values()) / len(self.columns)


@dataclass(frozen=True)
class Reference:
    """What the same models reach when they are trained on the public records themselves."""

    world: World
    run: int
    scores: Mapping[str, Score]


@on_one_thread
def rehearse(task: Task) -> Rehearsal | Reference:
    """Runs one task.

    Raises:
        TypeError: for a table that is no `PublicTable`: noise from a seed protects nobody.
        ValueError: when the method refuses the schema or the budget.
    """
    setting, table = task.setting, task.table
    if type(table) is not PublicTable:
        raise TypeError(
            f"Only a `PublicTable` is rehearsed, because the noise comes from a seed. Found {type(table).__name__}: "
            "use `synthesize` for a sensitive table."
        )
    if task.epsilon is None:
        return Reference(table.world, table.run, _scores(setting, table.training, table, task.seed))
    made = _released(setting, table, task.epsilon, task.seed)
    compared = [
        compare_marginals(table.codes, made, setting.schema.domain, order=order).errors
        for order in (1, 2)
        if order <= len(made)
    ]
    return Rehearsal(
        table.world,
        table.run,
        task.epsilon,
        len(next(iter(made.values()))),
        {name: error for (name,), error in compared[0].items()},
        dict(compared[1]) if len(compared) > 1 else {},
        _scores(setting, made, table, task.seed),
    )


def _released(setting: Setting, table: PublicTable, epsilon: float, seed: int, rows: int | None = None) -> Codes:
    """Codes [m] of each attribute of a release; the budget's shares are set aside as `synthesize` does.

    Where the number of rows would be noise, so many are drawn as the table has, which is what a user is asked to say.
    """
    schema, budget = setting.schema, Budget(epsilon, setting.delta)
    frame = decode(schema, table.codes, np.random.default_rng(seed))
    unit = None
    if setting.max_rows is not None:  # as many of each person as are used, so that all records are
        unit = (_PERSON, setting.max_rows)
        frame = frame.append_column(_PERSON, pa.array(np.arange(frame.num_rows) // setting.max_rows))
    # A ledger in memory says that nothing has to be counted: the records are public.
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), budget)
    try:
        with (
            warnings.catch_warnings(),
            Curator(
                frame, schema, budget=budget, relation=setting.relation, privacy_unit=unit, ledger=ledger, seed=seed
            ) as curator,
        ):
            warnings.simplefilter("ignore", RowCountWarning)
            if setting.check_schema:
                SchemaCheck(setting.check_schema).prepare(curator)
            if setting.fidelity is not None:
                setting.fidelity.prepare(curator)
            return encode(schema, setting.synthesizer.synthesize(curator, rows=rows).to_arrow())
    except UncountableRows:
        return _released(setting, table, epsilon, seed, rows=frame.num_rows)


def _scores(setting: Setting, training: Codes, table: PublicTable, seed: int) -> dict[str, Score]:
    if setting.target is None:
        return {}
    domain = setting.schema.domain
    return score_models(training, table.test, domain, target=setting.target, models=TRAINED, seed=seed % 2**31)
