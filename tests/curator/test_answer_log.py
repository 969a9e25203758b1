"""Answers that were paid for are kept: a resumed release asks no record for them, and pays for nothing twice."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.curator.account import Account
from counterfoil.curator.answer_file import AnswerFile
from counterfoil.curator.answer_log import FORMAT, AnswerLog, CantResume, LostAnswer, ResumableRandomness, discard
from counterfoil.curator.answer_size import AnswerSizes
from counterfoil.curator.curator import Curator
from counterfoil.curator.fingerprint import fingerprint
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.domain.domain import Domain
from counterfoil.geometry.euclidean import Box, point_schema
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.methods.aim import AIM
from counterfoil.methods.direct import Direct
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from counterfoil.methods.reweighting import Reweighting
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from sensitive_tables import frame_of, schema_of
from transcripts import no_record_is_asked

BOX = Box(("x0",), (0.0,), (1.0,))
FACTS = {"method": "test", "epsilon": 1.0}
MEMORY = SourceIdentity("memory", "memory")
BUDGET = Budget(1.0, 1e-6)
SCHEMA = point_schema([0], [1])


def votes(*places: float) -> NearestNeighborHistogram:
    return NearestNeighborHistogram(BOX, np.array(places)[:, None])


QUESTIONS = [votes(0.2, 0.8), votes(0.1, 0.5, 0.9), votes(0.5)]
NOISE = GaussianNoise(12.0)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / "points.ledger", source=MEMORY, total=Budget(2.0, 1e-5)) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "points.answers"


def curator_of(ledger: Ledger | None, budget: Budget = BUDGET, **keywords) -> Curator:
    return Curator(np.array([[0.1], [0.9]]), SCHEMA, budget=budget, ledger=ledger, **keywords)


def asked(curator: Curator, log: AnswerLog, questions=QUESTIONS, noise=NOISE, *, stop: bool = True) -> list[list[int]]:
    """The answers to `questions`; the run is interrupted afterwards, so that its release stays open."""
    curator.keep_answers(log)
    answers: list[list[int]] = []

    def work() -> None:
        with curator:
            account = curator.filter(GaussianFilter() if isinstance(noise, GaussianNoise) else PureFilter())
            answers.extend(account.ask(question, noise).values.tolist() for question in questions)
            if stop:
                raise KeyboardInterrupt

    try:
        if stop:
            with pytest.raises(KeyboardInterrupt):
                work()
        else:
            work()
    finally:
        log.close()
    return answers


def cut(path: Path, answers: int) -> None:
    """Cuts a file of answers back, to those that a run which was killed earlier would have left."""
    file = AnswerFile.reopen(path)
    bodies = file.bodies
    file.remove()
    shorter = AnswerFile.create(path)
    for body in bodies[: 2 + answers]:  # after the facts, and the number of the release
        shorter.append(body)
    shorter.close()


@pytest.mark.parametrize("durable", [True, False])
def test_a_resumed_release_gets_its_answers_once_more_and_pays_for_none(
    ledger: Ledger, path: Path, durable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = ledger if durable else None
    first = asked(curator_of(book), AnswerLog.create(path, FACTS))
    no_record_is_asked(monkeypatch)
    curator = curator_of(book)
    second = asked(curator, AnswerLog.reopen(path, FACTS), stop=False)
    assert second == first
    assert curator.charged == 3
    if durable:
        (release,) = ledger.releases()
        assert len(release.charges) == 3
        assert release.status == "closed"


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("done", [0, 1, 2])
def test_it_goes_on_charging_where_the_answers_end(ledger: Ledger, path: Path, durable: bool, done: int) -> None:
    book = ledger if durable else None
    first = asked(curator_of(book), AnswerLog.create(path, FACTS), QUESTIONS[:done])
    curator = curator_of(book)
    seen: list[float] = []
    log = AnswerLog.reopen(path, FACTS)
    assert (log.answers, log.resumed) == (done, True)
    curator.keep_answers(log)
    with curator:
        account = curator.filter(GaussianFilter())
        for number, question in enumerate(QUESTIONS):
            assert len(account.charges) == number, "a method sees what it saw the first time"
            seen.append(account.spent)
            answer = account.ask(question, NOISE).values.tolist()
            assert number >= done or answer == first[number]
        assert [number for number, _, _ in account.answers] == [1, 2, 3]
        assert account.spent == pytest.approx(3 / 144)
        assert len(curator.charges()) == 3
    assert seen == pytest.approx([number / 144 for number in range(3)])
    log.close()
    assert AnswerLog.reopen(path, FACTS).answers == 3


@pytest.mark.parametrize("durable", [True, False])
def test_an_answer_that_was_lost_is_paid_for_again_and_stays_charged(
    ledger: Ledger, path: Path, durable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run was killed between the second charge and its answer; then once more, after all answers."""
    book = ledger if durable else None
    add, calls = GaussianNoise.add, []

    def die(self: GaussianNoise, *arguments: object) -> np.ndarray:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return add(self, *arguments)

    monkeypatch.setattr(GaussianNoise, "add", die)
    log = AnswerLog.create(path, FACTS)
    asked(curator_of(book), log)
    log = AnswerLog.reopen(path, FACTS)
    assert log.answers == 1
    answers = asked(curator_of(book), log)
    for _ in range(2):
        curator = curator_of(book)
        log = AnswerLog.reopen(path, FACTS)
        assert [kept.number for kept in log.charges if kept.values is not None] == [1, 3, 4]
        assert asked(curator, log) == answers
        account = curator.account
        assert account is not None
        assert [number for number, _, _ in account.answers] == [1, 3, 4]
        assert len(account.charges) == 4
        assert [charge.parameters["candidates"] for charge in account.charges] == [2, 3, 3, 1]


