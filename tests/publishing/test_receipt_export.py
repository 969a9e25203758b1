"""`receipt export`: an entry of the registry's shape, and a dossier that answers nothing which it does not know."""

from __future__ import annotations

import json
import math
import re
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import SCHEMA, Ended, Office, make_office, write_people
from counterfoil import buy_schema, synthesize
from counterfoil.publishing.dossier import QUESTIONS, dossier_text
from counterfoil.publishing.readme import Contents, readme_text
from counterfoil.publishing.registry import StewardFacts, registry_entry, registry_yaml, unanswered
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.synthesis.parquet_label import label_of

RULES = json.loads((Path(__file__).parent / "registry_rules.json").read_text())
ROOT = Path(__file__).parents[2]
NONPROFIT = StewardFacts("Nonprofit")


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    assert made.synth("--out", "s.csv").status == 0
    return made


def receipts(folder: Path) -> dict[str, dict[str, Any]]:
    """Receipts of both relations, of rows and of people, pure and approximate."""
    write_people(folder / "people.csv")
    schema, source = Schema.from_toml(SCHEMA), str(folder / "people.csv")
    visits = folder / "visits.csv"
    lines = (folder / "people.csv").read_text().splitlines()
    visits.write_text("\n".join([f"id,{lines[0]}", *(f"{i // 2},{line}" for i, line in enumerate(lines[1:]))]) + "\n")
    with_ids = Schema.from_toml('[columns.id]\nkind = "identifier"\n' + SCHEMA.partition("\n")[2])
    made = {
        "approximate": synthesize(source, schema, epsilon=1.0, method="mst"),
        "pure": synthesize(source, schema, epsilon=0.5, delta=0.0, method="independent"),
        "replace": synthesize(source, schema, epsilon=1.0, relation="replace_one", method="independent"),
        "people": synthesize(str(visits), with_ids, epsilon=1.0, method="independent", privacy_unit=("id", 2)),
    }
    return {name: one.receipt.to_json() for name, one in made.items()}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return receipts(tmp_path_factory.mktemp("exported"))


NAMES = ["approximate", "pure", "replace", "people"]


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_has_the_registrys_shape(known: dict[str, dict[str, Any]], name: str) -> None:
    document = known[name]
    entry = registry_entry(document, NONPROFIT)
    jsonschema.validate(entry, RULES)
    date.fromisoformat(entry["deployment"]["basic"]["publication_date"])
    loss = entry["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"]["epsilon"] == document["budget"]["epsilon"]
    assert loss["privacy_parameters"].get("delta", 0.0) == document["spent"]["delta"]
    variant = entry["deployment"]["dp_variant"]
    assert (variant["variant_name"] == "Pure DP") == (document["spent"]["delta"] == 0) == (name == "pure")
    assert ("number_of_privacy_units" in loss) == (name == "replace"), "the number of rows is public there alone"
    assert ("The number of rows." in variant["unprotected_quantities"]) == (name == "replace")
    assert ("id" in loss["privacy_unit"]) == (name == "people")
    for charge in document["charges"]:
        assert charge["query"] in entry["deployment"]["implementation"]["mechanisms"]


@pytest.mark.parametrize("name", NAMES)
def test_the_yaml_says_the_same(known: dict[str, dict[str, Any]], name: str) -> None:
    yaml = pytest.importorskip("yaml")
    entry = registry_entry(known[name], NONPROFIT)
    assert yaml.safe_load(registry_yaml(entry)) == entry


def test_hostile_texts_stay_texts_in_yaml(known: dict[str, dict[str, Any]]) -> None:
    yaml = pytest.importorskip("yaml")
    odd = "x: [1]\n- <script>\x1b[31m \u202e\"'|#&*!%@\x7f" + "y" * 5000
    entry = registry_entry(known["pure"] | {"source": odd}, StewardFacts("Industry", odd, odd, odd, odd, odd))
    text = registry_yaml(entry)
    assert yaml.safe_load(text) == entry
    assert "\x1b" not in text
    assert text.isascii()
    jsonschema.validate(entry, RULES)


