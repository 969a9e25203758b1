"""The noisy answers of a release that is under way: a run that ended early is finished without paying for one twice.

A method is a function of its public parameters, of its noisy answers, and of random draws that only choose among public
answers. So a run is finished by starting the method anew: it gets the answers that were kept, in order, as long as they
last, and the same public draws, which follow from a seed in the file (`ResumableRandomness`); then it goes on asking.

**What is in it.** The facts of the release, that public seed, each charge, and each noisy answer: nothing that is not
the release's own, so that the file may be as public as the release. It belongs to a release that is not finished yet,
and so its owner alone may read it.

**Decisions.** A method with a time limit is also a function of when its clock ended a fit. Each such decision is a
whole number, kept here before the next question is asked, and a resumed run takes the same one at the same place. It
follows from answers and from the time that fits took (`synthesis.time_limit`), and no answer is drawn again because of
it.

**Why nothing is answered twice for one charge.** An answer is computed in one place, right after a charge of its own;
an answer from the file is returned as it was written. Whatever happens to the file (copied, cut back, used by two runs
at once), a further noisy answer is a further charge in the ledger, and is refused when the budget does not cover it.
The filter of the release counts all of its charges, whichever run made them.

A charge whose answer is not in the file, because the run was killed between the two, was paid and stays charged; its
query is asked and charged once more where the budget affords that. It might seem that nobody saw the lost answer, so
that it could be drawn again for the same charge. The ledger can't know that: whoever keeps a copy of the file, and cuts
the file back before that answer, would get a second draw, and a third. Telling the ledger that an answer was kept does
not help, as a run may be killed between the two once more. So it is paid again.

Without a ledger in a file there is nothing but this file, and it carries the charges too: each is written before its
answer is computed, and is counted again in the resumed run. The promise is then for a release whose file is left alone,
just as nothing counts its releases against each other.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.charge import Charge
from counterfoil.curator.answer_file import AnswerFile, NothingKept
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.noise.randomness import SystemRandomness
from counterfoil.noise.sampler import USUAL, Precision, precision_for

FORMAT, WITH_DECISIONS = "counterfoil.answers/1", "counterfoil.answers/2"
SUFFIX = ".answers"


class CantResume(ValueError):
    """The kept answers are not those of what is asked now; nothing was charged."""


class LostAnswer(BudgetExceeded):
    """An answer that was charged was lost, and what is left of the budget does not pay for it again."""


@dataclass(frozen=True, eq=False)
class Kept:
    """One charge, and its answer where it was kept.

    Args:
        number: the place of the charge in its release, from 1.
        record: the charge, as JSON.
        asked: the `fingerprint` of the query.
        values: int64 [cells]; the index of a choice; counts of texts; None where the run ended before the answer was
            kept.
        texts: of frequent texts, the column and the text of each count.
    """

    number: int
    record: dict[str, Any]
    asked: str
    values: np.ndarray | None
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KeptDecision:
    """What a clock decided in an earlier run.

    Args:
        kind: what was decided.
        after: how many answers the method had seen.
        value: the decision.
    """

    kind: str
    after: int
    value: int


class ResumableRandomness(SystemRandomness):
    """Cryptographic randomness for noise; public draws that are the same in a resumed run.

    Formal guarantee: noise and the choice of units' rows come from the operating system, as in `SystemRandomness`. The
    generators only choose among public answers, as the protocol demands, so that a release is a post-processing of its
    answers and of the seed, which is independent of the records: whoever knows the seed learns nothing more from the
    release than from its answers.

    Args:
        seed: 32 random bytes.
        tables: as for `SystemRandomness`.
    """

    def __init__(self, seed: bytes, *, tables: Precision | None = USUAL) -> None:
        super().__init__(tables=tables)
        self._seed = seed
        self._made = 0

    def generator(self) -> np.random.Generator:
        """The next generator; the n-th is the same in each run."""
        self._made += 1
        digest = hashlib.sha256(self._seed + self._made.to_bytes(8, "little")).digest()
        return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


class AnswerLog:
    """The kept answers of one release. Made by `create` and `reopen`; given to a curator by `Curator.keep_answers`.

    Attributes:
        path: where they are kept.
        resumed: whether an earlier run wrote some of them.
        release: the number of the release in its ledger, once its account is open.
        charges: what was charged, as far as this file knows, in order.
        carries_charges: whether no ledger in a file has the charges.
        answers_before: how many answers earlier runs kept.
    """

    def __init__(self, file: AnswerFile, seed: bytes, *, resumed: bool) -> None:
        self._file = file
        self._seed = seed
        self.path = file.path
        self.resumed = resumed
        self.release: int | None = None
        self.charges: list[Kept] = []
        self.carries_charges = False
        self.answers_before = 0
        self._waiting: list[Kept] = []
        self._decisions: list[KeptDecision] = []

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any], *, decisions: bool = False) -> AnswerLog:
        """A new file of answers.

        Args:
            path: where; nothing may be there.
            facts: what the release is made of, as JSON by name; a resumed run must state the same.
            decisions: whether the method has a clock, so that its decisions are kept too; older versions then say that
                they don't read the file.

        Raises:
            ValueError: when something is there already.
            OSError: when it can't be written.
        """
        if path.exists():
            raise ValueError(_waits(path))
        try:
            file = AnswerFile.create(path)
        except OSError as error:
            raise _about_folder(error, path.parent) from None
        try:
            log = cls(file, os.urandom(32), resumed=False)
            file.reserve(4096)
            form = WITH_DECISIONS if decisions else FORMAT
            header = {"format": form, "version": version("counterfoil"), "facts": dict(facts)}
            file.append(_packed(header | {"seed": log._seed.hex()}))
        except BaseException:
            file.remove()
            raise
        return log

    @classmethod
    def reopen(cls, path: Path, facts: Mapping[str, Any]) -> AnswerLog:
        """The answers that a run kept, which ended before its release was whole.

        Args:
            path: where they are.
            facts: as for `create`.

        Raises:
            CantResume: when they are of a release with other facts, or another version wrote them in another form.
            ValueError: when there is no such file, it was changed, or another run uses it.
            OSError: when it can't be read and written.
        """
        if not path.is_file():
            raise ValueError(
                f"Answers are kept from the first charge of a release until it is whole. There are none at {path}: "
                "name where they are with `--keep`, or make a new release without `--resume`."
            )
        file = AnswerFile.reopen(path)
        try:
            return cls._read(file, json.loads(json.dumps(dict(facts))))
        except CantResume:
            file.close()
            raise
        except (ValueError, KeyError, TypeError, EOFError, IndexError, RecursionError):
            file.close()
            raise ValueError(
                f"{path} must be a file of answers as a run left it. Found other contents: it was changed."
            ) from None

    @classmethod
    def _read(cls, file: AnswerFile, facts: dict[str, Any]) -> AnswerLog:
        header, _ = _unpacked(file.bodies[0])
        if header["format"] not in (FORMAT, WITH_DECISIONS):
            raise CantResume(
                f"{file.path} was written by version {header['version']}, in a form that this one does not read. "
                "Finish the release with that version."
            )
        _require_same(file.path, header["facts"], facts)
        log = cls(file, bytes.fromhex(header["seed"]), resumed=True)
        for body in file.bodies[1:]:
            entry, values = _unpacked(body)
            if entry["kind"] == "release":
                log.release = int(entry["release"])
                continue
            if entry["kind"] == "decision":
                log._decisions.append(KeptDecision(str(entry["of"]), int(entry["after"]), int(entry["value"])))
                continue
            texts = tuple((str(column), str(text)) for column, text in entry.get("texts", ()))
            if "texts" in entry and (values is None or len(values) != len(texts)):
                raise ValueError("each text has a count")
            kept = Kept(int(entry["number"]), dict(entry["record"]), str(entry["asked"]), values, texts)
            if values is not None and log.charges and log.charges[-1].number == kept.number:
                log.charges.pop()  # it was written down as a charge before
            if log.charges and kept.number <= log.charges[-1].number:
                raise ValueError("charges are numbered in order")
            Charge.from_json(kept.record)
            log.charges.append(kept)
        log._waiting = [kept for kept in log.charges if kept.values is not None]
        log.answers_before = len(log._waiting)
        return log

    @property
    def answers(self) -> int:
        """How many answers are kept."""
        return sum(kept.values is not None for kept in self.charges)

    def randomness_for(self, budget: Budget) -> SystemRandomness:
        """What the release, which has this budget, is made with."""
        return ResumableRandomness(self._seed, tables=precision_for(budget))

    def opened(self, release: int) -> None:
        """Writes down the number of the release, once its account is open."""
        if self.release != release:
            self._file.append(_packed({"kind": "release", "release": release}))
            self.release = release

    def seen(self, recorded: int) -> int:
        """How many charges of the release a method has seen that got its answers from here so far.

        Args:
            recorded: how many the ledger has.
        """
        return self._waiting[0].number - 1 if self._waiting else recorded

    def next_number(self) -> int | None:
        """The place of the charge whose answer comes next; None where no kept answer is left."""
        return self._waiting[0].number if self._waiting else None

    def next_answer(
        self, record: Mapping[str, Any], asked: str, recorded: Sequence[Mapping[str, Any]], cells: int | None
    ) -> Kept:
        """The kept answer to the query that is asked now, with its values.

        Args:
            record: the charge of the query, as JSON.
            asked: its `fingerprint`.
            recorded: all charges of the release in its ledger.
            cells: how many numbers it answers with; None where answers tell.

        Raises:
            CantResume: when this is not the query that was asked then, or the ledger has another charge.
        """
        kept = self._waiting[0]
        values = kept.values
        assert values is not None
        if recorded[kept.number - 1 : kept.number] != [kept.record]:
            raise CantResume(
                f"Charge {kept.number} of the release must be the same in the ledger and in {self.path}. Found another "
                "one, or none: name the ledger that the release was begun with."
            )
        if kept.record != record or kept.asked != asked or cells not in (None, len(values)):
            raise CantResume(
                f"A release is finished by asking again what it asked. Question {kept.number} is another one now: "
                f"finish it on the machine, and with the versions of Python's libraries, that {self.path} was written "
                "with. Nothing was charged, and nothing is lost."
            )
        del self._waiting[0]
        return kept

    def next_decision(self, kind: str) -> int | None:
        """What an earlier run decided here; None where the clock decides now.

        Args:
            kind: what is to be decided.

        Raises:
            CantResume: when it decided something else, or at another place.
        """
        if not self._decisions:
            return None
        kept = self._decisions.pop(0)
        if (kept.kind, kept.after) != (kind, self._seen):
            raise CantResume(
                f"A release is finished by deciding again what its clock decided. After {self._seen} answers there is "
                f"another decision in {self.path}: finish it with the version that it was begun with. Nothing was "
                "charged, and nothing is lost."
            )
        return kept.value

    def write_decision(self, kind: str, value: int) -> None:
        """Keeps what a clock decided, before anything follows from it.

        Args:
            kind: what was decided.
            value: the decision.

        Raises:
            OSError: when the disk has no room.
        """
        self._file.append(_packed({"kind": "decision", "of": kind, "after": self._seen, "value": value}))

    @property
    def _seen(self) -> int:
        """How many answers the method has seen."""
        return self.answers - len(self._waiting)

    def reserve(self, record: Mapping[str, Any], cells: int | None) -> None:
        """Makes room for a charge and its answer of `cells` numbers, before anything is charged.

        How long an answer of texts is nobody knows before it is given: it gets room for 8 MiB.

        Raises:
            OSError: when the disk has no room.
        """
        self._file.reserve(8 * (2**20 if cells is None else cells) + 2 * len(json.dumps(record)) + 4096)

    def write_charge(self, number: int, record: Mapping[str, Any], asked: str) -> None:
        """Writes down a charge that no other file has, before its answer is computed."""
        self._file.append(_packed({"kind": "charge", "number": number, "record": dict(record), "asked": asked}))

    def write_answer(self, kept: Kept) -> None:
        """Keeps an answer, before the method gets it."""
        entry = {"kind": "answer", "number": kept.number, "record": kept.record, "asked": kept.asked}
        self._file.append(_packed(entry | ({"texts": kept.texts} if kept.texts else {}), kept.values))
        self.charges.append(kept)

    def close(self) -> None:
        """Lets go of the file, which stays for a later run."""
        self._file.close()

    def remove(self) -> None:
        """Deletes the file: of a release that is whole, or that was not charged.

        Raises:
            OSError: when it can't be deleted.
        """
        self._file.remove()


def discard(path: Path) -> None:
    """Deletes answers that were paid for, on their owner's word; does nothing where there are none.

    Raises:
        ValueError: when it is another kind of file, or a run uses it.
        OSError: when it can't be deleted.
    """
    if path.exists():
        try:
            AnswerFile.reopen(path).remove()
        except NothingKept:
            path.unlink(missing_ok=True)


def require_none(path: Path) -> None:
    """Refuses to begin a release where answers of another one wait to be finished.

    Raises:
        ValueError: when something is at `path`.
    """
    if path.exists():
        raise ValueError(_waits(path))


def _waits(path: Path) -> str:
    return (
        f"{path} holds answers that were paid for, of a release that was not finished. Finish it with --resume, or "
        "give them up with --discard-answers."
    )


def _about_folder(error: OSError, folder: Path) -> OSError:
    """The same error, of the folder that can't be written, and not of the file that was to be made in it."""
    return OSError(error.errno, error.strerror, str(folder))


