"""`counterfoil check`, and what `counterfoil evaluate` says of a schema that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import SCHEMA, Office, make_office
from counterfoil.receipt.receipt import Receipt

NARROW = SCHEMA.replace("upper = 99\nbins = 10", "upper = 59\nbins = 6")


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    Path("narrow.toml").write_text(NARROW)
    return made


def test_a_schema_that_fits_ends_with_status_zero(office: Office) -> None:
    ended = office.run("check", "people.csv", "--schema", "people.toml")
    assert ended.status == 0, ended.err
    assert ended.out.startswith("NOT PRIVATE")
    assert ended.out.rstrip().splitlines()[-1].startswith("NOT PRIVATE")
    assert "In 3 columns, every value is as declared." in ended.out
    assert office.run("check", "people.csv", "--schema", "people.toml", "--json").document["as_declared"]


def test_all_columns_are_listed_with_counts_lines_and_remedies(office: Office) -> None:
    text = Path("people.csv").read_text().splitlines()
    text[3] = "females,140,low"
    text[9] = "male,old,low"
    Path("people.csv").write_text("\n".join(text) + "\n")
    assert office.synth("--out", "s.csv").status == 2  # stops at the first value that has no place
    ended = office.run("check", "people.csv", "--schema", "narrow.toml")
    assert ended.status == 1
    shown = " ".join(ended.out.split())
    assert "sex (categorical) 1 (0.333%) are none of the listed categories and have no place" in shown
    assert "`other = true`" in shown
    assert "line 4" in shown
    assert "are no numbers and have no place" in shown
    assert "lie above 59, the upper bound, and count as that: raise `upper`." in shown
    assert "In the other 1 column, every value is as declared." in shown
    assert "females" not in shown
    assert max(map(len, ended.out.splitlines())) <= 80
    values = office.run("check", "people.csv", "--schema", "narrow.toml", "--show-values").out
    assert "'females' (1)" in values
    document = office.run("check", "people.csv", "--schema", "narrow.toml", "--json").document
    assert not document["private"]
    (age,) = (column for column in document["columns"] if column["column"] == "age")
    assert {cell["placement"] for cell in age["cells"]} == {"above", "unreadable"}


def survey(columns: int) -> None:
    """A survey with the same slip in each column, of 1 to as many rows as its number."""
    names = [f"q{number:02d}" for number in range(1, columns + 1)]
    rows = [[9 if row < number else 1 for number in range(1, columns + 1)] for row in range(40)]
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    Path("survey.csv").write_text("\n".join(lines) + "\n")
    tables = [f'[columns.{name}]\nkind = "categorical"\nvalues = [1, 2]\nmissing = true' for name in names]
    Path("survey.toml").write_text("\n".join(f'{table}\nmissing_values = ["-1"]' for table in tables) + "\n")


def test_what_many_columns_have_in_common_is_said_once(office: Office) -> None:
    survey(31)
    ended = office.run("check", "survey.csv", "--schema", "survey.toml")
    assert ended.status == 1
    shown = " ".join(ended.out.split())
    named = "n 31 columns: q01, q02, q03 and 28 others"
    assert f"I{named} (categorical) 496 in all (at most 77.5% of one column) are none of the listed" in shown
    assert "most in q31, lines 2, 3, 4, 5, 6, ...; --json (in Python `to_json()`) lists each column" in shown
    assert f"i{named}: 1 declared category never occurs: 2." in shown
    assert f'i{named}: 1 declared word for missing never occurs: "-1".' in shown
    assert len(ended.out.splitlines()) < 20
    assert max(map(len, ended.out.splitlines())) <= 80
    document = office.run("check", "survey.csv", "--schema", "survey.toml", "--json").document
    assert [column["cells"][0]["count"] for column in document["columns"]] == list(range(1, 32))
    assert len(document["notes"]) == 62
    values = office.run("check", "survey.csv", "--schema", "survey.toml", "--show-values").out
    assert values.count("most often '9'") == 31


def test_two_columns_have_a_paragraph_each(office: Office) -> None:
    survey(2)
    shown = office.run("check", "survey.csv", "--schema", "survey.toml").out
    assert "columns:" not in shown
    assert shown.count("are none of the listed categories") == 2


def test_nothing_is_charged_and_the_ledger_keeps_the_look(office: Office) -> None:
    assert office.run("check", "people.csv", "--schema", "people.toml", "--ledger", "people.ledger").status == 0
    shown = office.run("ledger", "show", "people.ledger", "--json").document
    assert shown["releases"] == []
    assert "check of the schema" in str(shown["revealed"])


def test_the_counts_can_be_bought_alone(office: Office) -> None:
    arguments = ("check", "people.csv", "--schema", "narrow.toml", "--epsilon", "2", "--ledger", "people.ledger")
    ended = office.run(*arguments)
    assert ended.status == 0, ended.err
    shown = " ".join(ended.out.split())
    assert "NOT PRIVATE" not in shown
    assert "WARNING: About" in shown
    assert "of age lie above 59, the upper bound" in shown
    assert max(map(len, ended.out.splitlines())) <= 80
    assert office.run("receipt", "verify", "people.check.receipt.json").status == 0
    (release,) = office.releases()
    assert release["epsilon"] == 2
    assert [charge["query"] for charge in release["charges"]] == ["schema_placement"]
    assert "is there already" in office.run(*arguments).err
    unledgered = office.run(*arguments[:6], "--receipt", "other.json")
    assert unledgered.status == 0
    assert "No ledger" in unledgered.err
    assert Path("other.json").is_file()


def test_what_rows_of_one_person_have_in_common_is_said_where_they_are_named(office: Office) -> None:
    header, *rows = Path("people.csv").read_text().splitlines()
    twice = [f"{place},{row}" for place, row in enumerate(rows) for _ in range(2)]
    Path("twice.csv").write_text("\n".join([f"person,{header}", *twice]) + "\n")
    person = '[columns.person]\nkind = "identifier"\nreplace = "sequence"\n'
    Path("twice.toml").write_text(SCHEMA + person)
    arguments = ("check", "twice.csv", "--schema", "twice.toml")
    assert "in all rows of each person" not in " ".join(office.run(*arguments).out.split())
    ended = office.run(*arguments, "--privacy-unit", "person")
    assert ended.status == 0, ended.err
    assert f"in all rows of each person, as are age, income ({len(rows)} of {len(rows)} have several)" in " ".join(
        ended.out.split()
    )
    assert max(map(len, ended.out.splitlines())) <= 80
    notes = office.run(*arguments, "--privacy-unit", "person", "--json").document["notes"]
    assert [note["count"] for note in notes if note["note"] == "unit"] == [3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--privacy-unit", "person"), "has no column 'person' to be the privacy unit"),
        (("--delta", "0"), "`--delta` goes with `--epsilon`"),
        (("--confirm-delta", "0.5"), "`--confirm-delta` goes with `--epsilon`"),
        (("--epsilon", "1", "--delta", "0.5"), "repeat it with `--confirm-delta`"),
        (("--epsilon", "1", "--delta", "0.5", "--confirm-delta", "0.4"), "repeats delta. Found 0.4 beside 0.5"),
        (("--epsilon", "1e300"), "`epsilon` must be at most 1e+09"),
        (("--max-rows", "3"), "`--max-rows` goes with `--epsilon`"),
        (("--epsilon", "1", "--relation", "both"), "`--relation` must be"),
        (("--epsilon", "1", "--max-rows", "3"), "go together"),
        (("--epsilon", "1", "--receipt", "people.csv"), "people.csv"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(office: Office, arguments: tuple[str, ...], message: str) -> None:
    before = Path("people.csv").read_bytes()
    ended = office.run("check", "people.csv", "--schema", "people.toml", *arguments)
    assert ended.status == 2
    assert message in " ".join(ended.err.split())
    assert Path("people.csv").read_bytes() == before


def test_evaluate_says_what_is_read_as_missing(office: Office) -> None:
    schema = '[columns.temp]\nkind = "categorical"\nvalues = [1, 2]\nmissing = true\n'
    (office.path / "temp.toml").write_text(schema + schema.replace("temp", "kind_of_day"))
    (office.path / "real.csv").write_text("temp,kind_of_day\n" + "1,1\n" * 80 + "3,1\n" * 15 + ",2\n" * 5)
    (office.path / "made.csv").write_text("temp,kind_of_day\n" + "1,1\n" * 80 + ",2\n" * 20)
    ended = office.run("evaluate", "real.csv", "made.csv", "--schema", "temp.toml")
    assert ended.status == 0, ended.err
    shown = " ".join(ended.out.split())
    assert "The schema itself reads real values as missing: temp 15%." in shown
    assert "`counterfoil check` (in Python `check_without_privacy`) says how to mend it." in shown
    assert "missing %: with the cells that are read as missing." in shown
    assert "20 / 20" in shown
    assert "merges" not in shown


def test_evaluate_says_what_the_schema_moved(office: Office) -> None:
    assert office.run("synth", "people.csv", "--schema", "narrow.toml", "--epsilon", "1", "--out", "s.csv").status == 0
    arguments = ("evaluate", "people.csv", "s.csv", "--schema", "narrow.toml")
    ended = office.run(*arguments)
    assert ended.status == 0, ended.err
    shown = " ".join(ended.out.split())
    assert "The schema itself clamps or merges real values of age" in shown
    assert "mean" in shown
    assert "deviation" in shown
    assert max(map(len, ended.out.splitlines())) <= 80
    document = office.run(*arguments, "--json").document
    (age,) = (column for column in document["columns"] if column["column"] == "age")
    assert age["placed"]["real"]["above"] > 0.3
    assert age["numbers"]["real"]["quantiles"]["0.99"] > 90
    assert age["numbers"]["synthetic"]["quantiles"]["0.99"] <= 59
    assert office.run(*arguments, "--target", "income", "--ignore", "age").status == 0
    assert office.run(*arguments, "--target", "income", "--ignore", "income").status == 2


def test_help_fits_and_says_how_it_ends(office: Office) -> None:
    ended = office.run("check", "--help")
    assert ended.status == 0
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "status 1" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("budget", "warning"),
    [
        (("--epsilon", "1", "--delta", "0.5", "--confirm-delta", "0.5"), "Delta 0.5 is above one in the"),
        (("--epsilon", "2", "--delta", "0.02"), "Delta 0.02 is above one in the"),
        (("--epsilon", "11"), "Epsilon 11 protects hardly anybody"),
    ],
)
def test_a_budget_that_protects_little_is_told_where_counts_are_bought(
    office: Office, budget: tuple[str, ...], warning: str
) -> None:
    """About 300 rows, with noise whose standard error is below 10: one in them is below .02 by far."""
    ended = office.run("check", "people.csv", "--schema", "people.toml", *budget)
    assert ended.status == 0, ended.err
    assert f"WARNING: {warning}" in " ".join((ended.out + ended.err).split())
    (said,) = Receipt.load("people.check.receipt.json").document["warnings"]
    assert said.startswith(warning)
    assert office.run("receipt", "verify", "people.check.receipt.json").status == 0


def test_what_the_ledger_has_no_room_for_is_refused_before_a_record_is_read(office: Office) -> None:
    """A table that can't be read gives the same sentence, and the ledger counts no refusal that records caused."""
    arguments = ("check", "people.csv", "--schema", "people.toml", "--epsilon", "3.5", "--ledger", "people.ledger")
    sound = office.run(*arguments)
    assert sound.status == 2
    assert "Ask for at most what is left" in " ".join(sound.err.split())
    with Path("people.csv").open("a") as people:
        people.write("female\n")
    broken = office.run(*arguments)
    assert (broken.status, broken.err) == (2, sound.err)
    assert office.run("ledger", "show", "people.ledger", "--json").document["refused"] == 0