def test_a_copy_that_is_cut_back_pays_for_every_further_draw(ledger: Ledger, path: Path) -> None:
    """The attack: keep a copy of the file, finish, cut the copy back before the last answer, and finish again."""
    asked(curator_of(ledger), AnswerLog.create(path, FACTS))
    whole = path.read_bytes()
    draws = set()
    for further in range(1, 5):
        path.write_bytes(whole)
        cut(path, 2)
        draws.add(asked(curator_of(ledger), AnswerLog.reopen(path, FACTS))[2][0])
        (release,) = ledger.releases()
        assert len(release.charges) == 3 + further
        cost = sum(charge["event"]["noise_multiplier"] ** -2 for charge in release.charges)
        assert cost <= GaussianFilter().capacity(BUDGET)
    assert len(draws) > 1, "each is a draw of its own; four equal ones have a probability below 1e-3"


def test_two_runs_from_copies_of_one_file_pay_for_both(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    asked(curator_of(ledger), AnswerLog.create(path, FACTS), QUESTIONS[:1])
    copy = tmp_path / "copy.answers"
    copy.write_bytes(path.read_bytes())
    accounts = []
    for place in (path, copy):
        curator = curator_of(ledger)
        curator.keep_answers(AnswerLog.reopen(place, FACTS))
        accounts.append(curator.filter(GaussianFilter()))
        accounts[-1].ask(QUESTIONS[0], NOISE)
    for account in accounts:
        account.ask(QUESTIONS[1], NOISE)
    (release,) = ledger.releases()
    assert len(release.charges) == 3
    dear = GaussianNoise(1 / np.sqrt(GaussianFilter().capacity(BUDGET) - 2.5 / 144))
    for account in accounts:
        with pytest.raises(BudgetExceeded):
            account.ask(QUESTIONS[2], dear)


@pytest.mark.parametrize("planned", [False, True])
def test_a_lost_answer_that_the_budget_does_not_afford_ends_the_release(
    ledger: Ledger, path: Path, planned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = LaplaceNoise(0.5)

    def account_of(curator: Curator) -> Account:
        return curator.plan([half, half], PureFilter()) if planned else curator.filter(PureFilter())

    def die(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(LaplaceNoise, "add", die)
        curator = curator_of(ledger)
        curator.keep_answers(log := AnswerLog.create(path, FACTS))
        account = account_of(curator)
        with pytest.raises(MemoryError):
            account.ask(QUESTIONS[0], half)
        log.close()
    curator = curator_of(ledger)
    curator.keep_answers(AnswerLog.reopen(path, FACTS))
    account = account_of(curator)
    if not planned:
        account.ask(QUESTIONS[0], half)
    with pytest.raises(LostAnswer, match="this release can't be finished"):
        account.ask(QUESTIONS[1] if not planned else QUESTIONS[0], half)
    (release,) = ledger.releases()
    assert len(release.charges) == (1 if planned else 2)


@pytest.mark.parametrize(
    ("questions", "noise"),
    [
        ([votes(0.2, 0.8), votes(0.1, 0.5, 0.9 + 1e-15), votes(0.5)], NOISE),
        ([votes(0.2, 0.8), votes(0.1, 0.9), votes(0.5)], NOISE),
        (QUESTIONS, GaussianNoise(np.nextafter(12.0, 13.0))),
    ],
)
def test_what_was_not_asked_then_gets_no_kept_answer(ledger: Ledger, path: Path, questions, noise) -> None:
    """The first differs in the last bit of one point, which no receipt shows."""
    asked(curator_of(ledger), AnswerLog.create(path, FACTS))
    curator = curator_of(ledger)
    with pytest.raises(CantResume, match="is another one now"):
        asked(curator, AnswerLog.reopen(path, FACTS), questions, noise, stop=False)
    (release,) = ledger.releases()
    assert len(release.charges) == 3


def test_a_ledger_without_the_charges_is_refused(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    asked(curator_of(ledger), AnswerLog.create(path, FACTS))
    with Ledger.create(tmp_path / "other.ledger", source=MEMORY, total=Budget(2.0, 1e-5)) as other:
        asked(curator_of(other), AnswerLog.create(tmp_path / "other.answers", FACTS), [votes(0.3)])
        curator = curator_of(other)
        with pytest.raises(CantResume, match="name the ledger that the release was begun with"):
            asked(curator, AnswerLog.reopen(path, FACTS), stop=False)
        assert [len(release.charges) for release in other.releases()] == [1]


def test_room_is_made_before_the_charge(ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    log = AnswerLog.create(path, FACTS)
    curator = curator_of(ledger)
    curator.keep_answers(log)
    account = curator.filter(GaussianFilter())
    answer = account.ask(QUESTIONS[0], NOISE).values.tolist()
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full)
        with pytest.raises(OSError, match="No space left") as failed:
            account.ask(QUESTIONS[1], NOISE)
    assert failed.value.filename == str(path)
    assert len(ledger.releases()[0].charges) == 1
    log.close()
    assert asked(curator_of(ledger), AnswerLog.reopen(path, FACTS), QUESTIONS[:1]) == [answer]


def test_room_is_made_where_a_system_can_not_set_it_aside(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", unable)
    file = AnswerFile.create(path)
    file.append(b"first")
    file.reserve(100_000)
    assert path.stat().st_size > 100_000
    file.append(b"second")
    file.close()
    assert AnswerFile.reopen(path).bodies == [b"first", b"second"]


def test_one_run_at_a_time(path: Path) -> None:
    held = AnswerLog.create(path, FACTS)
    with pytest.raises(ValueError, match="One run at a time"):
        AnswerLog.reopen(path, FACTS)
    with pytest.raises(ValueError, match="One run at a time"):
        discard(path)
    held.close()
    AnswerLog.reopen(path, FACTS).close()
    discard(path)
    assert not path.exists()
    discard(path)


def test_its_owner_alone_may_read_it(path: Path) -> None:
    mask = os.umask(0)
    try:
        AnswerLog.create(path, FACTS).close()
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_new_release_does_not_take_the_place_of_kept_answers(path: Path) -> None:
    AnswerLog.create(path, FACTS).close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"--resume.*--discard-answers"):
        AnswerLog.create(path, FACTS)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"method": "mst", "epsilon": 1.0}, 'method "test", where "mst" is asked now'),
        ({"method": "test", "epsilon": 2.0}, "epsilon 1.0, where 2.0"),
        ({"method": "test"}, "epsilon 1.0, where null"),
        (FACTS | {"schema": "0" * 64}, "schema null"),
    ],
)
def test_other_facts_are_refused(path: Path, facts: dict, said: str) -> None:
    AnswerLog.create(path, FACTS).close()
    with pytest.raises(CantResume, match=said):
        AnswerLog.reopen(path, facts)
    AnswerLog.reopen(path, FACTS).close()


