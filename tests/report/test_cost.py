"""What a report says of costs: of the receipt's own guarantee, and nothing that is not for its readers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import norm

import counterfoil as cf
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.receipt.receipt import Receipt
from counterfoil.report.certificates import certificates
from counterfoil.report.cost import PURPOSES, cost, curve_of, found_at_most, parts_of
from counterfoil.report.head import head
from counterfoil.report.page import page_of
from counterfoil.report.release import ReleaseFacts
from counterfoil.schema.bought import Bought
from report_pages import SCRIPT, people, release

TABLE, SCHEMA = people()


@pytest.fixture(scope="module")
def bought() -> cf.Synthesis:
    return release(TABLE, SCHEMA, fidelity=Fidelity(0.3, target="income"), check_schema=0.05, method="aim")


@pytest.fixture(scope="module")
def plain() -> cf.Synthesis:
    return release(TABLE, SCHEMA)


def test_the_sentence_is_of_the_curve_of_the_whole_budget(plain: cf.Synthesis) -> None:
    section = cost(ReleaseFacts.of(plain))
    assert section is not None
    figure = section.figures[0]
    mu = math.sqrt(GaussianFilter().capacity(cf.Budget(1.0, 1e-6)))
    found = 1 - norm.cdf(norm.ppf(0.95) - mu)
    said = f"{math.ceil(found * 1000) / 10:.1f}%"
    assert (
        f"Whoever wrongly takes at most 5% of those outside to be in finds, of those who are in, at most {said};"
        in (figure.caption)
    )
    assert figure.table is not None
    rows = {alarms: at_most for alarms, at_most, _ in figure.table.rows}
    assert rows["5.0%"] == said
    assert section.lead.startswith("Epsilon 1 at delta 1e-06")


def test_what_was_left_makes_no_better_curve(plain: cf.Synthesis) -> None:
    """Under a filter only what was fixed in advance bounds anything: a receipt that spent less says the same."""
    document = plain.receipt.to_json()
    document["charges"] = []
    assert curve_of(document) == curve_of(plain.receipt.document)


def test_replaced_rows_are_told_apart_not_found_in_the_table() -> None:
    made = release(TABLE, SCHEMA, relation=NeighboringRelation.REPLACE_ONE)
    section = cost(ReleaseFacts.of(made))
    assert section is not None
    assert "which of two given rows is in the table" in section.figures[0].caption
    assert "names the first" in section.figures[0].caption


def test_a_pure_budget_has_the_curve_of_randomized_response() -> None:
    made = release(TABLE, SCHEMA, delta=0.0)
    curve = curve_of(made.receipt.document)
    assert curve is not None
    assert curve.found(0.05) == pytest.approx(0.05 * math.e, abs=1e-9)
    assert found_at_most(curve, 0.05) == "13.6%"


def test_a_seed_leaves_no_guarantee() -> None:
    made = release(TABLE, SCHEMA, seed=3)
    section = cost(ReleaseFacts.of(made))
    assert section is not None
    assert [figure.title for figure in section.figures] == ["Where the budget went"]
    assert section.lead == ""
    assert "No guarantee" in section.alarms[0]


def test_a_bought_schema_counts(plain: cf.Synthesis) -> None:
    paid = Bought(0.5, 1e-7, "add_or_remove_one", "0f" * 32)
    made = release(TABLE, replace(SCHEMA, bought=paid))
    section = cost(ReleaseFacts.of(made))
    assert section is not None
    assert any("Both together" in said for said in section.paragraphs)
    curve, alone = curve_of(made.receipt.document), curve_of(plain.receipt.document)
    assert curve is not None
    assert alone is not None
    at_most = min(math.exp(0.5) * alone.found(0.05) + 1e-7, alone.found(math.exp(0.5) * 0.05 + 1e-7))
    assert curve.found(0.05) == pytest.approx(at_most, abs=1e-9)
    assert curve.found(0.05) > alone.found(0.05)
    assert "(its bought schema counted)" in section.figures[0].caption


def test_a_schema_of_another_relation_bends_the_curve_or_there_is_none(plain: cf.Synthesis) -> None:
    paid = Bought(0.5, 1e-7, "add_or_remove_one", "0f" * 32)
    made = release(TABLE, replace(SCHEMA, bought=paid), relation=NeighboringRelation.REPLACE_ONE)
    alone = curve_of(release(TABLE, SCHEMA, relation=NeighboringRelation.REPLACE_ONE).receipt.document)
    curve = curve_of(made.receipt.document)
    assert curve is not None
    assert alone is not None
    delta = (1 + math.exp(0.5)) * 1e-7
    at_most = min(math.exp(1.0) * alone.found(0.05) + delta, alone.found(math.exp(1.0) * 0.05 + delta))
    assert curve.found(0.05) == pytest.approx(at_most, abs=1e-9)
    made = release(TABLE, replace(SCHEMA, bought=replace(paid, relation="replace_one")))
    assert curve_of(made.receipt.document) is None
    section = cost(ReleaseFacts.of(made))
    assert section is not None
    assert "How well could anyone tell?" not in [figure.title for figure in section.figures]
    (alarm,) = section.alarms
    assert alarm.startswith("No curve is drawn of how well anyone could tell, for the release has its schema in it: ")
    assert "stated under replace_one" in alarm


def test_the_head_counts_a_bought_schema(plain: cf.Synthesis) -> None:
    paid = Bought(8.0, 1e-7, "add_or_remove_one", "0f" * 32)
    made = head(ReleaseFacts.of(release(TABLE, replace(SCHEMA, bought=paid))))
    assert ("Its schema", "epsilon 8, delta 1e-07") in made.facts
    assert ("Both together", "epsilon 9, delta 1.1e-06") in made.facts
    assert any("Epsilon 9 means" in said and "at most 8,110 times" in said for said in made.sentences)
    assert any("Epsilon 1 means" in said for said in head(ReleaseFacts.of(plain)).sentences)
    other = head(ReleaseFacts.of(release(TABLE, replace(SCHEMA, bought=replace(paid, relation="replace_one")))))
    assert ("Both together", "no figure") in other.facts
    assert any(said.startswith("Nothing bounds what can be learned about one record") for said in other.sentences)
    assert not any(" means: " in said for said in other.sentences)


def test_parts_are_shares_of_the_capacity(bought: cf.Synthesis) -> None:
    document = bought.receipt.document
    found = parts_of(document)
    assert found is not None
    parts, left = found
    shares = dict(parts)
    assert math.fsum(shares.values()) + (left or 0.0) == pytest.approx(1.0)
    mu = {}
    for charge in document["charges"]:
        event = charge["event"]
        width = event["epsilon"] / 2 if event["kind"] == "bounded_range" else math.nan
        squared = (
            event["noise_multiplier"] ** -2
            if event["kind"] == "gaussian"
            else (2 * norm.ppf(math.exp(width) / (1 + math.exp(width)))) ** 2
        )
        mu[PURPOSES[charge["query"]]] = mu.get(PURPOSES[charge["query"]], 0.0) + squared
    whole = GaussianFilter().capacity(cf.Budget(1.0, 1e-6))
    assert shares == pytest.approx({name: part / whole for name, part in mu.items()}, rel=1e-6)
    assert shares["checking the schema"] == pytest.approx(0.05, rel=0.02)
    assert shares["how good the copy is (fidelity)"] == pytest.approx(0.3, rel=0.02)
    assert [share for _, share in parts] == sorted(shares.values(), reverse=True)


def test_purposes_are_of_queries_that_there_are() -> None:
    assert set(PURPOSES) <= set(shipped_queries())


def test_a_query_that_nobody_knows_is_a_noisy_statistic(plain: cf.Synthesis) -> None:
    document = plain.receipt.to_json()
    document["charges"][0]["query"] = SCRIPT
    found = parts_of(document)
    assert found is not None
    assert [name for name, _ in found[0]] == ["a noisy statistic", "checking the schema"]


def test_the_ledger_tells_neither_places_nor_words_nor_refusals(tmp_path) -> None:
    source = tmp_path / "people.parquet"
    pq.write_table(TABLE, source)
    with cf.Ledger.create(tmp_path / "people.ledger", source=source, total=(3.0, 1e-5)) as ledger:
        release(source, SCHEMA, ledger=ledger, epsilon=0.5)
        made = release(source, SCHEMA, ledger=ledger, epsilon=0.75)
        ledger.record_receipt(2, made.receipt.digest)
        ledger.record_reveal(f"because {SCRIPT} of the mayor")
        ledger.record_refusal()
        facts = ReleaseFacts.of(made, ledger=ledger)
        section, page = cost(facts), page_of(facts)
    assert section is not None
    figure = section.figures[-1]
    assert figure.title == "The ledger of the table"
    assert "2 releases of the table so far" in figure.caption
    assert "1.25 and 2e-06 are spent; 1.75 and 8e-06 are left" in figure.caption
    assert "The ring is this release" in figure.caption
    assert "does not know" not in figure.caption
    assert "looked at without privacy (once)" in figure.caption
    assert figure.table is not None
    assert [row[4] for row in figure.table.rows] == ["0.5", "1.25"]
    for secret in ("mayor", str(tmp_path), "refus"):
        assert secret not in page


def test_a_ledger_of_another_table_has_no_ring(plain: cf.Synthesis, tmp_path) -> None:
    (tmp_path / "other.csv").write_text("a\n")
    with cf.Ledger.create(tmp_path / "l.ledger", source=tmp_path / "other.csv", total=1.0) as ledger:
        section = cost(ReleaseFacts.of(plain, ledger=ledger))
    assert section is not None
    assert "ring" not in section.figures[-1].caption
    assert "It does not know the receipt of this release" in section.figures[-1].caption
    assert section.figures[-1].table is None


def test_certificates_and_measures(bought: cf.Synthesis, plain: cf.Synthesis) -> None:
    assert certificates(ReleaseFacts.of(plain)) is None
    section = certificates(ReleaseFacts.of(bought))
    assert section is not None
    stated = bought.receipt.document["certificates"]
    assert section.figures[0].table is not None
    rows = section.figures[0].table.rows
    assert len(rows) == len(stated) == sum("norm" in row[0] for row in rows)
    assert {row[1] for row in rows} == {f"{one['excess_risk']:.4g}" for one in stated}
    assert all(one["sentence"] in section.points for one in stated)
    assert any(point.startswith("Mean L1 error of the marginals") for point in section.points)


def test_a_forged_certificate_is_drawn_as_what_follows_from_its_gaps(bought: cf.Synthesis) -> None:
    document = bought.receipt.to_json()
    document["certificates"][0] |= {"excess_risk": 1e-9, "sentence": "Perfect."}
    honest = certificates(ReleaseFacts.of(bought))
    forged = certificates(replace(ReleaseFacts.of(bought), receipt=Receipt(document)))
    assert honest is not None
    assert forged is not None
    assert forged.points == honest.points
    assert forged.figures[0].table == honest.figures[0].table


def test_numbers_of_the_curve_never_say_less_than_guessing(plain: cf.Synthesis) -> None:
    section = cost(ReleaseFacts.of(plain))
    assert section is not None
    assert section.figures[0].table is not None
    for alarms, found, guessing in section.figures[0].table.rows:
        assert alarms == guessing
        assert float(found.rstrip("%")) >= float(guessing.rstrip("%"))
    assert np.isfinite([float(found.rstrip("%")) for _, found, _ in section.figures[0].table.rows]).all()