@pytest.mark.parametrize(
    "command",
    [
        ("check", "people.csv"),
        ("check", "people.csv", "--epsilon", "1"),
        ("evaluate", "people.csv", "people.csv"),
        ("synth", "people.csv", "--epsilon", "1"),
        ("train", "pate", "people.csv", "--epsilon", "1", "--target", "income", "--public", "absent.csv"),
    ],
)
def test_a_list_that_is_the_table_is_refused_before_it_is_read(office: Office, command: tuple[str, ...]) -> None:
    """Each value is repeated, which was told with its position."""
    wrong = SCHEMA.replace('values = ["low", "high"]', 'values_from = "people.csv"\ncolumn = "income"')
    Path("wrong.toml").write_text(wrong)
    ended = office.run(*command, "--schema", "wrong.toml")
    assert ended.status == 2
    assert "must be public. Found 'people.csv', which is the sensitive table" in " ".join(ended.err.split())
    assert "repeated" not in ended.err


def test_a_table_without_rows_is_not_said_to_be_as_declared(office: Office) -> None:
    Path("none.csv").write_text("sex,age,income\n")
    ended = office.run("check", "none.csv", "--schema", "people.toml")
    shown = " ".join((ended.out + ended.err).split())
    assert "NO ROWS" in shown
    assert "only the names of its columns were compared" in shown
    assert "every value is as declared" not in shown
    assert "NO ROWS" not in office.run("check", "people.csv", "--schema", "people.toml").out


