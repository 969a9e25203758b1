"""A classifier that learns from the noisy votes of teachers (PATE): the baseline that needs public rows."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from counterfoil.accounting.budget import Budget, plain_number
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation, PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.votes import TeacherVotes
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.curator.teachers import require_scikit_learn
from counterfoil.curator.unnoted import unnoted_at_worst
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.files import write_text
from counterfoil.json_text import json_file
from counterfoil.ledger.ledger import Ledger
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.schema import Schema
from counterfoil.schema.unit_advice import warn_of_row_protection
from counterfoil.synthesis.folder import ReleaseFolder
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.training.class_values import values_of
from counterfoil.training.model_folder import require_kind
from counterfoil.training.noise_warnings import NoisyVotesWarning
from counterfoil.training.parameters import Parameters
from counterfoil.training.public_rows import coded_rows, require_other_rows
from counterfoil.training.students import STUDENTS, LinearStudent, Student, train_student
from counterfoil.training.vote_noise import said_after, said_before

AGREEMENT = 2.0
"""Votes that all teachers cast alike, in standard deviations of the noise of the difference of two classes' votes."""

MOST_BY_DEFAULT = 1000
"""Teachers, however large the noise."""

_ROUNDING = 1 - 1e-9
"""A plan adds up in another order than the capacity was computed in."""

_FILES = ("student.json", "model.json", "schema.toml", "receipt.json")
_FOLDER = ReleaseFolder("counterfoil.pate", 1, _FILES, "model")


