"""`synthesize(keep=, resume=)`: a run that ended early is finished with the answers that were paid for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterfoil import AIM, MST, Acceptance, Bound, Budget, Independent, Ledger, NoLedgerWarning, synthesize
from counterfoil.curator.account import Account
from counterfoil.curator.answer_log import CantResume
from counterfoil.curator.judged_runs import Withheld
from counterfoil.ledger.no_ledger import warn_without_ledger
from transcripts import no_record_is_asked

SCHEMA = """
[columns.color]
kind = "categorical"
values = ["red", "green", "blue"]

[columns.size]
kind = "integer"
lower = 0
upper = 9
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"color": rng.choice(["red", "green", "blue"], 900), "size": rng.integers(0, 10, 900)})
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    return path


def synthesized(source: Any, **options: Any) -> Any:
    return synthesize(source, SCHEMA, **{"epsilon": 2.0, "delta": 1e-6, "method": MST()} | options)


def ended_after(answers: int) -> Callable[..., None]:
    """In place of `Account._keep`: keeps so many answers, and then the run ends."""
    before, seen = Account._keep, []

    def keep(*arguments: Any) -> None:
        before(*arguments)
        seen.append(1)
        if len(seen) == answers:
            raise OSError(28, "No space left on device")

    return keep


def end_early(source: Any, answers: int = 2, **options: Any) -> list[str]:
    """A run that ends after so many answers; what its error adds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Account, "_keep", ended_after(answers))
        with pytest.raises(OSError, match="No space") as ended:
            synthesized(source, **options)
    return getattr(ended.value, "__notes__", [])


@pytest.mark.parametrize("counted", [True, False])
def test_a_run_that_ended_early_is_finished_without_paying_twice(
    people: Path, tmp_path: Path, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, book = tmp_path / "kept.answers", tmp_path / "people.ledger"
    options: dict[str, Any] = {"keep": place}
    if counted:
        Ledger.create(book, source=str(people), total=Budget(2.0, 1e-6)).close()
        options["ledger"] = book
    (note,) = end_early(people, answers=3, **options)
    assert str(place) in note
    assert "resume=True" in note
    assert place.stat().st_mode & 0o077 == 0, "for its owner alone"
    made = synthesized(people, resume=True, **options)
    assert not place.exists(), "the release is whole"
    assert made.receipt.verify().holds
    assert "was begun by an earlier run" in " ".join(made.receipt.document["warnings"])
    if counted:
        with Ledger.open(book, source=None) as ledger:
            (release,) = ledger.releases()
            assert release.status == "closed"
            assert len(release.charges) == len(made.receipt.document["charges"])


def test_answers_that_were_all_kept_are_asked_of_nobody(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charges = len(synthesized(people).receipt.document["charges"])
    end_early(people, answers=charges, keep=tmp_path)
    no_record_is_asked(monkeypatch)
    made = synthesized(people, keep=tmp_path, resume=True)
    assert len(made.receipt.document["charges"]) == charges
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"], "a folder may be named"


KILLED = """
import os, signal, sys
from counterfoil import MST, synthesize
from counterfoil.curator.answer_log import AnswerLog

before, seen = AnswerLog.write_answer, []

def dies(*arguments):
    before(*arguments)
    seen.append(1)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

