"""Acceptance declared beforehand: bounds on noisy measures of quality, by which a release is released or withheld."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from counterfoil.accounting.repeated import require_attempts
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.features.one_against_rest import target_of
from counterfoil.fidelity.fidelity import Measuring, Question, columns_in_words
from counterfoil.fidelity.synthetic_counts import MOST_CELLS, compared_cliques
from counterfoil.geometry.grid import SnapGrid
from counterfoil.receipt.acceptance import BIASED, acceptance_section, values_of
from counterfoil.receipt.acceptance_bounds import ACCURACY, PAIR, PAIRS, TRANSPORT, Bound
from counterfoil.receipt.acceptance_criteria import DEFAULT_SHARE, Criteria, read_criteria
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.toml_text import toml_table
from counterfoil.synthesis.synthesis import Synthesis

_PURPOSE = "acceptance"


@dataclass(frozen=True)
class Acceptance:
    """What a release must keep to be released, and how often its run may be repeated.

    Args:
        bounds: all of which a run has to keep.
        share: of the budget, for the noisy measures that decide.
        attempts: K: a run that fails is followed by another with probability 1 - 1/K, so that there are at most K on
            average. All of them are within the budget (see `accounting.repeated`), so that each has less of it.
        text: the criteria as TOML; written from `bounds` and `share` where it is left out.

    Raises:
        ValueError: for no bounds, another share or number of attempts, or a text that says something else.
    """

    bounds: tuple[Bound, ...]
    share: float = DEFAULT_SHARE
    attempts: int = 1
    text: str = ""

    def __post_init__(self) -> None:
        require_attempts(self.attempts)
        if not (isinstance(self.bounds, tuple) and all(isinstance(bound, Bound) for bound in self.bounds)):
            raise ValueError(f"`bounds` must be a tuple of `Bound`. Found {type(self.bounds).__name__}.")
        if not self.text:
            tables = [toml_table("[[bound]]", bound.facts()) for bound in self.bounds]
            object.__setattr__(self, "text", "\n".join([f"share = {self.share!r}\n", *tables]))
        criteria = self.criteria
        if (criteria.bounds, criteria.share) != (self.bounds, self.share):
            raise ValueError("`text` must state the bounds and the share. Found others in it: leave it out.")

    @staticmethod
    def from_toml(path: str | Path, attempts: int = 1) -> Acceptance:
        """The criteria in the file at `path` (see `receipt.acceptance_criteria`).

        Raises:
            ValueError: in one sentence, for a file that says something else.
            OSError: when it can't be read.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{path} must be TOML text in UTF-8. Found another kind of file.") from None
        criteria = read_criteria(text, str(path))
        return Acceptance(criteria.bounds, criteria.share, attempts, text)

    @property
    def criteria(self) -> Criteria:
        """The text and what it says."""
        return read_criteria(self.text)

    def require_possible(self, schema: Schema) -> None:
        """Checks that what is bounded can be measured of releases with `schema`; nothing is read.

        Raises:
            ValueError: naming the column.
        """
        for bound in self.bounds:
            _require_measurable(bound, schema)

    def prepare(self, curator: Curator) -> None:
        """Sets the share aside before anything is asked.

        Raises:
            ValueError: for bounds on what can't be measured; nothing is charged.
        """
        self.require_possible(curator.schema)
        curator.reserve(self.share, _PURPOSE)

    def judge(self, curator: Curator, synthesis: Synthesis) -> Synthesis | None:
        """The release with the section `acceptance` on its receipt where all bounds are kept; else None.

        The answer is a function of noisy answers that were charged, the last of the release.
        """
        account = curator.account
        assert isinstance(account, FilterAccount), "a reserve is kept by filters only"
        criteria, measuring = self.criteria, Measuring(curator, account, synthesis, None)
        questions, lengths = zip(*_questions(criteria.questions, curator.schema, measuring), strict=True)
        measures = [one for one in measuring.ask(questions, _PURPOSE) if isinstance(one, NoisyMeasure)]
        values = values_of(criteria, measures, lengths)
        if not all(bound.kept_by(value) for bound, value in zip(criteria.bounds, values, strict=True)):
            return None
        section = acceptance_section(criteria, self.attempts, measures, lengths, len(account.charges))
        receipt = synthesis.receipt.with_costs(curator).with_acceptance(section, BIASED)
        return replace(synthesis, receipt=receipt)


def _questions(bounds: Sequence[Bound], schema: Schema, measuring: Measuring) -> Iterator[tuple[Question, float]]:
    """Each question, and the length that its measure is a share of."""
    for bound in bounds:
        if bound.kind == PAIRS:
            cliques = compared_cliques(schema, 2)
            yield measuring.total(cliques, bound.measure, columns_in_words(2)), 1.0
        elif bound.kind == PAIR:
            pair = schema.domain.canonical(bound.columns)
            yield measuring.total((pair,), bound.measure, " and ".join(pair)), 1.0
        elif bound.kind == ACCURACY:
            yield measuring.correct(bound.columns[0]), 1.0
        else:
            grid = SnapGrid.of(schema[bound.columns[0]])
            assert grid is not None, "`prepare` refuses columns without one"
            yield measuring.transport(grid), grid.upper - grid.lower


def _require_measurable(bound: Bound, schema: Schema) -> None:
    known = schema.domain.attributes
    for name in bound.columns:
        if name not in known:
            raise ValueError(
                f"A criterion of acceptance must name synthesized columns. Found {name!r}.{did_you_mean(name, known)}"
            )
    if bound.kind == PAIRS and len(known) < 2:
        raise ValueError("A bound on the error of pairs needs two columns. Found a schema with one: bound its W_1.")
    if bound.kind == PAIR and schema.domain.size(bound.columns) > MOST_CELLS:
        raise ValueError(
            f"A pair with a bound must have at most {MOST_CELLS:,} cells. Found {schema.domain.size(bound.columns):,} "
            f"in {' and '.join(map(repr, bound.columns))}: choose coarser bins, or another pair."
        )
    if bound.kind == ACCURACY:
        target_of(schema, bound.columns[0])
    if bound.kind == TRANSPORT and SnapGrid.of(schema[bound.columns[0]]) is None:
        raise ValueError(
            f"W_1 is of columns of numbers, dates or datetimes with two values or more. Found {bound.columns[0]!r}."
        )