def test_columns_that_are_not_checked_are_counted_beside_the_others(office: Office) -> None:
    lines = Path("people.csv").read_text().splitlines()
    rows = [f"{line},{'pid,note' if number == 0 else f'{number},x'}" for number, line in enumerate(lines)]
    Path("people.csv").write_text("\n".join(rows) + "\n")
    Path("more.toml").write_text(
        'ignore = ["note"]\n' + Path("people.toml").read_text() + '\n[columns.pid]\nkind = "identifier"\n'
    )
    ended = office.run("check", "people.csv", "--schema", "more.toml")
    assert ended.status == 0, ended.err
    shown = " ".join(ended.out.split())
    beside = "Beside them 1 identifier, whose values are not checked, and 1 ignored column, which is not read."
    assert f"people.csv: {len(lines) - 1} rows, 3 columns. {beside}" in shown
    assert max(map(len, ended.out.splitlines())) <= 80


def drafted(text: str, *columns: str) -> str:
    """A schema in which some columns are still to be confirmed."""
    for name in columns:
        text = text.replace(f"[columns.{name}]\n", f"[columns.{name}]\nconfirm = true\n")
    return text


def test_a_draft_is_checked_as_far_as_it_goes(office: Office) -> None:
    rule = '\n[[rules]]\nrequire = "age >= 0"\n[[rules]]\nif = "income == \\"low\\""\nthen = "age >= 3"\n'
    open_one = drafted(NARROW, "income", "age").replace('values = ["low", "high"]', "values = []")
    assert open_one.count("values = []") == 1
    Path("draft.toml").write_text(open_one + rule)
    ended = office.run("check", "people.csv", "--schema", "draft.toml")
    assert ended.status == 1
    shown = " ".join(ended.out.split())
    assert "lie above 59, the upper bound, and count as that: raise `upper`." in shown
    assert "The schema is a draft, and no release can be made of it." in shown
    assert "Checked as it stands, and still to be confirmed from public knowledge: age." in shown
    assert "Not checked, as this is not said yet: 'income': `values` must be a list of texts or numbers" in shown
    assert "One rule or derivation that names these columns was left out, too." in shown
    assert max(map(len, ended.out.splitlines())) <= 80
    document = office.run("check", "people.csv", "--schema", "draft.toml", "--json").document
    assert document["to_confirm"] == ["age"]
    assert [one["column"] for one in document["not_checked"]] == ["income"]
    assert [fact["fact"] for fact in document["facts"]] == ["age >= 0"]
    assert not document["as_declared"]


