"""A run of `synth` that ended early is finished with the answers that were paid for, whatever ended it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Ended, Office
from counterfoil.cli.failure import failure_of
from counterfoil.cli.outputs import Outputs, require_free, require_writable
from counterfoil.curator.account import Account
from counterfoil.curator.noisy_answers import NoisyAnswers
from counterfoil.files import write_text
from counterfoil.ledger.ledger import Ledger, Release
from counterfoil.noise.randomness import SystemRandomness
from counterfoil.receipt.receipt import Receipt
from transcripts import no_record_is_asked

ANSWERS = "people.synthetic.answers"
TABLE, RECEIPT = "people.synthetic.parquet", "people.synthetic.receipt.json"


LATER = "This release was begun by an earlier run and finished by a later one, which took the table to be the same"


def assert_given_up(office: Office, ended: Ended, arguments: list[str]) -> None:
    """No run can finish the release: the message names what helps, and that is done as it stands."""
    told = " ".join(ended.err.split())
    assert "finish the release without paying" not in told
    assert "no run can finish the release with them: --discard-answers, in place of --resume, deletes them" in told
    assert ANSWERS in office.files()
    again = office.run(*arguments, "--discard-answers")
    assert again.status == 0, again.err
    assert ANSWERS not in office.files()
    assert LATER not in " ".join(Receipt.load(RECEIPT).document["warnings"])


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def fill_at_the_end(office: Office, *arguments: str, method: str = "mst") -> Ended:
    """A release whose disk is full when its files are written."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Outputs, "write", full)
        ended = office.synth(*arguments, method=method)
    assert ended.status == 2, ended.err
    return ended


def charges(office: Office) -> list[int]:
    """Of each release that was not given back."""
    return [len(release["charges"]) for release in office.releases() if release["status"] != "abandoned"]


