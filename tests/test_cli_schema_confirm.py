"""`counterfoil schema INPUT --confirm`: facts asked for on the terminal; no record is read."""

from __future__ import annotations

import io
import tomllib
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import Ended, Office, make_office
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Identifier, Integer, Real, Schema

HEADER = "id,sex,ok,age,weight,born,seen,notes"
ANSWERS = """\
identifier
uuid
categorical
f, m, "x, y"
n
no
yes
?, NA
boolean
ja
nee

integer
0
120

real
1.5
300
1


date
1900-01-01
2025-12-31
%d.%m.%Y

datetime
2020-01-01
2020-12-31T23:59:59
1mo


ignore
"""


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    # Nothing but the header is read: the rows can't be.
    (tmp_path / "town.csv").write_bytes(HEADER.encode() + b'\n"\xff' + b",,,,,\n" * 3)
    return made


def answered(office: Office, monkeypatch: pytest.MonkeyPatch, answers: str, *arguments: str) -> Ended:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    return office.run("schema", "town.csv", "--confirm", "--piped", "--out", "t.toml", *arguments)


def test_every_kind_is_asked_for_and_the_schema_is_whole(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = answered(office, monkeypatch, ANSWERS)
    assert ended.status == 0, ended.err
    schema = Schema.from_toml("t.toml")
    assert schema.columns == (
        Identifier("id", "uuid"),
        Categorical("sex", ("f", "m", "x, y"), missing=True, missing_values=("?", "NA")),
        Boolean("ok", "ja", "nee"),
        Integer("age", 0, 120),
        Real("weight", 1.5, 300, decimals=1),
        Date("born", date(1900, 1, 1), date(2025, 12, 31), format="%d.%m.%Y").in_full(),
        Datetime("seen", datetime(2020, 1, 1), datetime(2020, 12, 31, 23, 59, 59), "1mo"),
    )
    assert schema.ignore == ("notes",)
    assert schema.name == "town"
    assert "Confirmed 8 columns in t.toml." in ended.out
    assert "age (column 4 of 8)" in ended.out


def test_moments_with_an_offset_are_asked_where_their_days_begin(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    (office.path / "town.csv").write_text("at,on\n1,1\n")
    moments = "datetime\n2024-01-01\n2024-12-31\n1d\n%Y-%m-%dT%H:%M:%S%:z\nEurope/Zurich\n\n"
    ended = answered(office, monkeypatch, moments + "date\n2024-01-01\n2024-12-31\n%Y-%m-%d %H:%M%z\nUTC\n\n")
    assert ended.status == 0, ended.err
    at, on = Schema.from_toml("t.toml").columns
    assert isinstance(at, Datetime)
    assert isinstance(on, Date)
    assert (at.format, at.zone) == ("%Y-%m-%dT%H:%M:%S%:z", "Europe/Zurich")
    assert (on.format, on.zone) == ("%Y-%m-%d %H:%M%z", "UTC")


def test_cells_without_a_text_are_proposed_to_be_left_out(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    stays = pa.table({"stay": pa.array([90], pa.duration("s")), "age": [7]})
    pq.write_table(stays, office.path / "town.parquet")
    monkeypatch.setattr("sys.stdin", io.StringIO("\ninteger\n0\n9\n\n"))
    ended = office.run("schema", "town.parquet", "--confirm", "--piped", "--out", "t.toml")
    assert ended.status == 0, ended.err
    assert Schema.from_toml("t.toml").ignore == ("stay",)


def test_mistakes_are_answered_with_a_sentence_and_asked_again(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    (office.path / "town.csv").write_text("n,d,c\n1,1,1\n")
    wrong = "intejer\nint\nmany\n5\n4\nmaybe\nno\n" + "integer\n5\n9\nno\n"
    dates = "dat\ndate\n31.12.2020\n2020-12-31\n2021-01-01\n%d.%m\nno\n" + "date\n2020-12-31\n2021-01-01\n\nno\n"
    lists = 'cat\na,,b\n"a\n\na, b\nyes\n\n'
    ended = answered(office, monkeypatch, wrong + dates + lists)
    assert ended.status == 0, ended.err
    for said in (
        "Found 'intejer'.",
        "A whole number, please, such as 120. Found 'many'.",
        "Yes or no, please. Found 'maybe'.",
        "must be at most `upper`",
        "Once more, please.",
        "One of categorical, boolean, integer, real, date, datetime, identifier, ignore, please. Found 'dat'.",
        "A date, please, such as 2020-01-31. Found '31.12.2020'.",
        "Found nothing between two of them.",
        "a quote that is not closed",
        "An answer is needed.",
    ):
        assert said in ended.out, said
    assert Schema.from_toml("t.toml").columns == (
        Integer("n", 5, 9),
        Date("d", date(2020, 12, 31), date(2021, 1, 1)),
        Categorical("c", ("a", "b"), other=True),
    )


def test_types_of_the_storage_are_the_defaults(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"n": [1], "x": [0.5], "person_id": [1]}), "t.parquet")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n0\n9\n\n\n0\n1\n\n\nidentifier\n\n"))
    ended = office.run("schema", "t.parquet", "--confirm", "--piped", "--out", "t.toml")
    assert ended.status == 0, ended.err
    assert [column.kind for column in Schema.from_toml("t.toml").columns] == ["integer", "real", "identifier"]
    assert "stored as whole numbers)" in ended.out


@pytest.mark.parametrize(
    ("signs", "head", "own"),
    [((",", ""), ",", ["", ""]), ((",", "."), "", [",", ""]), (("", ""), "", ["", ""]), ((";\n,", ","), ",", ["", ""])],
)
def test_the_decimal_sign_of_reals_is_asked_once_for_each_and_stands_for_all_where_it_can(
    office: Office, monkeypatch: pytest.MonkeyPatch, signs: tuple[str, str], head: str, own: list[str]
) -> None:
    (office.path / "town.csv").write_text("n;x;y\n1;1,5;2,5\n")
    first, second = (f"real\n0\n9.5\n1\n{sign}\nno\n" for sign in signs)
    ended = answered(office, monkeypatch, f"integer\n0\n9\nno\n{first}{second}")
    assert ended.status == 0, ended.err
    assert 'decimal sign of its cells, "." or ","' in ended.out
    facts = tomllib.loads(Path("t.toml").read_text())
    assert facts.get("decimal_char", "") == head
    assert [facts["columns"][name].get("decimal_char", "") for name in "xy"] == own
    assert getattr(Schema.from_toml("t.toml")["n"], "decimal_char", "") == head


def test_a_sign_that_is_stated_is_not_asked(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    (office.path / "town.csv").write_text("x\n1\n")
    ended = answered(office, monkeypatch, "real\n0\n9\n1\nno\n", "--decimal-char", ",")
    assert ended.status == 0, ended.err
    assert "decimal sign" not in ended.out


def test_answers_that_end_early_write_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    before = office.files()
    ended = answered(office, monkeypatch, ANSWERS[:40])
    assert ended.status == 2
    assert "The answers ended before the last question. No file was written" in ended.err
    assert office.files() == before


def test_where_everything_is_left_out_nothing_is_written(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    before = office.files()
    ended = answered(office, monkeypatch, "ignore\n" * 8)
    assert ended.status == 2
    assert office.files() == before


def test_an_interrupt_writes_nothing_and_says_so(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *_: object) -> str:
            raise KeyboardInterrupt

    before = office.files()
    monkeypatch.setattr("sys.stdin", Interrupted())
    ended = office.run("schema", "town.csv", "--confirm", "--piped", "--out", "t.toml")
    assert ended.status == 130
    assert "no file was written" in ended.err
    assert office.files() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--confirm", "--out", "t.toml"), "add --piped"),
        (("--confirm", "--piped"), "Found no `--out`"),
        (("--confirm", "--piped", "--out", "town.csv"), "sensitive table"),
        (("--confirm", "--piped", "--out", "people.toml"), "is there already"),
        (("--confirm", "--piped", "--out", "t.toml", "--ledger", "people.ledger"), "goes with `--epsilon`"),
    ],
)
def test_bad_input_is_a_sentence(
    office: Office, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(ANSWERS))
    before = office.files()
    ended = office.run("schema", "town.csv", *arguments)
    assert ended.status == 2
    assert said in ended.err
    assert office.files() == before


def test_no_name_of_a_column_is_obeyed(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    (office.path / "town.csv").write_text('"\x1b[31mred","a*\u202e"\n1,1\n')
    ended = answered(office, monkeypatch, "bool\n\n\nbool\n\n\n")
    assert ended.status == 0, ended.err
    written = ended.out + Path("t.toml").read_text()
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert [column.name for column in Schema.from_toml("t.toml").columns] == ["\x1b[31mred", "a*\u202e"]