def test_a_draft_that_holds_as_it_stands_is_no_schema_yet(office: Office) -> None:
    Path("draft.toml").write_text(drafted(SCHEMA, "age"))
    ended = office.run("check", "people.csv", "--schema", "draft.toml", "--json")
    assert ended.status == 1
    assert ended.document["not_checked"] == []
    assert not ended.document["as_declared"]


def test_a_derived_column_of_what_is_left_open_is_left_out_with_it(office: Office) -> None:
    derived = '\n[[derived]]\nname = "sex"\nkind = "integer"\nexpression = "age + 1"\n'
    text = drafted(SCHEMA, "age").replace("upper = 99\n", 'upper = "?"\n') + derived
    Path("draft.toml").write_text(
        text.replace('[columns.sex]\nkind = "categorical"\nvalues = ["female", "male"]\n', "")
    )
    ended = office.run("check", "people.csv", "--schema", "draft.toml")
    assert "In 1 column, every value is as declared." in ended.out, ended.err


STAYS = """\
[columns.admitted]
kind = "date"
lower = 2020-01-01
upper = 2020-12-31
[columns.stay]
kind = "integer"
lower = 0
upper = 30
between = ["admitted", "discharged"]
[columns.age]
kind = "integer"
lower = 0
upper = 99
[[derived]]
name = "discharged"
kind = "date"
expression = "admitted + stay"
"""


@pytest.mark.parametrize(
    ("name", "open_fact", "left_out"),
    [("admitted", "2020-01-01", "2 facts that name"), ("stay", "30", "One rule or derivation that names")],
)
def test_lengths_of_time_of_dates_that_are_left_open_are_left_out_with_them(
    office: Office, name: str, open_fact: str, left_out: str
) -> None:
    Path("stays.csv").write_text("admitted,discharged,age\n2020-01-01,2020-01-04,7\n2020-02-01,2020-02-02,8\n")
    Path("draft.toml").write_text(drafted(STAYS, name).replace(f"= {open_fact}\n", '= "?"\n'))
    ended = office.run("check", "stays.csv", "--schema", "draft.toml")
    assert ended.status == 1, ended.err
    shown = " ".join(ended.out.split())
    assert f"Not checked, as this is not said yet: '{name}'" in shown
    assert f"{left_out} these columns w" in shown


def test_what_cannot_be_checked_of_a_draft_is_refused_with_what_is_open(office: Office) -> None:
    assert office.run("schema", "people.csv", "--out", "draft.toml").status == 0
    pattern = drafted(SCHEMA, "age").replace("[columns.age]", '[columns."ag*"]').replace("upper = 99\n", "")
    Path("pattern.toml").write_text(pattern)
    for name in ("draft.toml", "pattern.toml"):
        ended = office.run("check", "people.csv", "--schema", name)
        assert ended.status == 2
        assert "is a draft" in ended.err
    Path("wrong.toml").write_text(drafted(SCHEMA, "age").replace("upper = 99", "upper = -99"))
    assert office.run("check", "people.csv", "--schema", "wrong.toml").status == 2
