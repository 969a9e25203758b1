"""`counterfoil plan`: tables for people, JSON for programs, a picture, and a sentence for what it can't do."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from command_line import Ended, Office
from counterfoil.cli.app import run
from counterfoil.cli.plan_report import outlook_svg
from counterfoil.pictures.outlook import Course, described, outlook_picture, ticks
from counterfoil.planning import plan
from counterfoil.schema import Schema

GIVEN = ("--schema", "people.toml", "--rows", "200", "--jobs", "1", "--runs", "2", "--method", "independent")


def planned(office: Office, *arguments: str) -> Ended:
    return office.run("plan", *GIVEN, *arguments)


def test_tables_fit_in_80_columns_and_name_everything(office: Office) -> None:
    ended = planned(office, "--epsilon", "0.3,1,3", "--target", "income", "--want", "pairs 0.3")
    assert ended.status == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= 80
    assert ended.err == "", "no bar where there is no terminal, and no warning of a ledger"
    for text in ("weak relations", "strong relations", "By column", "The worst pairs", "Models that predict"):
        assert text in ended.out
    assert "takes epsilon" in ended.out
    assert "± is the standard deviation between rehearsals" in ended.out
    assert "nothing was charged" in " ".join(ended.out.split())


def test_json_is_one_document_and_the_same_each_time(office: Office) -> None:
    one, same, other = (
        planned(office, "--epsilon", "1", "--json", "--seed", seed).document for seed in ("1", "1", "2")
    )
    assert one == same
    assert one["outlook"] != other["outlook"]
    assert [part["epsilon"] for part in one["outlook"]] == [1.0, 1.0]
    assert one["picture"] is None


def test_without_epsilons_three_are_shown_unless_something_is_wanted(office: Office) -> None:
    shown = planned(office, "--json").document
    assert sorted({part["epsilon"] for part in shown["outlook"]}) == [0.3, 1.0, 3.0]
    wanted = planned(office, "--json", "--want", "pairs 0.4").document
    assert wanted["outlook"] == []
    assert [part["records"] for part in wanted["wanted"]] == ["weak relations", "strong relations"]


def test_a_public_table_comes_with_a_warning(office: Office) -> None:
    shutil.copy("people.csv", "public.csv")
    ended = planned(office, "--epsilon", "1", "--like", "public.csv", "--json")
    assert ended.status == 0, ended.err
    assert "WARNING: --like must be a public table: never the sensitive one" in " ".join(ended.err.split())
    assert {part["records"] for part in ended.document["outlook"]} == {"public table"}
    assert any("never the sensitive one" in note for note in ended.document["notes"])


def test_the_public_table_says_how_many_records_there_are_where_nothing_else_does(office: Office) -> None:
    shutil.copy("people.csv", "public.csv")
    there = len(Path("public.csv").read_text().splitlines()) - 1
    plan = ("plan", "--schema", "people.toml", "--epsilon", "1", *GIVEN[4:])
    ended = office.run(*plan, "--like", "public.csv")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert f"on {there:,} records" in said
    assert f"as many records as the public one, {there:,}. Give --rows where it has fewer or more" in said
    refused = office.run(*plan)
    assert refused.status == 2
    assert "Give `--rows`, about how many there are, or rehearse on a public table" in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--epsilon", "a,b"), "must be numbers with commas, such as 0.3,1,3. Found 'a,b'"),
        (("--epsilon", ""), "must be numbers with commas"),
        (("--epsilon", "1,,2"), "must be numbers with commas"),
        (("--epsilon", "0"), "must be above 0 and at most 100"),
        (("--epsilon", "1e9"), "must be above 0 and at most 100"),
        (("--rows", "0"), "must be a whole number of at least 1"),
        (("--rows", "1000000000000"), "GB of memory (60 bytes a cell)"),
        (("--method", "aimm"), "Did you mean 'aim'?"),
        (("--want", "nonsense"), "`want` must be 'pairs 0.08'"),
        (("--want", "incme auc 0.8"), "Did you mean 'income'?"),
        (("--target", "agge"), "Did you mean 'age'?"),
        (("--like", "nowhere.csv"), "There is no file"),
        (("--like", "people.csv"), "people.ledger protects"),
        (("--picture", "plan.png"), "is written as .svg"),
        (("--picture", "nowhere/plan.svg"), "There is no folder nowhere"),
        (("--picture", "people.svg"), "is there already"),
        (("--schema", "nowhere.toml"), "nowhere.toml"),
        (("--schema", "draft.toml"), "is a draft"),
    ],
)
def test_bad_input_is_a_sentence_and_leaves_nothing(office: Office, arguments: tuple[str, ...], sentence: str) -> None:
    Path("people.svg").write_text("mine")
    Path("draft.toml").write_text('[columns.a]\nkind = "?"\nconfirm = true\n')
    before = {path.name: path.read_bytes() for path in office.path.iterdir()}
    ended = planned(office, *arguments)
    assert ended.status == 2
    assert sentence in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert {path.name: path.read_bytes() for path in office.path.iterdir()} == before


def test_a_picture_never_takes_the_place_of_what_is_needed(office: Office) -> None:
    shutil.copy("people.toml", "schema.svg")
    shutil.copy("people.csv", "public.csv")
    Path("link.svg").symlink_to("public.csv")
    for options in (
        ("--schema", "schema.svg", "--picture", "schema.svg"),
        ("--picture", "link.svg", "--like", "public.csv"),
    ):
        ended = planned(office, "--epsilon", "1", "--force", *options)
        assert ended.status == 2
        assert "must not overwrite" in ended.err


def test_the_picture_is_svg_that_says_its_figures(office: Office) -> None:
    ended = planned(office, "--epsilon", "0.5,1", "--picture", "plan.svg", "--json")
    assert ended.status == 0, ended.err
    assert ended.document["picture"] == "plan.svg"
    root = ElementTree.parse("plan.svg").getroot()
    assert root.tag.endswith("svg")
    description = root.findtext("{http://www.w3.org/2000/svg}desc") or ""
    for part in ended.document["outlook"]:
        assert f"{part['mean_pair_error']['mean']:.3g} at epsilon {part['epsilon']:g}" in description
    assert planned(office, "--epsilon", "1", "--picture", "plan.svg").status == 2
    assert planned(office, "--epsilon", "1", "--picture", "plan.svg", "--force").status == 0


def test_names_of_columns_are_shown_inert_and_cut(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["\x1b[31mred\nline", "[bold]=1+1|<script>", "y" * 5000]
    columns = [f"[columns.{json.dumps(name)}]\nkind = 'boolean'" for name in names]
    Path("odd.toml").write_text("\n".join(columns))
    arguments = ["plan", "--schema", "odd.toml", "--rows", "100", "--epsilon", "1", "--runs", "1", "--jobs", "1"]
    status = run([*arguments, "--method", "independent", "--target", names[1], "--picture", "p.svg"])
    shown = capsys.readouterr()
    assert status == 0, shown.err
    assert "\x1b" not in shown.out
    assert "[bold]=1+1|<script>" in shown.out
    assert r"\x1b[31mred\nline" in shown.out
    assert "y" * 30 not in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    ElementTree.parse("p.svg")


def test_courses_are_drawn_also_where_they_have_one_epsilon_or_no_error() -> None:
    for course in (
        Course("public <table>", (1.0,), (0.0,), (0.0,), (0.0,)),
        Course("public & table", (0.5, 1.0), (0.2, 0.0), (0.1, 0.0), (0.3, 0.0)),
    ):
        text = outlook_picture([course], title="<b>")
        root = ElementTree.fromstring(text)
        assert "NaN" not in text.replace(described([course]), "")
        assert "Infinity" not in text
        assert root.findtext("{http://www.w3.org/2000/svg}title") == "<b>"


def test_the_symbols_of_the_legend_are_alike() -> None:
    """The rules of the first kind of records are wider than those of the second; their symbols are not."""
    courses = [Course(name, (1.0,), (0.2,), (0.1,), (0.3,)) for name in ("one", "another")]
    text = outlook_picture(courses, title="x")
    symbols = [text[: text.index(f">{name}</text>")].rpartition("<path ")[2] for name in ("one", "another")]
    widths = [re.search(r'stroke-width="[^"]*"', symbol) for symbol in symbols]
    outlines = [re.search(r' d="[^"]*"', symbol) for symbol in symbols]
    assert len({found and found[0] for found in widths}) == len({found and found[0] for found in outlines}) == 1
    assert 'stroke-width="9"' in text


def test_the_axis_names_round_epsilons_apart() -> None:
    course = Course("x", (0.3, 1.0, 1.1, 1.23456, 3.0), *((0.1,) * 5,) * 3)
    assert ticks([course]) == [0.3, 1.0, 3.0]


def test_the_picture_of_a_search_has_the_epsilons_that_were_tried() -> None:
    schema = Schema.from_toml("[columns.a]\nkind='boolean'\n[columns.b]\nkind='boolean'")
    outlook = plan(schema, rows=300, wants=["pairs 0.2"], method="independent", runs=1)
    assert "mean pair error" in outlook_svg(outlook).lower()
    assert outlook.epsilons == ()


def test_no_process_is_left(office: Office) -> None:
    ended = office.run("plan", *GIVEN[:4], "--runs", "1", "--jobs", "2", "--epsilon", "1", "--method", "mst", "--json")
    assert ended.status == 0, ended.err
    one = office.run("plan", *GIVEN[:4], "--runs", "1", "--jobs", "1", "--epsilon", "1", "--method", "mst", "--json")
    assert ended.document == one.document


def test_options_of_a_method_reach_the_rehearsals(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def never(task: Any) -> None:
        seen.append(task.setting.synthesizer)
        raise ValueError("enough")

    monkeypatch.setattr("counterfoil.planning.planned.rehearse", never)
    for options in (
        ("aim", "--workload", "3", "--variant", "gaussian"),
        ("reweighting", "--keep-rare", "--fit", "minimax"),
    ):
        assert office.run("plan", *GIVEN, "--epsilon", "1", "--method", *options).status != 0
    assert (seen[0].workload, seen[0].variant.value) == (3, "gaussian")
    assert (seen[1].keep_rare, seen[1].fit) == (True, "minimax")
    refused = office.run("plan", *GIVEN, "--epsilon", "1", "--method", "mst", "--keep-rare")
    assert "takes no `keep_rare`" in refused.err


@pytest.mark.parametrize("workload", [(), ("--workload", "2")])
def test_a_pattern_without_a_public_table_is_refused_in_words_of_the_command_line(
    office: Office, workload: tuple[str, ...]
) -> None:
    text = Path("people.toml").read_text()
    Path("people.toml").write_text(f'{text}\n[columns."x_*"]\nkind = "boolean"\n')
    ended = planned(office, "--epsilon", "1", *workload)
    assert ended.status == 2
    assert "'x_*'" in ended.err
    assert "--like" in ended.err
    assert "entry of its own" in ended.err
    assert "resolved" not in ended.err
