"""A table that is no UTF-8, from its file to a release that is read as the table is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import counterfoil
from command_line import Office, make_office
from counterfoil.accounting.budget import Budget
from counterfoil.curator.source_facts import columns_stated
from counterfoil.evaluation.comparison import compare
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.schema import Schema

ROWS = 3000
PLACES = ["Köln", "Düsseldorf", "Zürich – Süd"]
AGE = '[columns.Alter]\nkind = "integer"\nlower = 18\nupper = 90\n'
NAMES = ["Größe", "Alter", "Lohn €"]


def text_of_table(end: str = "\r\n", delimiter: str = ";") -> str:
    rng = np.random.default_rng(0)
    places, ages = rng.choice(PLACES, ROWS), rng.integers(18, 90, ROWS)
    pay = [f"{value:.2f}".replace(".", ",") for value in rng.uniform(1000, 9000, ROWS)]
    rows = zip(places, map(str, ages), pay, strict=True)
    return end.join([delimiter.join(NAMES), *map(delimiter.join, rows), ""])


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    Path("leute.csv").write_bytes(text_of_table().encode("cp1252"))
    arguments = ("ledger", "create", "leute.ledger", "--source", "leute.csv", "--epsilon", "20", "--delta", "1e-6")
    assert made.run(*arguments).status == 0
    return made


def done(office: Office, *arguments: str) -> str:
    ended = office.run(*arguments)
    assert ended.status == 0, ended.err
    return ended.out + ended.err


def test_from_the_file_to_a_release_in_its_encoding(office: Office) -> None:
    refused = office.run("schema", "leute.csv", "--epsilon", "5", "--out", "s.toml", "--ledger", "leute.ledger")
    assert refused.status == 2
    assert "state its encoding, for a new schema as in --encoding windows-1252" in " ".join(refused.err.split())
    assert not Path("s.toml").exists()

    encoded = ("--epsilon", "5", "--out", "s.toml", "--ledger", "leute.ledger", "--encoding", "latin1")
    done(office, "schema", "leute.csv", *encoded)
    schema = Schema.from_toml("s.toml")
    assert schema.encoding == "windows-1252"
    assert sorted(schema["Größe"].values) == sorted(PLACES)
    assert schema["Lohn €"].decimal_char == ","

    synth = ("synth", "leute.csv", "--schema", "s.toml", "--epsilon", "5", "--ledger", "leute.ledger", "--quiet")
    said = done(office, *synth[:-1], "--out", "rel/", "--format", "csv", "--force")
    assert "The source is" not in said
    header, first, *_ = Path("rel/synthetic.csv").read_bytes().decode("cp1252").split("\n")
    assert header.split(";") == NAMES
    assert first.split(";")[0] in (*PLACES, "other")
    table = json.loads(Path("rel/datapackage.json").read_text())["resources"][0]
    assert table["encoding"] == "windows-1252"
    assert "as windows-1252 with semicolons between cells" in " ".join(Path("rel/README.md").read_text().split())
    done(office, "receipt", "verify", "rel")

    # All that reads the table or its copy by the schema reads either.
    done(office, "evaluate", "leute.csv", "rel/")
    done(office, "check", "leute.csv", "--schema", "rel/schema.toml")
    assert done(office, "sample", "rel", "--rows", "5", "--out", "more.csv")
    assert "Größe".encode("cp1252") in Path("more.csv").read_bytes()
    assert done(office, "infer", "rel/synthetic.csv", "mean", "Alter", "--by", "Größe", "--receipt", "rel/receipt.json")
    done(office, "report", "rel", "--compare", "leute.csv", "--out", "inside.html")
    assert "Köln" in Path("inside.html").read_text(encoding="utf-8")


def test_a_schema_reads_copies_of_other_encodings_that_say_so(office: Office) -> None:
    """A spreadsheet that saves the file anew writes a mark first."""
    done(office, "schema", "leute.csv", "--encoding", "cp1252", "--out", "draft.toml")
    assert 'encoding = "windows-1252"\n' in Path("draft.toml").read_text(encoding="utf-8")
    facts = (
        'encoding = "windows-1252"\nignore = ["Lohn €"]\n[columns."Größe"]\nkind = "categorical"\n'
        f"values = {json.dumps(PLACES, ensure_ascii=False)}\n{AGE}"
    )
    Path("s.toml").write_text(facts, encoding="utf-8")
    for name, codec in (("excel.csv", "utf-8-sig"), ("unicode.csv", "utf-16")):
        Path(name).write_bytes(text_of_table().encode(codec))
        same = compare("leute.csv", name, "s.toml")
        assert all(level.mean == 0 for level in same.marginals)
        said = done(office, "synth", name, "--schema", "s.toml", "--epsilon", "1", "--out", f"{name}.out.csv")
        read = "UTF-8" if name == "excel.csv" else "UTF-16"
        assert f"The source is {read}, and the file that is written WINDOWS-1252" in " ".join(said.split())


def test_utf_16_needs_no_word(office: Office) -> None:
    Path("u.csv").write_bytes(text_of_table("\r\n", "\t").encode("utf-16"))
    schema, _ = counterfoil.buy_schema("u.csv", epsilon=5.0)
    assert schema.encoding == "utf-8"
    assert sorted(schema["Größe"].values) == sorted(PLACES)


def test_an_encoding_that_says_nothing_is_refused_before_anything_is_charged(office: Office) -> None:
    Path("u.csv").write_bytes(text_of_table().encode("utf-16"))
    parquet.write_table(pa.table({"a": [1, 2]}), "p.parquet")
    for source, said in (("u.csv", "The first bytes of the file say that it is UTF-16"), ("p.parquet", "of CSV files")):
        with pytest.raises(ValueError, match=said):
            counterfoil.buy_schema(source, epsilon=1.0, encoding="cp1252")
        for rest in ((), ("--confirm", "--piped"), ("--epsilon", "1")):
            ended = office.run("schema", source, "--out", "s.toml", "--encoding", "cp1252", *rest)
            assert ended.status == 2
            assert said in " ".join(ended.err.split())
    assert columns_stated("leute.csv", "windows-1252").encoding == "windows-1252"
    assert not Path("s.toml").exists()


def test_the_value_at_fault_is_shown_in_its_encoding(office: Office) -> None:
    Path("leute.csv").write_bytes(text_of_table().encode("cp1252") + "Öhringen;zwölf;1,5\r\n".encode("cp1252"))
    Path("s.toml").write_text(f'encoding = "windows-1252"\nignore = ["Lohn €", "Größe"]\n{AGE}', encoding="utf-8")
    arguments = ("synth", "leute.csv", "--schema", "s.toml", "--epsilon", "1", "--out", "o.csv")
    shown = office.run(*arguments, "--show-values")
    assert shown.status == 2
    assert "zwölf" in shown.err
    assert f"line {ROWS + 2} of leute.csv" in " ".join(shown.err.split())
    hidden = office.run(*arguments)
    assert hidden.status == 2
    assert "zwölf" not in hidden.err


def test_a_model_is_applied_to_rows_in_the_encoding_of_its_schema(office: Office) -> None:
    pytest.importorskip("torch")
    places = '[columns."Größe"]\nkind = "categorical"\nvalues = ["Köln", "Düsseldorf", "Zürich – Süd"]\n'
    Path("s.toml").write_text(f'encoding = "cp1252"\nignore = ["Lohn €"]\n{places}{AGE}', encoding="utf-8")
    wished = ("--target", "Größe", "--epsilon", "1", "--delta", "1e-6", "--iterations", "2", "--out", "model")
    done(office, "train", "dp-sgd", "leute.csv", "--schema", "s.toml", *wished)
    done(office, "predict", "model", "leute.csv", "--out", "said.parquet")
    said = parquet.read_table("said.parquet")
    assert said.num_rows == ROWS
    assert set(said["predicted_Größe"].to_pylist()) <= set(PLACES)


def test_a_purchase_is_not_finished_in_another_encoding(office: Office) -> None:
    """Its file names the encoding only where one is stated, so that files of earlier versions are what they were."""
    Path("ascii.csv").write_text("a;b\n1;x\n", encoding="ascii")
    facts = {
        encoding: SchemaPurchase.of("ascii.csv", Budget(1.0, 1e-9), "add_or_remove_one", encoding=encoding).facts(
            has_ledger=False
        )
        for encoding in (None, "utf-8", "latin1", "cp1252", "cp1250")
    }
    assert facts[None] == facts["utf-8"]
    assert "encoding" not in facts[None]
    assert facts["latin1"] == facts["cp1252"] == {**facts[None], "encoding": "windows-1252"}
    assert facts["cp1250"]["encoding"] == "windows-1250"


def test_a_ledger_of_a_table_needs_no_encoding(office: Office) -> None:
    Path("jp.csv").write_bytes("ポスト番号,サンポ\n1,ポ\n".encode("cp932"))
    done(office, "ledger", "create", "jp.ledger", "--source", "jp.csv", "--epsilon", "1", "--delta", "1e-6")