@pytest.mark.parametrize("number", [1e-9, 1e-300, 1.0, 0.1, 123456.75, 1e22, 5e-324])
def test_numbers_stay_numbers_in_yaml(number: float) -> None:
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(registry_yaml({"delta": number})) == {"delta": number}


def test_a_schema_that_was_bought_is_part_of_the_price(known: dict[str, dict[str, Any]]) -> None:
    bought = {"epsilon": 0.1, "delta": 1e-9, "relation": "add_or_remove_one", "receipt": "0" * 64}
    document = known["pure"] | {"schema_bought": bought | {"together": {"epsilon": 0.6, "delta": 1e-9}}}
    entry = registry_entry(document, NONPROFIT)
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == pytest.approx({"epsilon": 0.6, "delta": 1e-9})
    assert entry["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    assert "The schema was bought too" in " ".join(dossier_text(document).split())
    schema = Schema.from_toml(SCHEMA)
    text = " ".join(readme_text(Contents(schema, document, "synthetic.csv", None, (), "model")).split())
    assert text.count("epsilon 0.5, delta 0, and for its schema epsilon 0.1, delta 1e-09") == 2
    assert label_of(document)["schema_bought"] == document["schema_bought"]
    jsonschema.validate(entry, RULES)


BOUGHT = {"epsilon": 8.0, "delta": 1e-9, "relation": "add_or_remove_one", "receipt": "0" * 64}


def words_of(document: dict[str, Any]) -> tuple[str, str]:
    """The entry's texts, and the dossier's."""
    return json.dumps(registry_entry(document, NONPROFIT)), " ".join(dossier_text(document).split())


def test_a_bought_schema_is_not_said_to_be_public_facts(known: dict[str, dict[str, Any]]) -> None:
    document = known["approximate"] | {"schema_bought": BOUGHT}
    entry, dossier = words_of(document)
    assert "a schema of public facts" not in entry
    assert "The schema is public." not in entry
    assert "noisy answers about records made it" in entry
    assert "more than 100.0% of the time" in entry
    assert "more than 100.0% of the time" in dossier
    assert "of the release without its schema is epsilon 1" in dossier
    assert "so that release and schema together are not purely private" in dossier
    assert "No single mechanism has a delta of its own" not in dossier
    assert "No single mechanism of this release, its schema aside, has a delta of its own" in dossier
    assert "Count the schema with it" in dossier
    entry, dossier = words_of(known["approximate"])
    assert "a schema of public facts" in entry
    assert "No single mechanism has a delta of its own" in dossier


def test_a_pure_release_with_a_bought_schema_is_not_pure(known: dict[str, dict[str, Any]]) -> None:
    entry, dossier = words_of(known["pure"] | {"schema_bought": BOUGHT})
    assert '"Approximate DP"' in entry
    assert "no failure is possible" not in dossier
    assert "The schema was bought with delta 1e-09" in dossier


def test_under_replacing_the_schema_counts_twice(known: dict[str, dict[str, Any]]) -> None:
    document = known["replace"] | {"schema_bought": BOUGHT | {"epsilon": 0.5}}
    stated = registry_entry(document, NONPROFIT)["deployment"]["privacy_loss"]["privacy_parameters"]
    delta = document["spent"]["delta"] + (1 + math.exp(0.5)) * 1e-9
    assert stated == pytest.approx({"epsilon": 2.0, "delta": delta})


def test_without_a_total_there_is_no_entry_and_the_dossier_says_so(known: dict[str, dict[str, Any]]) -> None:
    document = known["approximate"] | {"schema_bought": BOUGHT | {"relation": "replace_one"}}
    with pytest.raises(ValueError, match="Found none for the release and its schema together: the cost of the schema"):
        registry_entry(document, NONPROFIT)
    assert "In plain words, there is no bound" in " ".join(dossier_text(document).split())


def test_the_receipt_of_a_schema_is_exported_as_one(tmp_path: Path) -> None:
    write_people(tmp_path / "people.csv")
    document = buy_schema(str(tmp_path / "people.csv"), epsilon=5.0)[1].to_json()
    entry = registry_entry(document, NONPROFIT)
    jsonschema.validate(entry, RULES)
    said, dossier = words_of(document)
    for false in ("a schema of public facts", "The schema is public.", "the rows that were drawn", "Synthetic copy"):
        assert false not in said
    assert "kinds, bounds and categories were asked of the records" in " ".join(said.split())
    assert entry["deployment"]["basic"]["name"].startswith("Schema of ")
    assert "No single mechanism" not in dossier
    assert "At least one mechanism can fail" in dossier
    assert "fixed before this release asked its first question" not in dossier
    assert "What was released is a schema" in dossier


@pytest.mark.parametrize("share", [(), ("--share", "0.5")])
def test_the_mechanisms_that_bought_a_schema_are_listed_with_those_of_the_release(
    office: Office, share: tuple[str, ...]
) -> None:
    ledger = ("ledger", "create", "b.ledger", "--source", "people.csv", "--epsilon", "41", "--delta", "1e-6")
    assert office.run(*ledger).status == 0
    bought = office.run("schema", "people.csv", "--epsilon", "40", *share, "--out", "b.toml", "--ledger", "b.ledger")
    assert bought.status == 0, bought.err
    cost = ("--rest",) if share else ("--epsilon", "1")
    made = office.run("synth", "people.csv", "--schema", "b.toml", *cost, "--out", "b.csv", "--ledger", "b.ledger")
    assert made.status == 0, made.err
    export = ("receipt", "export", "b.receipt.json", "--format", "registry", "--curator-type", "Nonprofit", "--json")
    without = office.run(*export)
    assert "give their receipt with --schema-receipt" in " ".join(without.err.split())
    said = without.document["entry"]["deployment"]["implementation"]["mechanisms"]
    assert "Noisy answers bought the schema: their mechanisms are on the receipt" in said
    assert "column_places" not in said
    whole = office.run(*export, "--schema-receipt", "b.schema.receipt.json")
    assert whole.status == 0, whole.err
    assert "--schema-receipt" not in whole.err
    jsonschema.validate(whole.document["entry"], RULES)
    said = whole.document["entry"]["deployment"]["implementation"]["mechanisms"]
    for charge in Receipt.load("b.schema.receipt.json").document["charges"]:
        assert charge["query"] in said
    other = office.run(*export, "--schema-receipt", "s.receipt.json")
    assert other.status == 2
    assert "was bought by the receipt whose SHA-256 is" in " ".join(other.err.split())


def test_what_the_steward_says_is_in_its_place(known: dict[str, dict[str, Any]]) -> None:
    empty = unanswered(registry_entry(known["pure"], NONPROFIT))
    assert "deployment.basic.intended_use" in empty
    facts = StewardFacts("Industry", "A bank", "An author", "A name", "A use", "A region", "Finance", "Static")
    entry = registry_entry(known["pure"], facts)
    told = set(empty) - set(unanswered(entry))
    assert told == {
        "deployment.basic.data_curators.0.data_curator_name",
        "deployment.basic.intended_use",
        "deployment.basic.data_product_region",
        "deployment.deployment_model.data_source_type_details",
        "deployment.administrative.registry_authors.0",
    }
    assert entry["url_slug"] == f"a-name-a-bank-{known['pure']['created'][:4]}"
    assert entry["deployment"]["deployment_model"]["data_source_type"] == "Static"
    assert entry["deployment"]["basic"]["name"] == "A name"
    assert entry["deployment"]["basic"]["data_product_sector"] == "Finance"
    jsonschema.validate(entry, RULES)


def test_a_slug_keeps_its_year(known: dict[str, dict[str, Any]]) -> None:
    facts = StewardFacts("Industry", "A bank " * 50)
    slug = registry_entry(known["pure"], facts)["url_slug"]
    assert re.fullmatch(r"synthetic-copy-of-people-csv(-a|-bank)+-\d{4}", slug)
    assert len(slug) <= 120


def test_a_model_is_not_said_to_have_rows(known: dict[str, dict[str, Any]]) -> None:
    """Nor who counts a release to be what it is good for."""
    document = known["approximate"] | {"released": "model", "ledger": False, "warnings": []}
    entry = registry_entry(document, NONPROFIT)
    jsonschema.validate(entry, RULES)
    assert entry["deployment"]["basic"]["name"] == "Model of people.csv"
    assert "rows that were drawn" not in entry["deployment"]["implementation"]["post_processing"]
    assert entry["deployment"]["implementation"]["utility"] == "No measure of utility was bought."
    dossier = " ".join(dossier_text(document).split())
    assert "not a table but a model" in dossier
    assert "Rows look like" not in dossier
    assert dossier.count("No ledger counts this release") == 1
    measures = " ".join(dossier_text(document | {"released": "measures"}).split())
    assert "not a table but noisy measures" in measures
    assert "Rows look like" not in measures
    assert "Rows look like" in " ".join(dossier_text(known["approximate"]).split())


def test_the_rules_notice_what_breaks_them(known: dict[str, dict[str, Any]]) -> None:
    entry = registry_entry(known["pure"], NONPROFIT)
    entry["deployment"]["basic"]["data_product_type"] = "rows"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, RULES)


