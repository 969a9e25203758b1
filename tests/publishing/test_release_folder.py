"""`synth --out FOLDER/`: a release that explains itself, whole or not at all, and checked as a whole."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from pyarrow import parquet

from command_line import SCHEMA, Office, make_office, write_people
from counterfoil import synthesize
from counterfoil.publishing import readme, release_folder
from counterfoil.publishing.checksums import files_in, write_checksums
from counterfoil.publishing.release_check import release_problems, unvouched_files
from counterfoil.publishing.release_folder import noisy_of, package_of, publish
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis
from saved_releases import agree
from test_cli_points import POINTS

RULES = json.loads((Path(__file__).parent / "data_package_rules.json").read_text())
KEPT = {"synthesis.json", "rows.arrow", "model.npz", "error_bars.json", "schema.toml", "receipt.json"}
EXPLAINED = {"README.md", "checksums.txt", "datapackage.json", "noisy_tables/one_way.csv", "noisy_tables/pairs.csv"}


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    """Without reports, which have tests of their own, and take a second each."""
    monkeypatch.setattr(release_folder, "drawn_report", lambda _: None)
    return make_office(tmp_path, capsys, monkeypatch)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in [*files_in(folder), "checksums.txt"]}


def verified(office: Office, *more: str) -> dict:
    return office.run("receipt", "verify", "out", *more, "--json").document


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_holds_all_that_a_release_is(office: Office, form: str) -> None:
    ended = office.synth("--out", "out/", "--format", form, "--ledger", "people.ledger", "--json", method="mst")
    assert ended.status == 0, ended.err
    table = f"synthetic.{form}"
    assert {*files_in(Path("out")), "checksums.txt"} == KEPT | EXPLAINED | {table}
    assert ended.document["folder"] == "out"
    assert ended.document["table"] == f"out/{table}"
    assert ended.document["report"] is None
    assert "pip install 'counterfoil[report]'" in ended.err
    jsonschema.validate(json.loads(Path("out/datapackage.json").read_text()), RULES)
    receipt = Receipt.load("out/receipt.json")
    assert [output["file"] for output in receipt.document["outputs"]] == [table]
    told = verified(office, "--ledger", "people.ledger")
    assert told["holds"], told
    assert told["unvouched"] == []
    assert told["unvouched_files"] == []
    assert office.files() == {"people.csv", "people.toml", "people.ledger", "out"}


def test_every_command_opens_it(office: Office) -> None:
    assert office.synth("--out", "out/", "--format", "csv", method="mst").status == 0
    assert isinstance(Synthesis.load("out"), Synthesis)
    Path("people.csv").unlink()
    for name in ("out", "out/synthetic.csv"):
        assert office.run("describe", name).status == 0
        assert office.run("marginal", name, "sex").status == 0
        assert office.run("infer", name, "mean", "age").status == 0, office.run("infer", name, "mean", "age").err
        drawn = office.run("sample", name, "--rows", "5", "--out", "more.csv", "--force")
        assert drawn.status == 0, drawn.err
    assert office.run("receipt", "show", "out").status == 0
    assert verified(office)["holds"]


def test_the_readme_says_what_it_must(office: Office) -> None:
    assert office.synth("--out", "out/", method="mst").status == 0
    text = Path("out/README.md").read_text()
    words = " ".join(text.replace("\n- ", "\n").split())
    assert text.startswith("# Synthetic data: not real people")
    for name in files_in(Path("out")):
        assert name == "README.md" or f"`{name}`" in words, name
    assert "epsilon 1, delta 1e-09" in words
    assert "## What was not kept" in text
    assert "sha256sum -c checksums.txt" in words
    assert "counterfoil receipt verify" in words
    assert "How to cite" in words
    assert "pip install 'counterfoil[report]'" in words
    with Path("out/noisy_tables/pairs.csv").open(newline="") as file:
        pairs = {(row["column_1"], row["column_2"]) for row in csv.DictReader(file)}
    for one, other in pairs:
        assert f"{one} with {other}" in words


def test_the_readme_names_the_pairs_that_were_counted_well(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    assert office.synth("--out", "all/", method="mst").status == 0
    with Path("all/noisy_tables/pairs.csv").open(newline="") as file:
        pairs = sorted({(row["column_1"], row["column_2"]) for row in csv.DictReader(file)})
    monkeypatch.setattr(readme, "noisy_looks", lambda document: frozenset({1}))
    monkeypatch.setattr(readme, "pairs_counted_well", lambda document: {frozenset(pairs[0])})
    assert office.synth("--out", "out/", method="mst").status == 0
    words = " ".join(Path("out/README.md").read_text().split())
    assert f"(`noisy_tables/pairs.csv`), 1 of them well: {' with '.join(pairs[0])}." in words


def test_the_readme_says_how_spreadsheets_open_a_csv_file(office: Office) -> None:
    said = "as UTF-8 with commas between cells; a spreadsheet that expects other signs"
    for form, expected in (("csv", True), ("parquet", False)):
        assert office.synth("--out", f"{form}/", "--format", form, method="mst").status == 0
        assert (said in " ".join(Path(f"{form}/README.md").read_text().split())) is expected

    schema = Path("people.toml")
    schema.write_text(
        'decimal_char = ","\n' + schema.read_text() + '[columns.x]\nkind = "real"\nlower = 0\nupper = 1\n'
    )
    table = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([f"{table[0]},x", *(f'{line},"0,5"' for line in table[1:])]) + "\n")
    assert office.synth("--out", "comma/", "--format", "csv", method="mst").status == 0
    said = "as UTF-8 with semicolons between cells and commas in numbers; a spreadsheet"
    assert said in " ".join(Path("comma/README.md").read_text().split())


def test_the_readme_says_how_conclusions_are_drawn_and_what_is_made_up_within_bins(office: Office) -> None:
    """Whoever is given the folder has nothing else, and takes rows for records, and ages for ages."""
    seeded = ["--seed", "1", "--not-private"]
    assert office.synth("--out", "out/", "--workload", "2", *seeded, method="direct").status == 0
    text = Path("out/README.md").read_text()
    words = " ".join(text.split())
    assert "A test or an interval from the synthetic rows alone takes noise for truth." in words
    columns = iter(["age", "sex", "income", "sex", "sex", "income"])
    for asked in re.findall(r"^counterfoil (infer FOLDER .*)$", text, re.MULTILINE):
        filled = re.sub("COLUMN", lambda _: next(columns), asked).replace("FOLDER", "out").replace("VALUE", "low")
        ended = office.run(*shlex.split(filled))
        assert ended.status == 0, (filled, ended.err)
    assert next(columns, None) is None
    with Path("out/noisy_tables/one_way.csv").open(newline="") as file:
        bins = sum(row["column"] == "age" and ".." in row["value"] for row in csv.DictReader(file))
    assert bins
    assert f"Counted in bins were age ({bins})" in words
    assert "sex (" not in words


def test_the_readme_of_points_names_no_intervals(office: Office) -> None:
    Path("places.csv").write_text("east,north\n" + "".join(f"{i % 40 / 40 - 0.5},{i % 23 / 23}\n" for i in range(400)))
    Path("places.toml").write_text(POINTS)
    asked = ["--schema", "places.toml", "--epsilon", "1", "--method", "measure-tree"]
    assert office.run("synth", "places.csv", *asked, "--out", "out/").status == 0
    words = " ".join(Path("out/README.md").read_text().split())
    assert "The receipt records no noisy counts that counterfoil infer could make intervals of" in words
    assert "counterfoil infer FOLDER" not in words
    assert "Counted in bins" not in words


def test_the_readme_says_which_values_pandas_takes_for_missing(office: Office) -> None:
    """Namibia is lost by whoever reads the table as they read others."""
    said = "takes NA of land, which the table has as values, for missing, unless `keep_default_na=False`"
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([f"{lines[0]},land", *(f"{line},NA" for line in lines[1:])]) + "\n")
    schema, known = Path("people.toml").read_text(), '[columns.land]\nkind = "categorical"\nvalues = ["NA", "DE"]\n'
    for place, (form, more) in enumerate((("csv", ""), ("csv", "other = true\n"), ("parquet", ""))):
        Path("people.toml").write_text(f"{schema}{known}{more}")
        assert office.synth("--out", f"{place}/", "--format", form, method="mst").status == 0
        readme = " ".join(Path(f"{place}/README.md").read_text().split())
        assert (said in readme) is (form == "csv"), readme[:2000]


def test_the_readme_of_typed_rows_says_which_texts_stand_for_missing_cells(office: Office) -> None:
    """Of payers `isna` counted none, where half were missing."""
    lines = Path("people.csv").read_text().splitlines()
    cells = [f"{line},{('NA', 'public')[i % 2]},{('NA', '1')[i % 2]}" for i, line in enumerate(lines[1:])]
    Path("people.csv").write_text("\n".join([f"{lines[0]},payer,visits", *cells]) + "\n")
    missing = 'missing = true\nmissing_values = ["NA"]\n'
    payer = f'[columns.payer]\nkind = "categorical"\nvalues = ["public", "private"]\n{missing}'
    visits = f'[columns.visits]\nkind = "integer"\nlower = 0\nupper = 3\n{missing}'
    Path("people.toml").write_text(f"{Path('people.toml').read_text()}{payer}{visits}")
    said = "some texts stand for missing cells, as in the real table, and are no nulls: NA of payer - "
    for form in ("csv", "parquet"):
        assert office.synth("--out", f"{form}/", "--format", form, method="mst").status == 0
        words = " ".join(Path(f"{form}/README.md").read_text().split())
        assert (said in words) is (form == "parquet"), words[:2000]
    rows = parquet.read_table("parquet/synthetic.parquet")
    assert rows.column("payer").null_count == 0
    assert rows.column("visits").null_count > 0


def test_the_readme_names_the_words_that_a_csv_file_has_for_numbers(office: Office) -> None:
    """None of visits is lost by pandas, and no cell of the copy is the second word for a number."""
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([f"{lines[0]},visits", *(f"{line},None" for line in lines[1:])]) + "\n")
    known = '[columns.visits]\nkind = "integer"\nlower = 0\nupper = 9\nwords = { None = 0, never = 0 }\n'
    Path("people.toml").write_text(Path("people.toml").read_text() + known)
    assert office.synth("--out", "out/", "--format", "csv", method="mst").status == 0
    readme = " ".join(Path("out/README.md").read_text().split())
    assert "here as the word: None of visits for 0" in readme
    assert "takes None of visits, which the table has as values, for missing" in readme
    assert "never" not in readme


def test_the_readme_says_where_codes_have_no_zeros(office: Office) -> None:
    """By 01 of a region a table is joined with others, and 1 joins with none of them."""
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([f"{lines[0]},region", *(f"{line},01" for line in lines[1:])]) + "\n")
    codes = '[columns.region]\nkind = "integer"\nlower = 1\nupper = 16\ndigits = 2\n'
    Path("people.toml").write_text(f"{Path('people.toml').read_text()}{codes}")
    for form, said in (("parquet", "They stand here as numbers, without them"), ("csv", "drops the zeros unless")):
        assert office.synth("--out", f"{form}/", "--format", form, method="mst").status == 0
        readme = " ".join(Path(f"{form}/README.md").read_text().split())
        assert "region (2 digits)" in readme
        assert said in readme


def test_the_readme_says_that_typed_rows_have_times_of_day_as_moments(office: Office) -> None:
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([f"{lines[0]},arrived", *(f"{line},14:35" for line in lines[1:])]) + "\n")
    times = '[columns.arrived]\nkind = "datetime"\nformat = "%H:%M"\nresolution = "1h"\n'
    bounds = "lower = 1900-01-01T00:00:00\nupper = 1900-01-01T23:59:59\n"
    Path("people.toml").write_text(f"{Path('people.toml').read_text()}{times}{bounds}")
    for form in ("parquet", "csv"):
        assert office.synth("--out", f"{form}/", "--format", form, method="mst").status == 0
        readme = " ".join(Path(f"{form}/README.md").read_text().split())
        assert ("times of day stand here as moments of 1900-01-01: arrived" in readme) is (form == "parquet")


def test_the_readme_says_that_the_privacy_unit_was_read(office: Office) -> None:
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text(
        "\n".join([f"{lines[0]},iban", *(f"{line},{i // 2}" for i, line in enumerate(lines[1:]))])
    )
    facts = Path("people.toml").read_text()
    identifier = '[columns.iban]\nkind = "identifier"\nreplace = "sequence"\n'
    said = "the privacy unit: read to know which rows have the same one, and"
    for form, schema in (("made anew", facts + identifier), ("left out", f'ignore = ["iban"]\n{facts}')):
        Path("people.toml").write_text(schema)
        unit = ["--privacy-unit", "iban", "--max-rows", "2"]
        assert office.synth("--out", f"{form}/", *unit, method="mst").status == 0
        readme = " ".join(Path(f"{form}/README.md").read_text().split())
        assert f"The values of iban, {said} {form}." in readme
        assert "never read" not in readme


def test_points_are_written_too(office: Office) -> None:
    Path("places.csv").write_text("east,north\n" + "".join(f"{i % 40 / 40 - 0.5},{i % 23 / 23}\n" for i in range(400)))
    Path("places.toml").write_text(POINTS)
    given = ("synth", "places.csv", "--schema", "places.toml", "--epsilon", "1", "--method", "measure-tree")
    ended = office.run(*given, "--out", "out/")
    assert ended.status == 0, ended.err
    assert isinstance(PointSynthesis.load("out"), PointSynthesis)
    assert not Path("out/noisy_tables").exists()
    assert "weighted points" in Path("out/README.md").read_text()
    told = verified(office)
    assert told["holds"], told
    assert office.run("describe", "out").status == 0


def test_a_seeded_release_says_so_everywhere(office: Office) -> None:
    assert office.synth("--out", "out/", "--seed", "1", "--not-private").status == 0
    assert "NOT PRIVATE" in Path("out/README.md").read_text()
    assert "NOT PRIVATE" in json.loads(Path("out/datapackage.json").read_text())["description"]
    assert b"NOT PRIVATE" in parquet.read_metadata("out/synthetic.parquet").metadata[b"counterfoil"]
    assert "NOT PRIVATE" in office.run("receipt", "verify", "out").out


def test_a_signed_release(office: Office) -> None:
    office.run("receipt", "key", "steward.key")
    assert office.synth("--out", "out/", "--sign", "steward.key", "--ledger", "people.ledger").status == 0
    told = verified(office, "--key", "steward.key.pub", "--ledger", "people.ledger")
    assert told["holds"], told
    assert told["unvouched"] == []


def test_signing_later_keeps_checksums_and_index(office: Office) -> None:
    office.run("receipt", "key", "steward.key")
    assert office.synth("--out", "out/", method="mst").status == 0
    before = contents(Path("out"))
    assert office.run("receipt", "sign", "out", "--key", "steward.key").status == 0
    told = verified(office, "--key", "steward.key.pub")
    assert told["holds"], told
    assert told["unvouched_files"] == [], "the README still follows from the receipt"
    after = contents(Path("out"))
    assert {name for name in before if before[name] != after[name]} == {
        "receipt.json",
        "synthesis.json",
        "checksums.txt",
    }


def test_a_release_that_can_not_be_signed_stays_as_it_was(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.run("receipt", "key", "steward.key")
    assert office.synth("--out", "out/").status == 0
    before = contents(Path("out"))

    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_folder, "write_checksums", full)
    assert office.run("receipt", "sign", "out", "--key", "steward.key").status == 2
    assert contents(Path("out")) == before


# What is asked for, and how it is refused: before anything is charged.


def test_names_that_are_files_stay_files(office: Office) -> None:
    assert office.synth("--out", "people.release.csv").status == 0
    assert Path("people.release.csv").is_file()
    assert Path("people.release.receipt.json").is_file()


def test_an_empty_folder_that_is_there_is_filled(office: Office) -> None:
    Path("out").mkdir(mode=0o750)
    Path("out").chmod(0o750)
    assert office.synth("--out", "out").status == 0
    assert verified(office)["holds"]
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o750


def test_a_link_to_an_empty_folder_stays_a_link(office: Office) -> None:
    Path("real").mkdir()
    Path("out").symlink_to("real")
    assert office.synth("--out", "out/").status == 0
    assert Path("out").is_symlink()
    assert Path("real/receipt.json").is_file()


def occupied(_: Office) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("mine")


def released(office: Office) -> None:
    assert office.synth("--out", "out/").status == 0


def released_and_added(office: Office) -> None:
    released(office)
    Path("out/notes.txt").write_text("mine")


def somebodys_package(_: Office) -> None:
    Path("out").mkdir()
    Path("out/datapackage.json").write_text("{}")


def file_there(_: Office) -> None:
    Path("out").write_text("mine")


@pytest.mark.parametrize(
    ("prepare", "arguments", "said"),
    [
        (occupied, ("--out", "out/"), "is written to a new or an empty folder"),
        (occupied, ("--out", "out/", "--force"), "is written to a new or an empty folder"),
        (occupied, ("--out", "out"), "is written to a new or an empty folder"),
        (released, ("--out", "out/"), "holds a release already"),
        (released_and_added, ("--out", "out/", "--force"), "notes.txt is in the folder and not in checksums.txt"),
        (somebodys_package, ("--out", "out/", "--force"), "is left as it is"),
        (file_there, ("--out", "out/"), "Found the file"),
        (None, ("--out", "nowhere/out/"), "There is no folder"),
        (None, ("--out", "out/", "--format", "json"), "`format` must be csv or parquet"),
        (None, ("--out", "out.csv", "--format", "csv"), "`--format` is for the table of a folder"),
        (None, ("--format", "csv"), "`--format` is for the table of a folder"),
        (None, ("--out", "out"), "A table is written as .csv or .parquet"),
        (None, ("--out", "."), "takes the place of its folder: name one"),
    ],
)
def test_what_can_not_be_written_is_refused_before_anything_is_charged(
    office: Office, prepare: Callable[[Office], None] | None, arguments: tuple[str, ...], said: str
) -> None:
    if prepare is not None:
        prepare(office)
    before = {path: path.read_bytes() for path in office.path.rglob("*") if path.is_file()}
    ended = office.synth(*arguments, "--ledger", "people.ledger")
    assert ended.status == 2, (ended.out, ended.err)
    assert re.search(said, " ".join(ended.err.split())), ended.err
    assert "bug" not in ended.err
    assert {path: path.read_bytes() for path in office.path.rglob("*") if path.is_file()} == before
    assert office.releases() == []


def test_the_schema_in_a_release_is_not_replaced_with_it(office: Office) -> None:
    released(office)
    before = contents(Path("out"))
    given = ("synth", "people.csv", "--schema", "out/schema.toml", "--epsilon", "1", "--method", "independent")
    ended = office.run(*given, "--out", "out/", "--force")
    assert ended.status == 2
    assert "is the schema" in ended.err
    assert contents(Path("out")) == before


@pytest.mark.parametrize("there", [False, True])
def test_answers_are_not_kept_in_the_folder_that_is_replaced(office: Office, there: bool) -> None:
    if there:
        Path("out").mkdir()
    ended = office.synth("--out", "out/", "--keep", "out/mine.answers", "--ledger", "people.ledger")
    assert ended.status == 2
    assert "nothing else is kept there" in ended.err
    assert office.releases() == []


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_force_replaces_a_whole_release_by_another(office: Office, form: str) -> None:
    assert office.synth("--out", "out/", "--format", "csv").status == 0
    assert office.synth("--out", "out/", "--force", "--format", form, method="mst").status == 0
    assert verified(office)["holds"]
    assert [name for name in files_in(Path("out")) if name.startswith("synthetic")] == [f"synthetic.{form}"]
    assert Receipt.load("out/receipt.json").document["method"]["name"] == "mst"
    assert not [name for name in office.files() if name.startswith(".")]


# What goes wrong while it is written.


def fail_with(error: BaseException, name: str) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise error

    fail.__name__ = name
    return fail


FULL, STOPPED = OSError(28, "No space left on device"), KeyboardInterrupt()


@pytest.mark.parametrize(
    ("step", "error", "there"),
    [
        ("noisy_tables", FULL, False),
        ("data_package", STOPPED, True),
        ("readme_text", FULL, True),
        ("write_checksums", STOPPED, False),
        ("write_checksums", FULL, True),
        ("_take_place", STOPPED, True),
    ],
)
def test_nothing_half_written_is_left_and_the_answers_are_kept(
    office: Office, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException, there: bool
) -> None:
    more = ("--out", "out/", "--ledger", "people.ledger", *(("--force",) if there else ()))
    if there:
        assert office.synth("--out", "out/").status == 0
    before = contents(Path("out")) if there else {}
    with monkeypatch.context() as patched:
        patched.setattr(release_folder, step, fail_with(error, step))
        ended = office.synth(*more)
    assert ended.status == (2 if isinstance(error, OSError) else 130), ended.err
    assert "No file was written" in ended.err
    assert (contents(Path("out")) if there else {}) == before
    assert office.files() == {"people.csv", "people.toml", "people.ledger", "out.answers", *(["out"] if there else [])}
    charged = office.releases()
    finished = office.synth(*more, "--resume")
    assert finished.status == 0, finished.err
    assert verified(office, "--ledger", "people.ledger")["holds"]
    assert [len(one["charges"]) for one in office.releases()] == [len(one["charges"]) for one in charged]
    assert "out.answers" not in office.files()


def test_a_folder_that_can_not_be_renamed_comes_back(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    released(office)
    before, rename = contents(Path("out")), os.rename

    def fails_once(source: Path, target: Path) -> None:
        if Path(source).name == "release" and Path(target).name == "out":
            raise OSError(5, "Input/output error", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", fails_once)
    assert office.synth("--out", "out/", "--force").status == 2
    assert contents(Path("out")) == before


def test_a_report_that_fails_withholds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, office: Office) -> None:
    """The budget is spent by then."""
    from counterfoil.report import writing

    released(office)
    monkeypatch.undo()
    monkeypatch.setattr(writing, "report_of", fail_with(TypeError("a bug"), "report_of"))
    made = publish(Synthesis.load(tmp_path / "out"), tmp_path / "again")
    assert made.report is None
    assert (tmp_path / "again" / "README.md").is_file()


def test_a_report_is_drawn_where_its_packages_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, office: Office
) -> None:
    pytest.importorskip("vl_convert")
    released(office)
    monkeypatch.undo()
    made = publish(Synthesis.load(tmp_path / "out"), tmp_path / "again", form="csv")
    assert made.report is not None
    assert "<html" in made.report.read_text()[:200].lower()
    text = (tmp_path / "again" / "README.md").read_text()
    assert "`report.html`" in text
    assert "pip install" not in text


# What was changed afterwards, by somebody who hashed everything anew.


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    write_people(folder / "people.csv")
    made = synthesize(str(folder / "people.csv"), Schema.from_toml(SCHEMA), epsilon=1.0, method="mst", seed=1)
    return publish(made, folder / "out", form="csv", draw=lambda _: None).folder


@pytest.fixture
def published(master: Path, tmp_path: Path) -> Path:
    """A copy to tamper with, which is whole."""
    copied = Path(shutil.copytree(master, tmp_path / "copy"))
    assert release_problems(copied) == []
    return copied


def rehash(folder: Path) -> None:
    index = json.loads((folder / "synthesis.json").read_text())
    for name in index["files"]:
        agree(folder, name)
    write_checksums(folder)


def other_rows(folder: Path) -> None:
    lines = (folder / "synthetic.csv").read_text().splitlines()
    (folder / "synthetic.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    document = json.loads((folder / "receipt.json").read_text())
    document["outputs"][0]["sha256"] = hashlib.sha256((folder / "synthetic.csv").read_bytes()).hexdigest()
    (folder / "receipt.json").write_text(json.dumps(document))


def other_count(folder: Path) -> None:
    path = folder / "noisy_tables" / "one_way.csv"
    text = path.read_text()
    count = text.splitlines()[1].split(",")[-4]
    path.write_text(text.replace(f",{count},", f",{float(count) + 40:.3f},", 1))


def without_counts(folder: Path) -> None:
    (folder / "noisy_tables" / "pairs.csv").unlink()


def another_table(folder: Path) -> None:
    (folder / "noisy_tables" / "triples.csv").write_text("a\n1\n")


def smaller_epsilon(folder: Path) -> None:
    path = folder / "datapackage.json"
    path.write_text(path.read_text().replace('"epsilon": 1.0', '"epsilon": 0.01'))


def other_bound(folder: Path) -> None:
    document = json.loads((folder / "datapackage.json").read_text())
    document["resources"][0]["schema"]["fields"][1]["constraints"]["maximum"] = 50
    (folder / "datapackage.json").write_text(json.dumps(document))


def no_package(folder: Path) -> None:
    (folder / "datapackage.json").write_text("[]")


def later_layout(folder: Path) -> None:
    document = json.loads((folder / "datapackage.json").read_text())
    document["counterfoil"]["layout"] = 99
    (folder / "datapackage.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_rows, "synthetic.csv holds other rows than the saved release"),
        (other_count, "one_way.csv does not hold the noisy counts that the receipt records"),
        (without_counts, "pairs.csv must be there exactly where the receipt records such counts"),
        (another_table, "triples.csv must be there exactly where the receipt records such counts"),
        (smaller_epsilon, "differs in counterfoil"),
        (other_bound, "differs in resources"),
        (no_package, "datapackage.json is of layout None"),
        (later_layout, "datapackage.json is of layout 99"),
    ],
)
def test_what_contradicts_the_receipt_is_noticed(published: Path, change: Callable[[Path], None], said: str) -> None:
    change(published)
    rehash(published)
    assert any(said in problem for problem in release_problems(published)), release_problems(published)


def test_where_values_beyond_the_bounds_are_counted_is_said(published: Path) -> None:
    resources = json.loads((published / "datapackage.json").read_text())["resources"]
    one_way = next(resource for resource in resources if resource["path"].endswith("one_way.csv"))
    fields = {field["name"]: field for field in one_way["schema"]["fields"]}
    assert "beyond the bounds" in fields["value"]["description"]
    with (published / one_way["path"]).open(newline="") as file:
        told = {row["beyond"] for row in csv.DictReader(file)}
    assert {"", "and below", "and above"} == told <= set(fields["beyond"]["constraints"]["enum"])
    assert "beyond the bounds" in " ".join((published / "README.md").read_text().split())


def test_a_folder_of_a_version_that_did_not_say_it_holds(published: Path) -> None:
    document = json.loads((published / "datapackage.json").read_text())
    former = noisy_of(json.loads((published / "receipt.json").read_text()), former=True)
    assert former is not None
    for resource in document["resources"][1:]:
        fields = resource["schema"]["fields"]
        keys = [field["name"] for field in fields if not field["name"].startswith("beyond")]
        path = published / resource["path"]
        path.write_text(former.texts[resource["path"]])
        resource["schema"]["fields"] = [
            {"name": field["name"], "type": "string"} if field["name"].startswith("value") else field
            for field in fields
            if field["name"] in keys
        ]
        resource |= {"bytes": path.stat().st_size, "hash": f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"}
    (published / "datapackage.json").write_text(json.dumps(document))
    rehash(published)
    assert release_problems(published) == []
    other_count(published)
    rehash(published)
    assert any("one_way.csv does not hold the noisy counts" in problem for problem in release_problems(published))


def test_the_data_dictionary_of_a_former_version_holds(tmp_path: Path) -> None:
    """Words for missing, beside a computed column, made columns ones of texts before 0.13."""
    toml = (
        '[columns.amount]\nkind = "integer"\nlower = 0\nupper = 9\nmissing = true\nmissing_values = ["N/A"]\n'
        '[[derived]]\nname = "double"\nkind = "integer"\nexpression = "amount * 2"\n'
    )
    (tmp_path / "t.csv").write_text("amount\n" + "3\nN/A\n" * 200)
    made = synthesize(str(tmp_path / "t.csv"), Schema.from_toml(toml), epsilon=1.0, method="mst", seed=1)
    folder = publish(made, tmp_path / "out", form="csv", draw=lambda _: None).folder
    assert release_problems(folder) == []
    release = Synthesis.load(folder)
    noisy = noisy_of(release.receipt.document)
    now, former = (package_of(release, folder, "synthetic.csv", noisy, former=one) for one in (False, True))
    types = [one["resources"][0]["schema"]["fields"][0]["type"] for one in (now, former)]
    assert types == ["integer", "string"]
    for document, holds in ((former, True), (former | {"title": "mine"}, False)):
        (folder / "datapackage.json").write_text(json.dumps(document))
        rehash(folder)
        assert (release_problems(folder) == []) is holds


@pytest.mark.parametrize("name", sorted(KEPT | EXPLAINED | {"synthetic.csv"}))
def test_every_file_is_checked(published: Path, name: str) -> None:
    path = published / name
    path.write_bytes(path.read_bytes() + b" ")
    problems = release_problems(published)
    assert any(Path(name).name in problem for problem in problems), problems


def test_a_folder_that_was_changed_does_not_hold(office: Office) -> None:
    released(office)
    other_count(Path("out"))
    ended = office.run("receipt", "verify", "out")
    assert ended.status == 1
    assert "DOES NOT HOLD: noisy_tables/one_way.csv is not the file that checksums.txt names" in ended.out


@pytest.mark.parametrize("more", [(), ("datapackage.json",), ("checksums.txt",)])
@pytest.mark.parametrize("named", ["out", "out/receipt.json"])
def test_a_folder_without_its_index_does_not_hold(
    published: Path, office: Office, more: tuple[str, ...], named: str
) -> None:
    """Nothing of it was compared, and the receipt was said to hold."""
    shutil.copytree(published, "out")
    for name in ("synthesis.json", *more):
        Path("out", name).unlink()
    ended = office.run("receipt", "verify", named)
    assert ended.status == 1, ended.err
    assert "DOES NOT HOLD: A saved release is a folder with synthesis.json in it. Found none in 'out'." in ended.out


def test_files_of_others_beside_a_receipt_make_no_release_of_it(office: Office) -> None:
    assert office.synth("--out", "rows.csv").status == 0
    Path("rows.receipt.json").rename("receipt.json")
    Path("checksums.txt").write_text("of something else\n")
    Path("datapackage.json").write_text("{}")
    assert office.run("receipt", "verify", "receipt.json").status == 0


def test_a_folder_without_its_data_dictionary_does_not_hold(office: Office) -> None:
    assert office.synth("--out", "out/").status == 0
    Path("out/datapackage.json").unlink()
    ended = office.run("receipt", "verify", "out")
    assert ended.status == 1, ended.err
    assert "DOES NOT HOLD: datapackage.json is in checksums.txt and not in the folder" in ended.out
    rehash(Path("out"))
    ended = office.run("receipt", "verify", "out")
    assert ended.status == 1, ended.err
    assert "DOES NOT HOLD: datapackage.json, which every release has, is not in the folder." in ended.out


def test_a_readme_that_says_something_else_is_vouched_for_by_nobody(office: Office) -> None:
    assert office.synth("--out", "out/", method="mst").status == 0
    path = Path("out/README.md")
    path.write_text(path.read_text().replace("epsilon 1", "epsilon 0.01"))
    rehash(Path("out"))
    assert verified(office)["unvouched_files"] == ["README.md"]
    assert "README.md" in office.run("receipt", "verify", "out").out


@pytest.mark.parametrize("name", ["synthesis.json", "datapackage.json", "checksums.txt"])
def test_a_release_without_one_of_its_lists_does_not_hold(office: Office, name: str) -> None:
    """Whoever takes away what shows that a folder is a release must not have the rest go unchecked."""
    released(office)
    (Path("out") / name).unlink()
    ended = office.run("receipt", "verify", "out")
    assert ended.status == 1
    assert f"{name}" in " ".join(line for line in ended.out.splitlines() if line.startswith("DOES NOT HOLD"))


def test_a_file_that_was_added_with_its_checksum_is_named(office: Office) -> None:
    released(office)
    Path("out/people.csv").write_text("a,b\n1,2\n")
    rehash(Path("out"))
    assert "people.csv" in verified(office)["unvouched_files"]


def test_files_of_a_release_that_lost_both_of_its_lists_are_named(office: Office) -> None:
    """It verifies as the saved release that is left of it; nothing compares the rest."""
    released(office)
    for name in ("datapackage.json", "checksums.txt"):
        (Path("out") / name).unlink()
    table = Path("out/noisy_tables/one_way.csv")
    table.write_text(table.read_text().replace("1", "2"))
    told = verified(office)
    assert {"noisy_tables/one_way.csv", "README.md", "synthetic.parquet"} <= set(told["unvouched_files"])


def test_no_receipt_of_an_older_release_fixes_its_model(published: Path) -> None:
    document = json.loads((published / "receipt.json").read_text())
    assert "model.npz" not in unvouched_files(published)
    del document["kept"]
    (published / "receipt.json").write_text(json.dumps(document))
    assert unvouched_files(published)[:2] == ["model.npz", "error_bars.json"]


def test_a_terminal_obeys_no_name_of_a_file(office: Office) -> None:
    released(office)
    (Path("out") / "\x1b[31mred\n.txt").write_text("x")
    ended = office.run("receipt", "verify", "out")
    assert ended.status == 1
    assert "\x1b" not in ended.out


def test_hostile_columns_in_a_folder(office: Office) -> None:
    """Nothing of a name is obeyed by Markdown, HTML or a path, and the release verifies."""
    name = '<script>alert(1)</script>](x) | `"'
    long = "=1+1" + "é" * 400
    schema = f"""
name = "../people"

[columns.{json.dumps(name)}]
kind = "categorical"
values = ["=cmd()", "a|b", "<b>"]

[columns.{json.dumps(long)}]
kind = "categorical"
values = ["x", "y"]
"""
    Path("odd.toml").write_text(schema)
    with Path("odd.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name, long])
        writer.writerows([["=cmd()", "a|b", "<b>"][i % 3], "xy"[i % 2]] for i in range(200))
    given = ("synth", "odd.csv", "--schema", "odd.toml", "--epsilon", "5", "--method", "direct")
    ended = office.run(*given, "--out", "out/", "--format", "csv")
    assert ended.status == 0, ended.err
    told = verified(office)
    assert told["holds"], told
    assert "<script" not in Path("out/README.md").read_text()
    jsonschema.validate(json.loads(Path("out/datapackage.json").read_text()), RULES)
    with Path("out/noisy_tables/one_way.csv").open(newline="") as stream:
        assert {row["column"] for row in csv.DictReader(stream)} == {name, long}
