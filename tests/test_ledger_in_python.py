"""Ledgers, sources, units and budgets as a user has them in Python: paths and strings."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pandas as pd
import pytest

import counterfoil as cf
from command_line import SCHEMA, write_people
from counterfoil.cli.app import run
from counterfoil.curator.unnoted import UnnotedWarning
from counterfoil.evaluation.comparison import compare
from counterfoil.ledger.errors import LedgerError, LedgerUnwritable, NotALedger, WrongSource
from counterfoil.ledger.no_ledger import NoLedgerWarning
from counterfoil.ledger.release import Release
from counterfoil.receipt.receipt import Receipt

TOTAL = (3.0, 1e-6)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path / "people.csv")
    Path("people.toml").write_text(SCHEMA)
    cf.Ledger.create("people.ledger", source="people.csv", total=TOTAL).close()
    return tmp_path


def synthesize(**changes):
    given = {"epsilon": 0.5, "method": "independent", "ledger": "people.ledger"} | changes
    return cf.synthesize("people.csv", "people.toml", **given)


def statuses() -> list[tuple[float, str]]:
    with cf.Ledger.open("people.ledger", source="people.csv") as ledger:
        return [(record.budget.epsilon, record.status) for record in ledger.releases()]


def test_a_ledger_by_its_path_is_charged_and_closed(place, monkeypatch):
    closed = []
    monkeypatch.setattr(cf.Ledger, "close", lambda self, close=cf.Ledger.close: (closed.append(1), close(self)))
    for ledger in ("people.ledger", Path("people.ledger")):
        assert synthesize(ledger=ledger).receipt.document["ledger"] is True
    assert len(closed) == 2
    with cf.Ledger.open("people.ledger", source="people.csv") as mine:
        closed.clear()
        synthesize(ledger=mine)
        assert not closed, "a ledger that was given open stays open"
    assert statuses() == [(0.5, "closed")] * 3


def test_a_ledger_knows_the_receipt_of_what_it_paid_for(place):
    made = synthesize(ledger="people.ledger")
    made.save("release")
    with cf.Ledger.open("people.ledger", source="people.csv") as ledger:
        checked = Receipt.load("release/receipt.json").verify(ledger=ledger)
    assert checked.holds, checked.problems


def test_a_release_outlives_a_ledger_that_can_not_note_its_receipt(place, monkeypatch):
    def full(*_: object) -> None:
        raise LedgerUnwritable("people.ledger: the disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(Release, "record_receipt", full)
        with pytest.warns(UnnotedWarning, match="the disk is full"):
            made = synthesize(ledger="people.ledger")
    assert made.receipt.verify().holds
    assert statuses() == [(0.5, "open")]


def test_a_frame_has_the_ledger_that_the_refusal_of_it_names(place):
    frame = pd.read_csv("people.csv")
    with pytest.raises(TypeError, match=r"`counterfoil\.SourceIdentity\('memory', 'memory'\)` for a table in memory"):
        cf.Ledger.create("frame.ledger", source=frame, total=TOTAL)
    with cf.Ledger.create("frame.ledger", source=cf.SourceIdentity("memory", "memory"), total=TOTAL) as ledger:
        cf.synthesize(frame, "people.toml", epsilon=0.5, method="independent", ledger=ledger)
        assert ledger.spent().epsilon == 0.5


def test_a_curator_takes_paths_too_and_closes_what_it_opened(place):
    facts = {"budget": cf.Budget(0.25, 1e-9), "ledger": "people.ledger", "privacy_unit": ("sex", 2)}
    with cf.Curator("people.csv", "people.toml", **facts) as curator:
        made = cf.Independent().synthesize(curator)
        curator.record_receipt("0f" * 32)
    assert made.receipt.document["privacy_unit"]["max_rows"] == 2
    with pytest.raises(ValueError, match="A receipt is of an open release"):
        curator.record_receipt("0f" * 32)
    with cf.Ledger.open("people.ledger", source="people.csv") as ledger:
        assert ledger.receipts() == {"0f" * 32: 1}
        assert ledger.releases()[0].relation == "add_or_remove_one of sex with at most 2 rows"


def test_an_error_closes_the_ledger_that_was_opened(place, monkeypatch):
    closed = []
    monkeypatch.setattr(cf.Ledger, "close", lambda self, close=cf.Ledger.close: (closed.append(1), close(self)))
    Path("people.csv").write_text(Path("people.csv").read_text() + "secret,3,low\n")
    with pytest.raises(ValueError, match="sex"):
        synthesize()
    with pytest.raises(ValueError, match="sex"):
        cf.Curator("people.csv", "people.toml", budget=cf.Budget(1.0), ledger="people.ledger")
    assert len(closed) == 2
    with cf.Ledger.open("people.ledger", source=None) as ledger:
        assert len(ledger.refusals()) == 2


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"privacy_unit": "sex"}, TypeError, r"Found 'sex' alone: give, for example, \('sex', 3\)\."),
        ({"ledger": 7}, TypeError, "`ledger` must be a `Ledger` or the path of its file. Found int"),
        (
            {"ledger": "absent.ledger"},
            NotALedger,
            r"There is no ledger at absent\.ledger\. .* \(in Python `Ledger\.create`\)",
        ),
        ({"delta": 0.5}, ValueError, r"Found 0\.5, with which everything .* may be revealed"),
        ({"delta": 0.5, "confirm_delta": 0.4}, ValueError, r"repeats delta\. Found 0\.4"),
    ],
)
def test_whoever_passes_something_else_gets_one_sentence(place, changes, error, said):
    with pytest.raises(error, match=said) as refusal:
        synthesize(**changes)
    assert "\n" not in str(refusal.value)
    assert statuses() == []


@pytest.mark.parametrize("wrong", [7, None, {"columns": {}}])
def test_a_schema_is_a_schema_or_a_path(place, wrong):
    for ask in (
        lambda: cf.synthesize("people.csv", wrong, epsilon=1.0),
        lambda: cf.Curator("people.csv", wrong, budget=cf.Budget(1.0)),
    ):
        with pytest.raises(TypeError, match="`schema` must be a `Schema` or the path of the TOML file that states it"):
            ask()


def test_a_delta_said_twice_is_taken_and_told(place):
    made = synthesize(delta=0.5, confirm_delta=0.5, ledger=None)
    assert any("Delta 0.5 is above one in the" in said for said in made.receipt.document["warnings"])
    assert made.receipt.verify().holds


def test_a_source_is_compared_as_a_file(place):
    os.symlink("people.csv", "link.csv")
    Path("sub").mkdir()
    for name in ("people.csv", "./people.csv", "sub/../people.csv", "link.csv", place / "people.csv"):
        cf.Ledger.open("people.ledger", source=name).close()
    Path("copy.csv").write_bytes(Path("people.csv").read_bytes())
    with pytest.raises(WrongSource, match=r"counterfoil ledger move people\.ledger --source"):
        cf.Ledger.open("people.ledger", source="copy.csv")
    with pytest.raises(WrongSource, match="give the path of that file instead"):
        cf.synthesize(pd.read_csv("people.csv"), "people.toml", epsilon=0.5, ledger="people.ledger")
    assert statuses() == []


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"source": "absent.csv"}, ValueError, r"Found no file .*absent\.csv: correct the path"),
        ({"source": pd.DataFrame({"a": [1]})}, TypeError, "Found DataFrame"),
        ({"total": "much"}, TypeError, r"`Budget`, \(epsilon, delta\), or epsilon alone\. Found str"),
        ({"total": (1.0, 0.1)}, ValueError, "`confirm_delta` in Python"),
        ({"source": "new.ledger"}, ValueError, "is the sensitive table"),
    ],
)
def test_a_ledger_that_can_not_be_made_is_not_made(place, changes, error, said):
    Path("other.csv").write_text("a\n")
    if said == "is the sensitive table":
        Path("new.ledger").write_text("a\n")
    before = sorted(os.listdir())
    with pytest.raises(error, match=said):
        cf.Ledger.create("new.ledger", **{"source": "people.csv", "total": 1.0} | changes)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("total", [cf.Budget(2.0, 1e-7), (2.0, 1e-7), 2])
def test_a_total_as_a_budget_a_pair_or_a_number(place, total):
    with cf.Ledger.create("new.ledger", source=Path("people.csv"), total=total) as ledger:
        assert (ledger.total.epsilon, ledger.total.delta) == (2.0, 0.0 if total == 2 else 1e-7)
        assert ledger.source.location == str(place / "people.csv")


def test_the_page_in_python_is_that_of_the_command(place, capsys):
    synthesize()
    with cf.Ledger.open("people.ledger", source=None) as ledger:
        ledger.record_reveal("to look <around>")
        ledger.record_refusal()
        text, html, short = ledger.text(), ledger._repr_html_(), repr(ledger)
    assert run(["ledger", "show", "people.ledger"]) == 0
    assert capsys.readouterr().out == text
    assert "&lt;around&gt;" in html
    assert ">Ledger of people.csv</div>" in html
    assert short == (
        "Ledger('people.ledger', for 'people.csv', total epsilon 3 and delta 1e-06, spent epsilon 0.5 and delta 1e-09, "
        "left epsilon 2.5 and delta 9.99e-07)"
    )
    assert repr(ledger) == "Ledger('people.ledger', for 'people.csv', total epsilon 3 and delta 1e-06)", "once closed"


def test_texts_of_others_are_shown_inert(place):
    with cf.Ledger.open("people.ledger", source="people.csv") as ledger:
        Path("a\x1b[31m.csv").write_text("a\n")
        ledger.move("a\x1b[31m.csv")
        ledger.record_reveal("because \x1b[2J\nof this")
        assert "\x1b" not in ledger.text() + repr(ledger)
        assert "because \\x1b[2J of this" in " ".join(ledger.text().split())


def test_a_look_without_a_ledger_is_not_silent(place):
    synthesize(ledger=None).write("made.csv")
    schema = cf.Schema.from_toml("people.toml")
    for _ in range(2):
        with pytest.warns(NoLedgerWarning, match="nothing will record that the records were looked at") as caught:
            compare("people.csv", "made.csv", schema)
        assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        compare("people.csv", "made.csv", schema, ledger="people.ledger")
    with cf.Ledger.open("people.ledger", source="people.csv") as ledger:
        assert [look.reason for look in ledger.reveals()] == ["comparison of a synthetic table with the real one"]


def test_the_commands_write_a_move_down_and_warn_of_absurd_totals(place, capsys):
    synthesize()
    os.rename("people.csv", "clients.csv")
    assert run(["ledger", "move", "people.ledger", "--source", "clients.csv"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        f"people.ledger is for clients.csv at {place / 'clients.csv'} now, and before for 'people.csv'"
    )
    with cf.Ledger.open("people.ledger", source="clients.csv") as ledger:
        assert ledger.left().epsilon == 2.5
    assert run(["ledger", "move", "people.ledger", "--source", "people.csv"]) == 2
    assert "There is no file" in capsys.readouterr().err
    create = ["ledger", "create", "b.ledger", "--source", "clients.csv", "--epsilon"]
    assert run([*create, "1", "--delta", "0.5"]) == 2
    assert "--confirm-delta" in capsys.readouterr().err
    assert not Path("b.ledger").exists()
    assert run([*create, "1e9", "--delta", "0.5", "--confirm-delta", "0.5"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Warning: Epsilon 1e+09 protects hardly anybody" in said
    assert "Warning: Delta 0.5 allows everything to be revealed with that probability" in said


def test_budgets_that_protect_little_are_warned_of_in_python(place):
    with pytest.warns(cf.LooseBudgetWarning, match="Epsilon 20 protects hardly anybody"):
        cf.Ledger.create("b.ledger", source="people.csv", total=(20, 1e-6)).close()
    with pytest.warns(cf.LooseBudgetWarning) as said:
        synthesize(epsilon=11, ledger="b.ledger")
    assert [str(one.message).startswith("Epsilon 11 protects") for one in said] == [True]
    assert Path(said[0].filename).name == Path(__file__).name  # the line of the caller, not one of the package
    with warnings.catch_warnings():
        warnings.simplefilter("error", cf.LooseBudgetWarning)
        cf.Ledger.create("c.ledger", source="people.csv", total=(10, 1e-6)).close()
        synthesize(epsilon=1, ledger="c.ledger")


def test_what_a_ledger_refuses_names_no_second_ledger(place):
    synthesize(privacy_unit=("sex", 3))
    synthesize(privacy_unit=("sex", 1))
    with pytest.raises(LedgerError, match="with the privacy unit 'sex', with any number of rows, for this release too"):
        synthesize()
    assert statuses() == [(0.5, "closed")] * 2
