"""`counterfoil check` and `counterfoil evaluate` on facts that records break, and on what is worth a look."""

from __future__ import annotations

from pathlib import Path

from command_line import SCHEMA, Office

FACTS = """
[[derived]]
name = "double"
kind = "integer"
expression = "2 * age"

[[rules]]
if = "sex == 'male'"
then = "age >= 40"

[[zeros]]
columns = ["sex", "income"]
values = [["female", "high"]]
"""


def records() -> list[tuple[str, int, str]]:
    lines = Path("people.csv").read_text().splitlines()
    assert lines[0] == "sex,age,income"
    return [(sex, int(age), income) for sex, age, income in (line.split(",") for line in lines[1:])]


def with_facts() -> None:
    Path("facts.toml").write_text(SCHEMA + FACTS)
    rows = [f"{sex},{age},{income},{2 * age + (i == 3)}" for i, (sex, age, income) in enumerate(records())]
    Path("more.csv").write_text("\n".join(["sex,age,income,double", *rows]) + "\n")


def test_broken_facts_are_listed_with_lines_and_end_with_status_one(office: Office) -> None:
    with_facts()
    rows = records()
    rule = [i + 2 for i, (sex, age, _) in enumerate(rows) if sex == "male" and age < 40]
    zeros = [i + 2 for i, (sex, _, income) in enumerate(rows) if (sex, income) == ("female", "high")]
    assert len(rule) > 5
    assert len(zeros) > 5
    ended = office.run("check", "more.csv", "--schema", "facts.toml")
    assert ended.status == 1
    shown = " ".join(ended.out.split())
    assert f"rule `if sex == 'male' then age >= 40` broken by {len(rule)} records (" in shown
    assert f"lines {', '.join(map(str, rule[:5]))}, ..." in shown
    assert f"zeros of sex and income found in {len(zeros)} records (" in shown
    assert f"lines {', '.join(map(str, zeros[:5]))}, ..." in shown
    assert "derived `double = 2 * age` not so in 1 record (" in shown
    assert "line 5 In 3 columns, every value is as declared." in shown
    assert max(map(len, ended.out.splitlines())) <= 80
    document = office.run("check", "more.csv", "--schema", "facts.toml", "--json").document
    assert not document["as_declared"]
    assert [(fact["kind"], fact["count"], fact["first_lines"]) for fact in document["facts"]] == [
        ("rule", len(rule), rule[:5]),
        ("zeros", len(zeros), zeros[:5]),
        ("derived", 1, [5]),
    ]


def test_evaluate_says_which_share_of_real_rows_breaks_a_rule(office: Office) -> None:
    with_facts()
    rows = records()
    share = 100 * sum(sex == "male" and age < 40 for sex, age, _ in rows) / len(rows)
    ended = office.run("evaluate", "more.csv", "more.csv", "--schema", "facts.toml")
    assert ended.status == 0, ended.err
    assert "Real rows that break a fact of the schema" in ended.out
    assert f"{share:.3g}%  rule `if sex == 'male' then age >= 40`" in ended.out
    assert "W_1: in deviations of the real numbers." in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    plain = office.run("evaluate", "people.csv", "people.csv", "--schema", "people.toml")
    assert "break a fact" not in plain.out


def test_notes_leave_the_status_as_it_is(office: Office) -> None:
    Path("wide.toml").write_text(
        SCHEMA.replace("upper = 99\nbins = 10", "upper = 99999\nbins = 10").replace('"male"]', '"male", "diverse"]')
    )
    ended = office.run("check", "people.csv", "--schema", "wide.toml")
    assert ended.status == 0
    shown = " ".join(ended.out.split())
    assert "Worth a look: sex: 1 declared category never occurs: diverse." in shown
    assert "age: 100% of age lie in one of its 10 bins: leave `bins` out, or give `edges`." in shown
    assert "In 3 columns, every value is as declared." in shown
    assert max(map(len, ended.out.splitlines())) <= 80
    document = office.run("check", "people.csv", "--schema", "wide.toml", "--json").document
    assert document["as_declared"]
    assert [note["note"] for note in document["notes"]] == ["never_occurs", "one_bin"]
    assert "Worth a look" not in office.run("check", "people.csv", "--schema", "people.toml").out


def test_texts_of_records_are_shown_only_where_they_are_asked_for(office: Office) -> None:
    Path("codes.toml").write_text('[columns.code]\nkind = "categorical"\nvalues = ["7", "8"]\n')
    Path("codes.csv").write_text("code\n007\n8\n7\n")
    quiet = office.run("check", "codes.csv", "--schema", "codes.toml")
    assert quiet.status == 0
    assert "in 1 of its cells the text is not that of the category" in " ".join(quiet.out.split())
    assert "007" not in quiet.out
    assert "most often '007' (1)" in office.run("check", "codes.csv", "--schema", "codes.toml", "--show-values").out