AnswerLog.write_answer = dies
source, schema, book, place = sys.argv[1:]
synthesize(source, schema, epsilon=2.0, delta=1e-6, method=MST(), ledger=book, keep=place)
"""


def test_a_killed_process_is_finished_by_another_one(people: Path, tmp_path: Path) -> None:
    schema, book, place = tmp_path / "people.toml", tmp_path / "people.ledger", tmp_path / "kept.answers"
    schema.write_text(SCHEMA)
    Ledger.create(book, source=str(people), total=Budget(2.0, 1e-6)).close()
    command = [sys.executable, "-c", KILLED, str(people), str(schema), str(book), str(place)]
    ended = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    made = synthesize(people, schema, epsilon=2.0, delta=1e-6, method=MST(), ledger=book, keep=place, resume=True)
    with Ledger.open(book, source=None) as ledger:
        (release,) = ledger.releases()
        assert len(release.charges) == len(made.receipt.document["charges"]) > 2
        assert ledger.spent().epsilon == 2.0


def test_a_frame_is_known_by_its_columns(people: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(people)
    end_early(frame, keep=tmp_path / "kept")
    with pytest.raises(CantResume, match="are of one with another source"):
        synthesized(frame[["size", "color"]], keep=tmp_path / "kept", resume=True)
    assert synthesized(frame, keep=tmp_path / "kept", resume=True).rows


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rows": 50}, "rows null, where 50 is asked now"),
        ({"method": MST(columns=0.4)}, r"are of one with other parameters\.$"),
        ({"method": AIM()}, 'method "MST", where "AIM" is asked now'),
        ({"epsilon": 1.0}, "epsilon 2.0, where 1.0"),
        ({"relation": "replace_one"}, 'relation "add_or_remove_one", where "replace_one"'),
        ({"fidelity": 0.1}, "fidelity null"),
        ({"check_schema": 0.02}, "schema check 0.01, where 0.02"),
        ({"time_limit": 60}, "time limit null, where 60"),
    ],
)
def test_a_release_is_finished_as_it_was_begun(people: Path, tmp_path: Path, changed: dict, said: str) -> None:
    place = tmp_path / "kept"
    end_early(people, keep=place)
    with pytest.raises(CantResume, match=said):
        synthesized(people, keep=place, resume=True, **changed)
    other = tmp_path / "others.csv"
    other.write_bytes(people.read_bytes())
    with pytest.raises(CantResume, match="are of one with another source"):
        synthesized(other, keep=place, resume=True)
    assert synthesized(people, keep=place, resume=True).rows, "nothing was lost"


def test_places_that_keep_nothing_are_refused_before_a_charge(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_record_is_asked(monkeypatch)
    (there := tmp_path / "there").write_text("something")
    for options, said in [
        ({"resume": True}, "Found no `keep`: say where they are"),
        ({"keep": tmp_path / "none", "resume": True}, "`resume` needs the answers of a run that ended early"),
        ({"keep": tmp_path / "no folder" / "kept"}, "There is no folder"),
        ({"keep": there}, "must name a file that is not there yet"),
        ({"keep": there, "resume": True}, "must be a file of answers as a run left it"),
        ({"keep": tmp_path / "kept", "seed": 1}, "a release with a `seed` is made again at no cost"),
        ({"keep": tmp_path / "kept", "method": "wasserstein-generator"}, "the steps of this method are not kept"),
        (
            {"keep": tmp_path / "kept", "accept": Acceptance((Bound("pairs", 1.9, (), 0.9),))},
            "a release with `accept` is charged as a whole",
        ),
    ]:
        with pytest.raises(ValueError, match=said):
            synthesized(people, **options)
    with pytest.raises(TypeError, match=r"`keep` must be the path of a file, or of a folder\. Found int"):
        synthesized(people, keep=3)
    assert there.read_text() == "something"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "there"]


def test_nothing_stays_of_a_run_that_was_refused(people: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="or give more epsilon"):
        synthesized(people, epsilon=1e-4, keep=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("withheld", [False, True])
def test_a_judged_release_without_a_ledger_is_warned_of(people: Path, withheld: bool) -> None:
    bounds = (Bound("pairs", 1e-6 if withheld else 1.9, (), 0.9),)
    warn_without_ledger.cache_clear()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        with pytest.raises(Withheld) if withheld else nullcontext():
            synthesized(people, method=Independent(), accept=Acceptance(bounds))
    assert [one.category for one in given].count(NoLedgerWarning) == 1
    assert given[0].filename == __file__
