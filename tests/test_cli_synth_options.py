"""What `synth` does beside a table and its receipt: signs, keeps the model, checks the schema, warns of budgets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_line import Office
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.cli.synth_advice import unit_advice
from counterfoil.methods.method import DEFAULT_DELTA
from counterfoil.methods.registry import method_names, method_type
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.synthesis.saved import load_kept

TABLE, RECEIPT, MODEL = "people.synthetic.parquet", "people.synthetic.receipt.json", "people.synthetic.release"


def test_a_receipt_is_signed_and_the_ledger_keeps_its_hash(office: Office) -> None:
    assert office.run("receipt", "key", "steward.key").status == 0
    made = office.synth("--sign", "steward.key", "--ledger", "people.ledger")
    assert made.status == 0, made.err
    for vouched in (("--key", "steward.key.pub"), ("--ledger", "people.ledger")):
        assert office.run("receipt", "verify", RECEIPT, *vouched).status == 0
    assert Receipt.load(RECEIPT).document["signature"]["algorithm"] == "Ed25519"
    assert office.run("receipt", "key", "other.key").status == 0
    assert office.run("receipt", "verify", RECEIPT, "--key", "other.key.pub").status == 1


def test_the_ledger_keeps_the_hash_of_a_receipt_that_nobody_signs(office: Office) -> None:
    assert office.synth("--ledger", "people.ledger").status == 0
    assert "signature" not in Receipt.load(RECEIPT).document
    assert office.run("receipt", "verify", RECEIPT, "--ledger", "people.ledger").status == 0
    assert office.synth("--out", "other.csv").status == 0
    assert office.run("receipt", "verify", "other.receipt.json", "--ledger", "people.ledger").status == 1


def test_the_help_names_methods_with_a_delta_of_their_own(office: Office) -> None:
    page = office.run("synth", "--help").out
    said = " ".join(page.replace("\u2502", " ").split())
    (of_delta,) = re.findall(r"The same for delta; (.*?)\.(?= |$)", said)
    others = {name: delta for name in method_names() if (delta := method_type(name).default_delta) != DEFAULT_DELTA}
    assert f"if left out {_plain(DEFAULT_DELTA)}, but" in of_delta
    for name, delta in others.items():
        before = of_delta[: of_delta.index(name)]
        assert re.findall(r"(1e-\d+|\b0) with", before)[-1] == _plain(delta), name
    assert max(map(len, page.splitlines())) <= 80


def _plain(delta: float) -> str:
    return f"{delta:.0e}".replace("e-0", "e-") if delta else "0"


@pytest.mark.parametrize("key", ["no.key", "people.csv", "steward.key.pub"])
def test_a_key_that_can_not_sign_is_refused_before_a_charge(office: Office, key: str) -> None:
    office.run("receipt", "key", "steward.key")
    before = office.files()
    refused = office.synth("--sign", key, "--ledger", "people.ledger")
    assert refused.status == 2
    assert key in refused.err
    assert office.files() == before
    assert office.releases() == []


def test_a_key_is_not_overwritten(office: Office) -> None:
    office.run("receipt", "key", "steward.csv")
    for out in ("steward.csv", "steward.csv.pub"):
        refused = office.synth("--sign", "steward.csv", "--out", out, "--force")
        assert refused.status == 2
        assert "key" in refused.err
    assert office.releases() == []


@pytest.mark.parametrize("method", ["independent", "signed-measure"])
def test_the_model_is_kept_beside_the_table(office: Office, method: str) -> None:
    made = office.synth("--keep-model", "--delta", "1e-6", "--json", method=method)
    assert made.status == 0, made.err
    assert made.document["model"] == MODEL
    kept = load_kept(Path(TABLE))
    assert kept.receipt.document == Receipt.load(RECEIPT).document
    assert kept.to_arrow().num_rows == made.document["rows"]
    assert office.run("receipt", "verify", f"{MODEL}/receipt.json").status == 0


def test_a_model_is_not_overwritten_and_not_kept_unasked(office: Office) -> None:
    assert office.synth().status == 0
    assert MODEL not in office.files()
    Path(MODEL).mkdir()
    refused = office.synth("--keep-model", "--force", "--ledger", "people.ledger")
    assert refused.status == 2
    assert f"{MODEL} is there already" in refused.err
    assert office.releases() == []


def test_where_the_table_can_not_be_moved_the_model_is_not_left(office: Office, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    before = office.files()
    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.cli.outputs.moved", refuse)
        assert office.synth("--keep-model").status == 2
    assert office.files() == before | {"people.synthetic.answers"}
    assert office.synth("--keep-model", "--resume").status == 0
    assert {TABLE, RECEIPT, MODEL} <= office.files()


def test_the_schema_is_checked_by_default(office: Office) -> None:
    """Nearly half of the ages lie above 50, the upper bound that is stated here."""
    schema = Path("people.toml").read_text()
    Path("people.toml").write_text(schema.replace("upper = 99", "upper = 49"))
    made = office.synth("--json", epsilon="8")
    assert made.status == 0, made.err
    assert made.document["schema_check"]["share"] == 0.01
    assert sum(charge["query"] == "schema_placement" for charge in Receipt.load(RECEIPT).document["charges"]) == 1
    off = office.synth("--check-schema", "0", "--out", "off.csv", "--json")
    assert off.document["schema_check"] is None
    assert len(Receipt.load("off.receipt.json").document["charges"]) == 1
    half = office.synth("--check-schema", "0.5", "--out", "half.csv", epsilon="8")
    assert half.status == 0, half.err
    said = " ".join(half.out.split())
    assert "WARNING: About" in said, "the deviation is about 1 of 150 ages: a false alarm has a probability below 1e-9"
    assert "of age lie above 49" in said
    assert said.index("raise `upper`.") < said.index("Made ") < said.index("half.csv") < said.index("Schema check, for")
    assert said.count("of age lie above 49") == 1
    quiet = office.synth("--check-schema", "0.5", "--out", "quiet.csv", "--quiet", epsilon="8")
    assert (quiet.out, " ".join(quiet.err.split()).count("of age lie above 49")) == ("", 1)


def test_words_for_missing_that_do_not_come_back_are_named_before_and_on_the_receipt(office: Office) -> None:
    schema = Path("people.toml").read_text()
    missing = 'missing = true\nmissing_values = ["?", "NA", ""]\n'
    assert "kind = " in schema
    Path("people.toml").write_text(schema.replace('kind = "integer"\n', f'kind = "integer"\n{missing}', 1))
    made = office.synth("--out", "m.csv")
    assert made.status == 0, made.err
    sentence = 'the first of `missing_values`: age as "?", never as "NA" or an empty cell.'
    assert sentence in " ".join(made.err.split())
    assert sentence in " ".join(office.run("receipt", "show", "m.receipt.json").out.split())
    assert "one spelling" not in " ".join(office.synth("--out", "q.csv", "--quiet").err.split())


def test_integers_that_may_be_codes_are_named_where_the_storage_has_texts(office: Office) -> None:
    for old in ("people.csv", "people.toml"):
        text = Path(old).read_text()
        Path(f"coded_{old}").write_text(text.replace("age", "zip"))
    given = ("--schema", "coded_people.toml", "--epsilon", "1", "--method", "independent")
    made = office.run("synth", "coded_people.csv", *given)
    assert made.status == 0, made.err
    assert "If zip may have some, declare `digits`" in " ".join(made.err.split())
    again = office.run("synth", "coded_people.synthetic.parquet", *given, "--out", "again.csv")
    assert again.status == 0, again.err
    assert "digits" not in again.err + office.synth().err


def test_columns_with_digits_are_named_where_the_file_that_is_written_holds_numbers(office: Office) -> None:
    Path("coded.csv").write_text(Path("people.csv").read_text().replace("age", "zip"))
    schema = Path("people.toml").read_text().replace("age", "zip")
    assert schema.count('kind = "integer"') == 1
    Path("coded.toml").write_text(schema.replace('kind = "integer"', 'kind = "integer"\ndigits = 3'))
    given = ("--schema", "coded.toml", "--epsilon", "1", "--method", "independent")
    made = office.run("synth", "coded.csv", *given)
    assert "A Parquet file holds zip as numbers, without leading zeros" in " ".join(made.err.split())
    for again in (
        ("coded.csv", *given, "--out", "again.csv"),
        ("coded.synthetic.parquet", *given, "--out", "b.parquet"),
    ):
        made = office.run("synth", *again)
        assert made.status == 0, made.err
        assert "leading zeros" not in made.err


def test_a_method_that_plans_its_budget_checks_nothing_unless_asked(office: Office) -> None:
    given = ("--preset", "laplace-threshold", "--iterations", "2", "--population", "20", "--delta", "1e-6")
    assert office.synth(*given, "--json", method="evolution").document["schema_check"] is None
    refused = office.synth(*given, "--check-schema", "0.01", "--out", "s.csv", method="evolution")
    assert refused.status == 2
    assert "plans all of it before its first question" in " ".join(refused.err.split())


@pytest.mark.parametrize("share", ["1", "-0.1", "nan"])
def test_a_share_that_is_none_is_refused(office: Office, share: str) -> None:
    refused = office.synth("--check-schema", share, "--ledger", "people.ledger")
    assert refused.status == 2
    assert "share" in refused.err
    assert office.releases() == []


def test_a_delta_that_protects_nobody_is_said_twice(office: Office) -> None:
    refused = office.synth("--delta", "0.2")
    assert refused.status == 2
    assert "--confirm-delta" in refused.err
    assert office.synth("--delta", "0.2", "--confirm-delta", "0.3").status == 2
    assert office.synth("--confirm-delta", "0.3").status == 2
    said = office.synth("--delta", "0.2", "--confirm-delta", "0.2")
    assert said.status == 0, said.err
    assert "Delta 0.2" in " ".join((said.out + said.err).split())


def test_the_help_is_in_groups(office: Office) -> None:
    page = office.run("synth", "--help").out
    places = [page.index(f"─ {group} ─") for group in ("What to make", "Privacy", "Method", "Output")]
    assert places == sorted(places)
    what, privacy, method, output = (page[a:b] for a, b in zip(places, [*places[1:], None], strict=True))
    assert all(option in what for option in ("--schema ", "--rows ", "--check-schema "))
    assert all(option in privacy for option in ("--epsilon ", "--confirm-delta ", "--ledger ", "--seed "))
    assert all(option in method for option in ("--method ", "--workload ", "--support ", "--focus "))
    assert all(option in output for option in ("--out ", "--sign ", "--keep ", "--resume ", "--keep-model "))
    assert max(map(len, page.splitlines())) <= 80


def test_the_unit_that_a_schema_was_bought_for_is_named_and_not_the_first_identifier() -> None:
    columns = "".join(f'[columns.{name}]\nkind = "identifier"\nreplace = "sequence"\n' for name in ("loan", "customer"))
    columns += '[columns.sex]\nkind = "boolean"\n'
    bought = f'epsilon = 0.1, delta = 1e-9, relation = "add_or_remove_one", receipt = "{64 * "0"}"'
    unit = 'privacy_unit = "customer", max_rows = 4'
    person = unit_advice(Schema.from_toml(f"bought = {{ {bought}, {unit} }}\n{columns}"), None)
    assert person is not None
    assert person.endswith("--privacy-unit customer --max-rows 4 protects these.")
    row = unit_advice(Schema.from_toml(columns), None)
    assert row is not None
    assert row.endswith("--privacy-unit COLUMN --max-rows K, where COLUMN is loan or customer.")
    found = unit_advice(Schema.from_toml(f"bought = {{ {bought} }}\n{columns}"), None)
    assert found is not None, "a purchase makes identifiers of whatever it can make nothing of"
    assert found.endswith("--privacy-unit customer --max-rows K.")


def test_a_number_of_persons_is_named_before_their_first_names() -> None:
    """A purchase left the first names out and copied `subject_id`, and the advice was to protect each first name."""
    bought = f'epsilon = 0.1, delta = 1e-9, relation = "add_or_remove_one", receipt = "{64 * "0"}"'
    columns = '[columns.first_name]\nkind = "identifier"\nreplace = "drop"\n'
    columns += '[columns.subject_id]\nkind = "integer"\nlower = 0\nupper = 13000\n'
    columns += '[columns.last_name]\nkind = "categorical"\nvalues = ["frey", "tully"]\n'
    advice = str(unit_advice(Schema.from_toml(f"bought = {{ {bought} }}\n{columns}"), None))
    assert advice.endswith("where COLUMN is subject_id or first_name.")


def test_the_advice_on_a_unit_can_be_pasted_into_a_shell() -> None:
    schema = Schema.from_toml('[columns."order id"]\nkind = "identifier"\n[columns.sex]\nkind = "boolean"\n')
    assert "--privacy-unit 'order id' --max-rows K." in str(unit_advice(schema, None))


def test_all_identifiers_are_named_of_which_one_may_be_the_person() -> None:
    """Of a table of transactions the first identifier numbers the rows, and protects no more than each row."""
    columns = "".join(f'[columns.{name}]\nkind = "identifier"\n' for name in ("tx", "account"))
    advice = unit_advice(Schema.from_toml(columns + '[columns.paid]\nkind = "boolean"\n'), None)
    assert "--privacy-unit COLUMN --max-rows K, where COLUMN is tx or account." in str(advice)


@pytest.mark.parametrize(("delimiter", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "")])
def test_csv_files_have_commas_and_a_source_with_others_is_told(office: Office, delimiter: str, word: str) -> None:
    lines = [delimiter.join(("a", "b")), *(delimiter.join((str(i % 3), str(i % 2))) for i in range(300))]
    Path("cut.csv").write_text("\n".join(lines) + "\n")
    columns = (f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 2\n' for name in "ab")
    Path("cut.toml").write_text("\n".join(columns))
    words = ("synth", "cut.csv", "--schema", "cut.toml", "--epsilon", "3")
    made = office.run(*words, "--out", "copy.csv")
    assert made.status == 0, made.err
    assert Path("copy.csv").read_text().startswith("a,b\n")
    assert ("separated by" in made.err, bool(word)) in [(True, True), (False, False)]
    assert f"separated by {word}" in made.err or not word
    assert "separated by" not in office.run(*words, "--out", "copy.parquet").err


def test_a_copied_column_with_the_name_of_an_identifier_may_be_the_person() -> None:
    """A purchase takes the id of repeated measures for whole numbers, and no column was an identifier to ask about."""
    columns = '[columns.id]\nkind = "integer"\nlower = 1\nupper = 316\n'
    schema = Schema.from_toml(columns + '[columns.valid]\nkind = "boolean"\n')
    advice = str(unit_advice(schema, None))
    assert "id is copied as any other column" in advice
    assert "--privacy-unit id --max-rows K" in advice
    assert unit_advice(schema, PrivacyUnit("id", 24)) is None
    assert unit_advice(Schema.from_toml('[columns.valid]\nkind = "boolean"\n'), None) is None


@pytest.mark.parametrize(("name", "upper", "asks"), [("customer", 99, True), ("student", 1, False), ("age", 99, False)])
def test_a_number_with_the_name_of_persons_may_be_the_person(name: str, upper: int, asks: bool) -> None:
    advice = unit_advice(Schema.from_toml(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = {upper}\n'), None)
    assert (advice is not None) == asks


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ('ignore = ["patient", "note"]\n', "--privacy-unit patient --max-rows K."),
        ('ignore = ["e-mail", "PatID"]\n', "where COLUMN is PatID or e-mail."),
        ('ignore = ["patient"]\n[columns.stay]\nkind = "identifier"\n', "where COLUMN is stay or patient."),
        (
            'ignore = ["phone"]\n[columns.subject_id]\nkind = "integer"\nlower = 0\nupper = 900\n',
            "where COLUMN is subject_id or phone.",
        ),
    ],
)
def test_a_column_that_is_ignored_may_be_the_person(facts: str, named: str) -> None:
    """Who left the patients out of a schema by hand got a copy that protects single visits, without a word."""
    advice = unit_advice(Schema.from_toml(facts + '[columns.sick]\nkind = "boolean"\n'), None)
    assert str(advice).endswith(named)


def test_an_ignored_column_of_another_kind_is_no_person() -> None:
    assert unit_advice(Schema.from_toml('ignore = ["note"]\n[columns.sick]\nkind = "boolean"\n'), None) is None


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("Pat.-Nr.", True),
        ("Patientennummer", True),
        ("Fallnr", True),
        ("Versichertenkennung", True),
        ("Pseudonym", True),
        ("USUBJID", True),
        ("NHS No.", True),
        ("INR", False),
        ("rapid", False),
        ("Nodes", False),
    ],
)
def test_numbers_of_persons_are_known_by_names_as_hospitals_write_them(name: str, asks: bool) -> None:
    """A copy of `Pat.-Nr.` had numbers as any other column, and nothing said that it protects single rows."""
    schema = Schema.from_toml(f'[columns."{name}"]\nkind = "integer"\nlower = 0\nupper = 9000\n')
    assert (unit_advice(schema, None) is not None) == asks