@dataclass(kw_only=True)
class PATEClassifier(Parameters):
    """Private aggregation of teacher ensembles: teachers vote on public rows, a student learns from the noisy outcome.

    The records are divided at random into as many parts as there are teachers. A record reaches one teacher, and so
    moves one vote on each public row (`TeacherVotes`, with the proof). The votes get Gaussian noise once, and the
    student, which is what is released, is trained on the public rows with the labels that then have the most votes.

        model = PATEClassifier(epsilon=1, delta=1e-6)
        model.fit("adult.csv", "adult.schema.toml", target="income", public="rows_without_income.csv")

    The public rows are not protected: the student may reveal them. Use rows of people who agreed, or synthetic ones.

    Each further row makes the noise on all votes larger, as the square root of their number. So `queries` weighs the
    number of labels against how many are right. The default number of teachers follows from the noise, which is public:
    so many that votes which all cast alike lie two standard deviations above a tie, and at most 1000. The number of
    records would be a better guide, but is private under `add_or_remove_one`. Give `teachers` where the table is small:
    a teacher should see some dozens of records. A warning says where the noise is larger than any majority, from what
    is public before the vote and from the noisy votes after it (`vote_noise`).

    Args:
        epsilon: of the guarantee.
        delta: of the guarantee; positive.
        teachers: how many; None derives it from the noise.
        queries: m, on how many public rows the teachers vote; chosen at random where there are more, all where not.
        student: "logistic", which can be saved, or "boosting".
        seed: for tests and reproductions only: the model is then NOT PRIVATE, and its receipt says so.

    Source: Papernot et al. 2017, "Semi-supervised knowledge transfer for deep learning from private training data", and
    2018, "Scalable private learning with PATE"; with logistic regressions as Zhou et al., appendix D.2, have them.

    Raises:
        ValueError: for a parameter out of its range.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    teachers: int | None = None
    queries: int = 500
    student: str = "logistic"
    seed: int | None = None

    kind: ClassVar[str] = "pate"

    student_: Student = field(init=False, repr=False, compare=False)
    features_: TrainingFeatures = field(init=False, repr=False, compare=False)
    teachers_: int = field(init=False, repr=False, compare=False)
    receipt: Receipt = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.student not in STUDENTS:
            raise ValueError(f"`student` must be one of {', '.join(STUDENTS)}. Found {self.student!r}.")
        for name in ("teachers", "queries"):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and value >= 1) and not (name == "teachers" and value is None):
                raise ValueError(f"`{name}` must be a whole number of at least 1. Found {value!r}.")

    def fit(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        target: str,
        public: Any,
        protected: str | Sequence[str] | None = None,
        relation: NeighboringRelation | str = NeighboringRelation.ADD_OR_REMOVE_ONE,
        ledger: Ledger | str | Path | None = None,
        privacy_unit: PrivacyUnit | tuple[str, int] | None = None,
        prepare: Callable[[Curator], None] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """Trains on a sensitive table, and spends the whole budget.

        Args:
            source: a path or a frame, as `Curator` takes it.
            schema: the public facts about it, or the path of the TOML file that states them.
            target: the column to predict; its codes are the classes.
            public: rows that need no protection, as a frame, a path or a synthesis; the target may be missing, and is
                not read.
            protected: columns that are left out of the inputs.
            relation: which tables are neighbors. The noise is the same for both.
            ledger: where the cost is recorded; in memory when None.
            privacy_unit: whose records are protected together; the noise grows by its `max_rows`.
            prepare: called with the table's curator before anything is charged, and may refuse the table: a command
                refuses one without rows there.
            progress: called before and after the vote.

        Raises:
            ValueError: in one sentence, before anything is charged.
            ImportError: without scikit-learn.
        """
        require_scikit_learn()
        unit = PrivacyUnit.of(privacy_unit)
        facts = schema_for(source, schema, unit=unit.column if unit else "")
        require_other_rows(source, public)
        named = () if protected is None else (protected,) if isinstance(protected, str) else tuple(protected)
        features = TrainingFeatures(facts, (target,), (), named)
        inputs = features.inputs(*coded_rows(public, features))
        if not len(inputs):
            raise ValueError("`public` must have rows for the teachers to vote on. Found none: give at least one.")
        options: dict[str, Any] = {"relation": relation, "privacy_unit": privacy_unit, "ledger": ledger}
        with Curator(source, facts, budget=Budget(self.epsilon, self.delta), seed=self.seed, **options) as curator:
            curator.require_records_here()
            if prepare is not None:
                prepare(curator)
            warn_of_row_protection(facts, unit)
            rng = curator.randomness.generator()
            rows = inputs[rng.permutation(len(inputs))[: self.queries]]
            query = TeacherVotes(features, rows, 1 if self.teachers is None else self.teachers)
            noise = GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(curator.budget) * _ROUNDING))
            account = curator.plan([noise], PrivacyLossPlan(), replacement_factor=1.0)
            if self.teachers is None:
                query = replace(query, teachers=_enough_teachers(account.scale(query, noise)))
            deviation = account.scale(query, noise)
            records = curator.public_row_count() if curator.row_count_is_public else None
            sentences = said_before(query.teachers, deviation, records)
            for words in sentences:
                # Before the charge: where warnings are errors, nothing is spent.
                warnings.warn(words, NoisyVotesWarning, stacklevel=2)
            progress(f"{query.teachers} teachers vote on {len(rows)} public rows", 0.0)
            votes = query.table(account.ask(query, noise).values)
            progress("the student learns", 1.0)
            self.student_ = train_student(self.student, rows, votes.argmax(axis=1), features.target_classes)
            self.features_, self.teachers_ = features, query.teachers
            shown = said_after(votes, query.teachers, deviation)
            self.receipt = Receipt.from_curator(
                curator,
                method=self.kind,
                parameters=self._public_parameters(),
                rows=0,
                released="model",
                warnings=[*budget_warnings(curator.budget, None), *sentences, *shown],
            )
            with unnoted_at_worst(curator):
                curator.record_receipt(self.receipt.digest)
                curator.close()
        for words in shown:
            warnings.warn(words, stacklevel=2)  # once the model is whole, which is paid for
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The classes in the order of `predict_proba`: numbers or booleans where codes stand for such, else labels."""
        self._require_fitted()
        return values_of(self.features_.schema[self.features_.targets[0]])

    def predict_proba(self, rows: Any) -> np.ndarray:
        """float64 [n, classes]: the probabilities of the classes for rows of the caller's own.

        Args:
            rows: a frame or a path; the target and the protected columns may be missing.
        """
        self._require_fitted()
        return self.student_.probabilities(self.features_.inputs(*coded_rows(rows, self.features_)))

    def predict(self, rows: Any) -> np.ndarray:
        """[n]: the likeliest class of each row."""
        return self.classes_[np.argmax(self.predict_proba(rows), axis=1)]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the model to a new folder: the student's weights and the parameters (JSON), schema and receipt.

        Raises:
            ValueError: where the folder exists, the model is not trained, or its student is not linear.
        """
        self._require_fitted()
        if not isinstance(self.student_, LinearStudent):
            raise ValueError(
                "Only a linear student can be saved without pickle. Found gradient boosting: use student='logistic'."
            )
        features = self.features_
        document = {
            "kind": self.kind,
            "parameters": self._public_parameters(),
            "features": {name: list(getattr(features, name)) for name in ("targets", "groups", "leave_out")},
            "teachers": self.teachers_,
        }
        with _FOLDER.writing(folder) as draft:
            write_text(draft / "student.json", json.dumps(self.student_.to_json()) + "\n")
            write_text(draft / "model.json", json.dumps(document, indent=2) + "\n")
            write_text(draft / "schema.toml", features.schema.to_toml())
            self.receipt.save(draft / "receipt.json")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """The model that `save` wrote, checked against the hashes in its folder.

        Raises:
            ValueError: for another folder, a changed one, or a model of another kind.
        """
        source = Path(folder)
        require_kind(source, cls.kind)
        _FOLDER.require_whole(source)
        document = json_file(source / "model.json", "the description of a model")
        model = cls(**document["parameters"])
        schema = Schema.from_release(source / "schema.toml")
        model.features_ = TrainingFeatures(schema, **{name: tuple(v) for name, v in document["features"].items()})
        model.teachers_ = document["teachers"]
        model.student_ = LinearStudent.from_json(json_file(source / "student.json", "a student"))
        model.receipt = Receipt.load(source / "receipt.json")
        _FOLDER.require_receipt(source, model.receipt)
        return model

    def _public_parameters(self) -> dict[str, Any]:
        """The constructor's parameters, as JSON has them."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return given | {name: plain_number(name, given[name]) for name in ("epsilon", "delta")}

    def _require_fitted(self) -> None:
        if not hasattr(self, "student_"):
            raise ValueError("This PATEClassifier is not trained yet: call `fit`, or `load` one that is.")


def _enough_teachers(deviation: float) -> int:
    """How many teachers the noise of votes, of this deviation in each count, asks for.

    The difference of two classes' votes has sqrt(2) times the deviation. Where all teachers agree it is their number.
    """
    return min(MOST_BY_DEFAULT, math.ceil(AGREEMENT * math.sqrt(2) * deviation))