def test_another_form_is_refused_with_the_version_that_wrote_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.curator.answer_log.FORMAT", FORMAT.replace("/1", "/9"))
        AnswerLog.create(path, FACTS).close()
    with pytest.raises(CantResume, match="Finish the release with that version"):
        AnswerLog.reopen(path, FACTS)


def test_there_must_be_answers_to_resume(path: Path) -> None:
    with pytest.raises(ValueError, match="There are none at"):
        AnswerLog.reopen(path, FACTS)


def test_a_seed_keeps_nothing(path: Path) -> None:
    log = AnswerLog.create(path, FACTS)
    with pytest.raises(ValueError, match="run it again instead"):
        curator_of(None, seed=1).keep_answers(log)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_bit_that_is_changed_is_found(tmp_path: Path, place: float, bit: int) -> None:
    """A file without reserved room, all of whose bytes count but for the filling after each frame."""
    path = tmp_path / "bits.answers"
    path.unlink(missing_ok=True)
    file = AnswerFile.create(path)
    bodies = [os.urandom(512 * 3 - 48) for _ in range(3)]  # frames that fill their sectors
    for body in bodies:
        file.append(body)
    file.close()
    whole = bytearray(path.read_bytes())
    assert len(whole) == 3 * 3 * 512
    whole[int(place * len(whole))] ^= 1 << bit
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="changed or damaged"):
        AnswerFile.reopen(path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sizes=st.lists(st.integers(1, 2000), min_size=1, max_size=5), data=st.data())