@pytest.mark.parametrize("name", NAMES)
def test_every_question_is_there_answered_or_named_as_unanswered(known: dict[str, dict[str, Any]], name: str) -> None:
    text = dossier_text(known[name])
    words = " ".join(text.split())
    parts = text.split("\n## ")[1:]
    assert len(parts) == len(QUESTIONS)
    for question, part in zip(QUESTIONS, parts, strict=True):
        assert part.startswith(f"{question.title} (section {question.section})")
        assert ("UNANSWERED" in part) == (question.answer is None)
        assert ("TO BE WRITTEN BY THE STEWARD" in part) == bool(question.steward)
        assert question.answer is not None or question.steward, "somebody has to answer it"
    assert "initial public draft, December 2023" in words
    assert f"epsilon {known[name]['budget']['epsilon']:g}" in words
    assert ("Pure differential privacy" in words) == (name == "pure")
    assert ("At most 2 rows of each unit" in words) == (name == "people")


def test_what_answers_rest_on_is_there() -> None:
    """Each proof has its heading, and each test its file."""
    headings = set(re.findall(r"^#+ (.+)$", (ROOT / "docs" / "privacy_proofs.md").read_text(), re.MULTILINE))
    for question in QUESTIONS:
        proofs = question.rests_on.partition("; ")[0] if question.rests_on.startswith("docs") else ""
        named = re.split(r", and |, | and ", proofs.removeprefix("docs/privacy_proofs.md, ")) if proofs else []
        joined = {"Rounding", "slack", "Neighbors", "sensitivity"}
        assert set(named) - joined <= headings, question.title
        for path in re.findall(r"tests/[\w/.]+\w", question.rests_on):
            assert (ROOT / path).exists(), path