@pytest.mark.parametrize("ledger", [True, False])
def test_a_disk_that_is_full_at_the_end_costs_nothing_more(
    office: Office, ledger: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that the message gives is run as it stands, and no record is asked."""
    before = office.files()
    ended = fill_at_the_end(office, *(("--ledger", "people.ledger") if ledger else ()))
    assert "The disk is full" in ended.err
    assert f"kept in {ANSWERS}" in ended.err
    assert "No file was written" in ended.err
    assert office.files() == before | {ANSWERS}
    paid = charges(office)
    command = shlex.split(ended.err.strip().rpartition(": ")[2])
    assert command[:2] == ["counterfoil", "synth"]
    assert command[-1] == "--resume"
    no_record_is_asked(monkeypatch)
    done = office.run(*command[1:])
    assert done.status == 0, done.err
    assert office.files() == before | {TABLE, RECEIPT}
    assert charges(office) == paid
    assert [release["status"] for release in office.releases()] == (["closed"] if ledger else [])
    receipt = Receipt.load(RECEIPT)
    assert receipt.verify(office.path).holds
    if ledger:
        assert len(receipt.document["charges"]) == paid[0] > 2
        assert office.run("receipt", "verify", RECEIPT, "--ledger", "people.ledger").status == 0


KILLED = """
import os, signal, sys
from counterfoil.cli.app import run
from counterfoil.curator.{place} import {owner}

before = {owner}.{name}
count = []

def dies(*arguments, **keywords):
    made = before(*arguments, **keywords)
    count.append(1)
    if len(count) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return made

{owner}.{name} = dies
sys.exit(run(sys.argv[1:]))
"""


def killed(office: Office, place: str, owner: str, name: str, method: str) -> list[str]:
    """Kills a run at the fourth return of a function; the arguments that it had."""
    script = KILLED.format(place=place, owner=owner, name=name)
    arguments = ["synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--method", method]
    arguments += ["--ledger", "people.ledger", "--fidelity", "0.3"]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert ANSWERS in office.files()
    return arguments


@pytest.mark.parametrize(
    ("place", "owner", "name"),
    [
        ("account", "Account", "_keep"),  # right after an answer was kept
        ("answer_log", "AnswerLog", "reserve"),  # before a charge
    ],
)
def test_a_run_that_is_killed_is_finished(office: Office, place: str, owner: str, name: str) -> None:
    """MST asks as many questions of each table with these columns: a run that is not killed is the oracle."""
    assert office.synth("--fidelity", "0.3", "--out", "whole.csv", method="mst").status == 0
    whole = Receipt.load("whole.receipt.json").document["charges"]
    arguments = killed(office, place, owner, name, "mst")
    ended = office.run(*arguments, "--resume")
    assert ended.status == 0, ended.err
    assert office.files() & {ANSWERS, TABLE, RECEIPT} == {TABLE, RECEIPT}
    receipt = Receipt.load(RECEIPT)
    assert receipt.verify(office.path).holds
    assert charges(office) == [len(receipt.document["charges"])] == [len(whole)]
    assert [charge["query"] for charge in receipt.document["charges"]] == [charge["query"] for charge in whole]
    assert LATER not in " ".join(Receipt.load("whole.receipt.json").document["warnings"])
    assert LATER in " ".join(receipt.document["warnings"])
    assert f"WARNING: {LATER}" in " ".join((ended.out + ended.err).split())


KILLED_AS_IT_WRITES = """
import os, signal, sys
from counterfoil.cli.app import run
from counterfoil.receipt.receipt import Receipt

Receipt.save = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("out", ["copy.csv", "copy/"])
def test_a_run_that_is_killed_as_it_writes_leaves_no_part_behind_the_next(office: Office, out: str) -> None:
    arguments = ["synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--out", out]
    arguments += ["--ledger", "people.ledger"]
    done = subprocess.run([sys.executable, "-c", KILLED_AS_IT_WRITES, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    assert any(name.startswith(".counterfoil-") for name in os.listdir())
    ended = office.run(*arguments, "--resume")
    assert ended.status == 0, ended.err
    assert not any(name.startswith(".counterfoil-") for name in os.listdir())


def test_an_answer_that_was_lost_is_paid_again_within_the_budget(office: Office) -> None:
    """Killed after the fourth charge and before its answer: AIM has the lost cost less for its further rounds."""
    arguments = killed(office, "account", "Account", "_pay", "aim")
    assert charges(office) == [4]
    ended = office.run(*arguments, "--resume")
    assert ended.status == 0, ended.err
    receipt = Receipt.load(RECEIPT)
    assert receipt.verify(office.path).holds
    assert charges(office) == [len(receipt.document["charges"])]
    numbers = {answer["charge"] for answer in receipt.document["answers"]["marginals"]}
    assert 4 not in numbers, "charged, and never answered"
    assert receipt.document["spent"]["epsilon"] <= 1


def lose(office: Office, lost: int, *arguments: str, method: str) -> bool:
    """A run that ends after the charge with this number and before its answer is kept, as one that is killed."""
    answered: list[int] = []

    def compute(original):
        def computed(*given):
            answered.append(1)
            if len(answered) == lost:
                raise KeyboardInterrupt
            return original(*given)

        return computed

    with pytest.MonkeyPatch.context() as patched:
        for name in ("numbers", "choice"):
            patched.setattr(NoisyAnswers, name, compute(getattr(NoisyAnswers, name)))
        assert office.synth(*arguments, method=method).status in (0, 130)
    return len(answered) >= lost


A_ROUND = 12
"""More charges than a round of AIM makes."""
EACH, EVERY = 7, 4
"""So many of the first answers are lost, and then each fourth: the later ones of AIM are all of one kind."""


@pytest.mark.parametrize(
    ("method", "finished"),
    [("aim", {1, 2, 4, 5}), ("mst", {1, 2, 4, 5}), ("independent", set()), ("direct", set()), ("reweighting", set())],
)
def test_whichever_answer_is_lost_the_release_is_finished_or_given_up_soon(
    office: Office, method: str, finished: set[int]
) -> None:
    """What the lost answer cost is taken off what is left; where too little is, few questions are asked in vain."""
    assert office.synth("--out", "whole.csv", method=method).status == 0
    answers = 1 + len(Receipt.load("whole.receipt.json").document["charges"])
    for lost in (*range(1, min(EACH, answers)), *range(EACH, answers, EVERY)):
        kept, receipt = f"{lost}.ledger", f"{lost}.receipt.json"
        office.run("ledger", "create", kept, "--source", "people.csv", "--epsilon", "1", "--delta", "1e-6")
        given = ["--ledger", kept, "--out", f"{lost}.csv"]
        if not lose(office, lost, *given, method=method):
            break  # how many questions AIM asks depends on its answers
        ended = office.synth(*given, "--resume", method=method)
        with Ledger.open(kept, source="people.csv") as ledger:
            (release,) = ledger.releases()
        if ended.status == 0:
            document = Receipt.load(receipt).document
            assert document["charges"] == release.charges
            assert document["spent"]["epsilon"] <= 1
            assert office.run("receipt", "verify", receipt, "--ledger", kept).status == 0
            continue
        assert lost not in finished
        assert "this release can't be finished" in " ".join(ended.err.split())
        assert f"{len(release.charges)} charge" in ended.err, "with the lost one"
        assert len(release.charges) <= lost + (A_ROUND if method == "aim" else 3), "columns are asked for three times"


@pytest.mark.parametrize("method", ["independent", "mst"])
def test_the_noise_is_ready_before_the_first_charge(
    office: Office, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What draws it takes a second to load, in which a run that is killed would lose the first answer."""
    order: list[str] = []
    ready, charge = SystemRandomness.make_ready, Release.charge
    monkeypatch.setattr(SystemRandomness, "make_ready", lambda self: (order.append("ready"), ready(self)))
    monkeypatch.setattr(Release, "charge", lambda *a, **k: (order.append("charge"), charge(*a, **k))[1])
    assert office.synth("--ledger", "people.ledger", method=method).status == 0
    assert order[:2] == ["ready", "charge"]
    assert "opendp" in sys.modules


def test_a_lost_answer_that_the_budget_does_not_afford_is_told(office: Office) -> None:
    """MST spends all of its budget, so that none is left to pay twice for the pairs that it chose."""
    assert lose(office, 6, "--ledger", "people.ledger", method="mst")
    ended = office.synth("--ledger", "people.ledger", "--resume", method="mst")
    assert ended.status == 2
    assert "this release can't be finished" in ended.err
    assert TABLE not in office.files()
    given = ["synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--method", "mst"]
    assert_given_up(office, ended, [*given, "--ledger", "people.ledger"])


def test_a_new_run_does_not_pay_while_paid_answers_wait(office: Office) -> None:
    fill_at_the_end(office, "--ledger", "people.ledger")
    before, kept = charges(office), Path(ANSWERS).read_bytes()
    for further in ((), ("--force",)):
        refused = office.synth("--ledger", "people.ledger", *further, method="mst")
        assert refused.status == 2
        assert "--resume" in refused.err
        assert "--discard-answers" in refused.err
        assert charges(office) == before
        assert Path(ANSWERS).read_bytes() == kept
    both = office.synth("--resume", "--discard-answers", method="mst")
    assert both.status == 2
    assert "Found both" in both.err
    assert office.synth("--ledger", "people.ledger", "--discard-answers", method="mst").status == 0
    assert ANSWERS not in office.files()
    assert len(charges(office)) == 2, "given up, and paid for anew"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--rows", "50"), "rows null, where 50"),
        (("--fidelity", "0.1"), "fidelity null"),
        (("--check-schema", "0"), "schema check 0.01, where 0"),
        (("--max-model-size", "3"), "are of one with other parameters."),
        (("--relation", "replace_one"), 'relation "add_or_remove_one"'),
        (("--delta", "1e-8"), "delta 1e-09, where 1e-08"),
        (("--ledger", "people.ledger"), 'ledger "none", where "in a file"'),
    ],
)
def test_a_release_is_finished_with_the_options_that_it_was_begun_with(
    office: Office, changed: tuple[str, ...], said: str
) -> None:
    fill_at_the_end(office)
    refused = office.synth("--resume", *changed, method="mst")
    assert refused.status == 2
    assert said in " ".join(refused.err.split())
    assert office.releases() == []
    assert office.synth("--resume", method="mst").status == 0, "nothing was lost"


def test_another_method_schema_or_source_is_refused(office: Office) -> None:
    fill_at_the_end(office)
    assert "method" in office.synth("--resume", method="independent").err
    schema = Path("people.toml").read_text()
    Path("people.toml").write_text(schema.replace("99", "98"))
    assert "another schema" in office.synth("--resume", method="mst").err
    Path("people.toml").write_text(schema)
    Path("others.csv").write_text(Path("people.csv").read_text())
    given = ("--schema", "people.toml", "--epsilon", "1", "--method", "mst", "--resume", "--out", TABLE)
    assert "another source" in office.run("synth", "others.csv", *given).err
    Path("linked.csv").symlink_to("people.csv")
    assert office.run("synth", "linked.csv", *given).status == 0, "another name of the same file"


def test_there_must_be_something_to_resume(office: Office) -> None:
    before = office.files()
    refused = office.synth("--resume", "--ledger", "people.ledger")
    assert refused.status == 2
    assert f"There are none at {ANSWERS}" in refused.err
    assert office.files() == before
    assert office.releases() == []


@pytest.mark.parametrize("place", ["elsewhere", "elsewhere/paid.answers"])
def test_answers_are_kept_on_another_disk(office: Office, place: str) -> None:
    Path("elsewhere").mkdir()
    ended = fill_at_the_end(office, "--keep", place)
    (kept,) = Path("elsewhere").iterdir()
    assert str(kept) in ended.err
    assert kept.name == ("paid.answers" if place.endswith(".answers") else ANSWERS)
    assert ANSWERS not in office.files()
    done = office.synth("--keep", place, "--resume", method="mst")
    assert done.status == 0, done.err
    assert list(Path("elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--keep", "nowhere/paid.answers"), "There is no folder nowhere"),
        (("--keep", "people.csv"), "people.csv is the sensitive table"),
        (("--keep", "people.ledger", "--ledger", "people.ledger"), "people.ledger is the ledger"),
        (("--keep", TABLE), "another file of the same output"),
        (("--keep", "kept", "--seed", "1", "--not-private"), "made again at no cost"),
        (("--resume", "--seed", "1", "--not-private"), "made again at no cost"),
        (("--discard-answers", "--keep", "people.toml.copy"), "must be a file of answers"),
    ],
)
def test_places_that_can_not_keep_answers_are_refused_before_a_charge(
    office: Office, arguments: tuple[str, ...], said: str
) -> None:
    Path("people.toml.copy").write_text("kept")
    before = office.files()
    refused = office.synth(*arguments)
    assert refused.status == 2
    assert said in " ".join(refused.err.split())
    assert office.files() == before
    assert charges(office) == []


def test_the_steps_of_training_are_not_kept(office: Office) -> None:
    refused = office.synth("--keep", "kept.answers", method="wasserstein-generator")
    assert refused.status == 2
    assert "wasserstein-generator are not kept" in " ".join(refused.err.split())


def test_nothing_is_left_where_nothing_was_charged(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    before = office.files()
    with monkeypatch.context() as patched:
        patched.setattr(Account, "_charge", full)
        assert office.synth("--ledger", "people.ledger").status == 2
    assert office.files() == before
    assert charges(office) == []
    assert office.synth("--seed", "1", "--not-private").status == 0
    assert office.files() == before | {TABLE, RECEIPT}


def test_a_release_that_was_finished_after_all_says_so(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after its files were in place: the answers are still there, and the release is closed."""
    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.cli.synth_run.remove", full)
        assert office.synth("--ledger", "people.ledger").status == 2
    assert {ANSWERS, TABLE, RECEIPT} <= office.files()
    again = office.synth("--ledger", "people.ledger", "--resume")
    assert again.status == 2
    assert "is there already" in again.err
    again = office.synth("--ledger", "people.ledger", "--resume", "--force")
    assert again.status == 2
    assert "was closed" in again.err
    assert "it is whole" in " ".join(again.err.split())
    assert "finish the release without paying" not in " ".join(again.err.split())
    assert "--discard-answers, in place of --resume, deletes them" in " ".join(again.err.split())
    assert len(charges(office)) == 1


def test_a_folder_that_can_not_be_written_is_named(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may write everywhere, as tests may, sees no read-only folder: the system's answer is given by hand."""

    def refuse(*_: object, dir: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", f"{dir}/tmpq1w2e3")

    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.cli.outputs.tempfile.TemporaryFile", refuse)
        with pytest.raises(OSError, match="Read-only") as failed:
            require_writable(office.path)
        assert failed.value.filename == str(office.path)
        ended = office.synth("--out", office.path / "s.csv", "--ledger", "people.ledger")
    assert ended.err.strip() == (
        f"counterfoil: {office.path} can't be written, because its file system is read-only: choose another folder, or "
        "mount it for writing."
    )
    assert (ended.status, office.releases()) == (2, [])


def test_each_folder_of_several_outputs_must_be_writable(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    probed: list[Path] = []
    monkeypatch.setattr("counterfoil.cli.outputs.require_writable", probed.append)
    (office.path / "other").mkdir()
    require_free([office.path / "a", office.path / "b", office.path / "other" / "c"], force=False)
    assert probed == [office.path, office.path / "other"]


def test_what_permissions_do_not_allow_is_said_with_what_to_do(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, dir: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", f"{dir}/tmpq1w2e3")

    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.cli.outputs.tempfile.TemporaryFile", refuse)
        ended = office.synth("--out", office.path / "s.csv", "--ledger", "people.ledger")
    assert ended.err.strip().startswith(f"counterfoil: {office.path} can't be read or written, because its permissions")
    assert ended.err.strip().endswith("choose another place, or have them changed.")
    assert (ended.status, office.releases()) == (2, [])


@pytest.mark.parametrize("made", [".counterfoil-q1w2e3", ".counterfoil-q1/s.csv", ".s.csv.x9.part", "s.csv"])
def test_a_file_that_its_user_never_sees_is_not_named(made: str) -> None:
    said = failure_of(PermissionError(13, "Permission denied", f"/results/{made}"), show_values=False).sentence
    assert said.startswith(f"/results{'/s.csv' if made == 's.csv' else ''} can't be read or written, because ")


def test_a_file_that_can_not_be_replaced_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of one that nobody may change (`chattr +i`), in a folder that can be written."""

    def refuse(draft: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(draft), None, str(target))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError) as failed:
        write_text(tmp_path / "c.receipt.json", "signed")
    said = failure_of(failed.value, show_values=False).sentence
    assert said.startswith(f"{tmp_path / 'c.receipt.json'} can't be replaced, because its permissions or attributes")


@pytest.mark.skipif(os.name == "nt", reason="needs the modes of POSIX")
def test_kept_answers_are_their_owners_alone(office: Office) -> None:
    fill_at_the_end(office)
    assert Path(ANSWERS).stat().st_mode & 0o777 == 0o600