def _require_same(path: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    differ = [_difference(name, then.get(name), now.get(name)) for name in sorted({*then, *now})]
    if found := [words for words in differ if words]:
        raise CantResume(
            f"A release is finished with the options that it was begun with. The answers in {path} are of one with "
            f"{' and '.join(found)}."
        )


def _difference(name: str, then: object, now: object) -> str:
    """How a fact differed when the answers were kept, in words; empty where it was the same."""
    if then == now:
        return ""
    hashed = [isinstance(value, str) and len(value) == 64 for value in (then, now)]
    other = "other" if name.endswith("s") else "another"
    return f"{other} {name}" if all(hashed) else f"{name} {json.dumps(then)}, where {json.dumps(now)} is asked now"


def _packed(header: Mapping[str, Any], values: np.ndarray | None = None) -> bytes:
    text = json.dumps(header, allow_nan=False).encode()
    stored = io.BytesIO()
    if values is not None:
        np.save(stored, values, allow_pickle=False)
    return len(text).to_bytes(4, "little") + text + stored.getvalue()


def _unpacked(body: bytes) -> tuple[dict[str, Any], np.ndarray | None]:
    length = int.from_bytes(body[:4], "little")
    header, rest = json.loads(body[4 : 4 + length]), body[4 + length :]
    if not rest:
        return header, None
    values = np.load(io.BytesIO(rest), allow_pickle=False)
    if values.dtype != np.int64 or values.ndim != 1:
        raise ValueError("answers are int64 [cells]")
    return header, values