def test_a_trained_method_is_not_said_to_have_trained_nothing(known: dict[str, dict[str, Any]]) -> None:
    document = json.loads(json.dumps(known["pure"]))
    assert "No model was trained on the records" in " ".join(dossier_text(document).split())
    document["charges"][0]["query"] = "generator_gradient"
    assert "A model was trained on the records" in " ".join(dossier_text(document).split())


def test_a_run_of_many_steps_is_not_said_to_be_one_question(known: dict[str, dict[str, Any]]) -> None:
    """One charge pays for all steps: "once, by subsampled discrete gaussian" stood for 500 noisy gradients."""
    document = json.loads(json.dumps(known["replace"]))
    steps = {"noise_multiplier": 19.2, "sampling_probability": 0.2, "steps": 500}
    document["charges"][0] |= {
        "query": "loss_gradient",
        "noise": {"kind": "subsampled_discrete_gaussian", "scale": 1e6, **steps},
        "event": {"kind": "subsampled_gaussian", **steps},
    }
    mechanisms = registry_entry(document, NONPROFIT)["deployment"]["implementation"]["mechanisms"]
    said = "500 steps, each on a fresh random batch of at most 0.2 of each group; the noise of a step is 19.2 times"
    assert said in mechanisms
    assert said in " ".join(dossier_text(document).split())
    assert "loss_gradient" in mechanisms
    assert "once, by subsampled" not in mechanisms