def test_a_kill_while_a_frame_is_written_leaves_those_before(tmp_path: Path, sizes: list[int], data) -> None:
    """The body comes before the head: whatever part of the body was written, the frame is not there yet."""
    path = tmp_path / "killed.answers"
    path.unlink(missing_ok=True)
    file = AnswerFile.create(path)
    bodies = [os.urandom(size) for size in sizes]
    for body in bodies:
        file.append(body)
    file.reserve(5000)
    end = file._end
    file.close()
    torn = os.urandom(data.draw(st.integers(0, 4000)))
    with path.open("r+b") as raw:
        raw.seek(end + 48)
        raw.write(torn)
    again = AnswerFile.reopen(path)
    assert again.bodies == bodies
    again.append(b"next")
    again.close()
    again = AnswerFile.reopen(path)
    assert again.bodies == [*bodies, b"next"]
    again.close()


LONG = b"\0" * 2**17
DAMAGED = b"\0" * 512 + b"CFanswer" + b"\0" * 1000


@pytest.mark.parametrize("content", [b"sex,age\nfemale,3\n", b"CFanswer" + b"\xff" * 100, LONG, DAMAGED])
def test_another_file_is_no_file_of_answers_and_is_not_deleted(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for use in (lambda: AnswerLog.reopen(path, FACTS), lambda: discard(path)):
        with pytest.raises(ValueError, match="must be a file of answers"):
            use()
    assert path.read_bytes() == content


@pytest.mark.parametrize("written", [b"", b"\0" * 2048, b"\0" * 48 + b'\x90\1\0\0{"format": "counterfoil.ans'])
def test_a_run_that_is_killed_as_it_makes_the_file_leaves_nothing_that_was_paid(path: Path, written: bytes) -> None:
    """Neither `--resume` nor a new run took such a file, and `--discard-answers` refused to delete it."""
    path.write_bytes(written)
    with pytest.raises(ValueError, match=r"nothing was paid for.*Delete it"):
        AnswerLog.reopen(path, FACTS)
    assert path.exists()
    discard(path)
    AnswerLog.create(path, FACTS).close()


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", '{"format": 3}', "nonsense", f'{{"format": "{FORMAT}"}}'])
def test_nasty_contents_end_in_a_sentence(path: Path, text: str) -> None:
    file = AnswerFile.create(path)
    file.append(len(text).to_bytes(4, "little") + text.encode())
    file.close()
    with pytest.raises(ValueError, match=f"{path.name} "):
        AnswerLog.reopen(path, FACTS)


def test_an_interrupt_waits_for_the_answer_that_was_paid(ledger: Ledger, path: Path, monkeypatch) -> None:
    add, kept = GaussianNoise.add, []

    def slow(self: GaussianNoise, *arguments: object) -> np.ndarray:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        return add(self, *arguments)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(GaussianNoise, "add", slow)
        curator = curator_of(ledger)
        log = AnswerLog.create(path, FACTS)
        curator.keep_answers(log)
        account = curator.filter(GaussianFilter())
        with pytest.raises(KeyboardInterrupt):
            kept.append(account.ask(QUESTIONS[0], NOISE))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not kept, "the interrupt came"
    assert log.answers == 1, "and the answer is kept"
    assert threading.current_thread() is threading.main_thread()


COLUMNS = Domain(("a", "b", "c"), (2, 3, 4))
ROWS = [(i % 2, i % 3, i % 4) for i in range(60)]
METHODS = [
    AIM(),
    AIM(variant="gaussian"),
    AIM(variant="published"),
    MST(),
    Direct(),
    Independent(),
    Reweighting(support=200),
    PrivateEvolution(population=8, iterations=2),
    PrivateEvolution.of_preset("laplace-threshold", population=8, iterations=2),
    SignedMeasure(),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_every_method_is_finished_as_if_it_had_never_been_stopped(
    method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows and the receipt of a run that was never stopped are the oracle; records are not asked again."""
    path = tmp_path / "release.answers"

    def run(log: AnswerLog):
        with Curator(frame_of(COLUMNS, ROWS), schema_of(COLUMNS), budget=BUDGET) as curator:
            curator.keep_answers(log)
            made = method.synthesize(curator)
        log.close()
        return made

    whole = run(AnswerLog.create(path, FACTS))
    no_record_is_asked(monkeypatch)
    again = run(AnswerLog.reopen(path, FACTS))
    assert again.to_arrow().equals(whole.to_arrow())
    documents = [dict(made.receipt.document) for made in (whole, again)]
    for document in documents:
        del document["created"]
    warnings = [document.pop("warnings") for document in documents]
    assert documents[0] == documents[1]
    assert warnings[1][:-1] == warnings[0]
    assert warnings[1][-1].startswith("This release was begun by an earlier run and finished by a later one")
    assert len(documents[0]["charges"]) >= 1


@pytest.mark.parametrize("method", [AIM(), MST(), Reweighting(support=200)], ids=["aim", "mst", "reweighting"])
def test_a_method_that_was_stopped_anywhere_pays_for_what_was_not_answered_alone(method, tmp_path: Path) -> None:
    path = tmp_path / "release.answers"
    frame, schema = frame_of(COLUMNS, ROWS), schema_of(COLUMNS)

    def run(log: AnswerLog, ledger: Ledger):
        with Curator(frame, schema, budget=BUDGET, ledger=ledger) as curator:
            curator.keep_answers(log)
            made = method.synthesize(curator)
        log.close()
        return made

    with Ledger.create(tmp_path / "f.ledger", source=MEMORY, total=Budget(9.0, 1e-4)) as ledger:
        answered = Account._keep
        for stop in (1, 2):
            path.unlink(missing_ok=True)
            count: list[int] = []

            def die(self, paid, values, count=count, stop=stop) -> None:
                answered(self, paid, values)
                count.append(1)
                if len(count) == stop:
                    raise KeyboardInterrupt

            log = AnswerLog.create(path, FACTS)
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(Account, "_keep", die)
                with pytest.raises(KeyboardInterrupt):
                    run(log, ledger)
            log.close()
            log = AnswerLog.reopen(path, FACTS)
            assert log.answers == stop
            made = run(log, ledger)
            release = ledger.releases()[-1]
            assert release.status == "closed"
            assert release.charges == made.receipt.document["charges"]
            assert made.receipt.verify().holds
            assert AnswerLog.reopen(path, FACTS).answers == len(release.charges), "none was paid for twice"


def test_training_is_not_kept(path: Path) -> None:
    curator = curator_of(None)
    curator.keep_answers(AnswerLog.create(path, FACTS))
    account = curator.filter(GaussianFilter())
    with pytest.raises(ValueError, match="Answers are kept of queries that read all records"):
        account.train(object(), object())  # type: ignore[arg-type]


def test_public_draws_are_the_same_in_a_resumed_run_and_noise_is_not() -> None:
    one, two, other = ResumableRandomness(b"a" * 32), ResumableRandomness(b"a" * 32), ResumableRandomness(b"b" * 32)
    draws = [[randomness.generator().integers(0, 2**63) for _ in range(3)] for randomness in (one, two, other)]
    assert draws[0] == draws[1] != draws[2]
    assert len(set(draws[0])) == 3
    noise = [randomness.discrete_gaussian(1e6, 50).tolist() for randomness in (one, two)]
    assert noise[0] != noise[1], "50 equal draws of deviation a million have a probability below 1e-300"
    assert one.private


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    data=st.data(),
)
@settings(max_examples=30, deadline=None)
def test_the_size_of_an_answer_is_known_without_a_record(sizes: list[int], data) -> None:
    names = tuple("abcd"[: len(sizes)])
    domain = Domain(names, tuple(sizes))
    cliques = data.draw(st.lists(st.sets(st.sampled_from(names)).map(domain.canonical), min_size=1, unique=True))
    query = MarginalCounts(domain, tuple(cliques))
    assert AnswerSizes(schema_of(domain)).of(query) == sum(domain.size(clique) for clique in cliques)


def test_fingerprints_tell_contents_apart() -> None:
    """Each pair looks alike in some way: in value, in bytes, in order or in nesting."""
    different = [
        1, 1.0, True, "1", b"1", None, (1,), [1], {1: 1}, {1}, (1, (2,)), ((1,), 2), (1, 2), ("ab", "c"), ("a", "bc"),
        (("a", "b"),), (("a",), ("b",)), (("a', 'b",),), ((np.array([1, 2]),)), (np.array([1]), np.array([2])),
        (np.array([[1, 2]]),), (np.array([1.0, 2.0]),), (np.array([1, 2]), 0), [np.array([1, 2])],
        np.array([1]), np.array([1.0]), np.array([[1]]), np.array([1], dtype=np.int32), np.float64(1.0), 0.0, -0.0,
        votes(0.5), votes(0.5, 0.5), NOISE, GaussianNoise(13.0), LaplaceNoise(0.5), AIM(), AIM(rounds=7), MST(),
        schema_of(COLUMNS), schema_of(Domain(("a", "b", "c"), (2, 3, 5))), len, str, np.dtype("int64"),
    ]  # fmt: skip
    assert len({fingerprint(value) for value in different}) == len(different)
    assert fingerprint({"x": [np.arange(3), "y"]}) == fingerprint({"x": [np.arange(3), "y"]})
    assert fingerprint({"b", "a"}) == fingerprint({"a", "b"})


@pytest.mark.parametrize("value", [lambda x: x, iter([1]), (i for i in range(3))])
def test_what_has_no_contents_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Answers are kept for"):
        fingerprint((1, value))


def test_what_holds_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(ValueError, match="must not hold itself"):
        fingerprint(value)