def test_hostile_texts_stay_texts_in_a_dossier(known: dict[str, dict[str, Any]]) -> None:
    text = dossier_text(known["pure"] | {"source": "<script>\n# x\x1b[31m", "warnings": ["[a](javascript:b)"]})
    assert "<script" not in text
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)\]\(", text)


def exported(office: Office, *arguments: str) -> Ended:
    return office.run("receipt", "export", "s.receipt.json", *arguments)


def test_the_command_writes_both(office: Office) -> None:
    made = exported(office, "--format", "registry", "--curator-type", "Nonprofit", "--out", "entry.yaml")
    assert made.status == 0, made.err
    assert "has yet to write: deployment.basic" in " ".join(made.err.split())
    assert Path("entry.yaml").read_text().startswith('url_slug: "synthetic-copy-of-people-csv-')
    jsonschema.validate(
        exported(office, "--format", "registry", "--curator-type", "Industry", "--json").document["entry"], RULES
    )
    assert exported(office, "--format", "dossier").out.startswith("# Dossier of a release of people.csv")
    again = exported(office, "--format", "dossier", "--out", "entry.yaml")
    assert again.status == 2
    assert "--force" in again.err
    assert exported(office, "--format", "dossier", "--out", "entry.yaml", "--force").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "pdf"), "`--format` must be registry or dossier"),
        (("--format", "registry"), "needs --curator-type"),
        (("--format", "registry", "--curator-type", "Bank"), "must be Government, Industry, Nonprofit"),
        (("--format", "registry", "--curator-type", "Industry", "--sector", "Bread"), "`--sector` must be one of"),
        (("--format", "dossier", "--curator", "me"), "`--curator` goes with --format registry"),
        (("--format", "dossier", "--schema-receipt", "x"), "`--schema-receipt` goes with --format registry"),
        (
            ("--format", "registry", "--curator-type", "Industry", "--schema-receipt", "s.receipt.json"),
            "The schema of this release was not bought",
        ),
        (("--format", "dossier", "--out", "s.receipt.json", "--force"), "is the receipt"),
        (("--format", "dossier", "--out", "nowhere/x.md"), "There is no folder"),
    ],
)
def test_what_can_not_be_exported_is_refused_in_a_sentence(
    office: Office, arguments: tuple[str, ...], said: str
) -> None:
    before = {name: Path(name).read_bytes() for name in office.files() if Path(name).is_file()}
    ended = exported(office, *arguments)
    assert ended.status == 2, (ended.out, ended.err)
    assert said in " ".join(ended.err.split())
    assert {name: Path(name).read_bytes() for name in office.files() if Path(name).is_file()} == before


def test_a_receipt_that_does_not_hold_is_not_exported(office: Office) -> None:
    document = json.loads(Path("s.receipt.json").read_text())
    document["budget"]["epsilon"] = 0.01
    Path("s.receipt.json").write_text(json.dumps(document))
    assert "Only a receipt that holds can be exported" in exported(office, "--format", "dossier").err


def test_a_seeded_release_has_no_place_in_the_registry(office: Office) -> None:
    assert office.synth("--out", "t.csv", "--seed", "1", "--not-private").status == 0
    refused = office.run("receipt", "export", "t.receipt.json", "--format", "registry", "--curator-type", "Industry")
    assert refused.status == 2
    assert "is not differentially private" in refused.err
    assert "NOT PRIVATE" in office.run("receipt", "export", "t.receipt.json", "--format", "dossier").out


def test_older_receipts_are_exported_too() -> None:
    for path in sorted((ROOT / "tests" / "receipt" / "older_receipts").glob("*.json")):
        document = Receipt.load(path).document
        if document["private"]:
            jsonschema.validate(registry_entry(document, NONPROFIT), RULES)
        assert dossier_text(document)
