"""Releases from Spark, and rows drawn in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import parquet

import counterfoil
from counterfoil.accounting.budget import Budget
from counterfoil.cli.app import run
from counterfoil.curator.engines.spark import SparkEngine
from counterfoil.curator.sources.source import SourceError
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.schema import Categorical, Datetime, Identifier, Integer, Real, Schema
from counterfoil.synthesis import spark_rows
from counterfoil.synthesis.spark_rows import Parts
from counterfoil.training.pate import PATEClassifier
from spark_sessions import Spark, spark_session

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
SCHEMA = Schema(
    (
        Identifier("id", replace="sequence"),
        Categorical("kind", ("a", "b", "c")),
        Integer("age", 0, 99, bins=10, missing=True),
        Datetime("seen", datetime(2020, 1, 1), datetime(2020, 12, 31), "1mo"),
        Real("income", 0, 100, bins=5),
    )
)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spark]:
    with spark_session(
        "local[2]", tmp_path_factory.mktemp("spark"), **{"spark.sql.timestampType": "TIMESTAMP_NTZ"}
    ) as made:
        yield made


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(7)
    days = rng.integers(0, 360, 3000).astype("timedelta64[D]")
    return pa.table(
        {
            "id": [f"p{i // 2}" for i in range(3000)],
            "kind": rng.choice(["a", "b", "c"], 3000, p=[0.6, 0.3, 0.1]),
            "age": pa.array(rng.integers(0, 100, 3000), mask=rng.random(3000) < 0.1),
            "seen": pa.array(np.datetime64("2020-01-01T00:00:00", "us") + days),
            "income": rng.uniform(0, 100, 3000),
        }
    )


@pytest.fixture(scope="module")
def made(spark: Spark, people: pa.Table) -> counterfoil.Synthesis:
    return counterfoil.synthesize(
        spark.frame(people),
        SCHEMA,
        epsilon=50,
        method="mst",
        privacy_unit=("id", 2),
        fidelity=Fidelity(0.1),
        check_schema=0.1,
        unit_sizes=0.1,
    )


def test_a_release_from_spark_is_close_to_the_table(made, people: pa.Table) -> None:
    """All parts of a release: counts, fidelity, the check of the schema, rows per unit, within the noise of 50."""
    assert abs(made.rows - 3000) < 100
    shares = np.unique(people["kind"], return_counts=True)[1] / 3000
    assert np.abs(made.marginal("kind").counts / made.model.total - shares).max() < 0.02
    document = made.receipt.document
    assert document["source"] == "The Spark table"
    assert {"schema_placement", "unit_sizes"} <= {charge["query"] for charge in document["charges"]}


def test_the_command_reads_parquet_by_spark(
    spark: Spark, people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").mkdir()
    for part in range(2):
        parquet.write_table(people.slice(part * 1500, 1500), tmp_path / "people" / f"{part}.parquet")
    (tmp_path / "people.schema.toml").write_text(SCHEMA.to_toml())
    source = f"spark+parquet://{tmp_path}/people"
    assert run(["ledger", "create", "people.ledger", "--source", source, "--epsilon", "3", "--delta", "0"]) == 0, (
        capsys.readouterr()
    )
    arguments = ["--schema", "people.schema.toml", "--epsilon", "1", "--delta", "0", "--method", "independent"]
    assert run(["synth", source, *arguments, "--ledger", "people.ledger", "--out", "copy.csv"]) == 0, (
        capsys.readouterr()
    )
    assert abs(len((tmp_path / "copy.csv").read_text().splitlines()) - 3001) < 400
    with Ledger.open(tmp_path / "people.ledger", source=None) as ledger:
        assert ledger.source == SourceIdentity("people", source)
        assert ledger.source == SourceIdentity.of(source)
        assert ledger.spent().epsilon == pytest.approx(1, abs=0.01)


def buying(frame, ledger: Ledger) -> None:
    counterfoil.buy_schema(frame, epsilon=1, delta=1e-9, ledger=ledger)


def training(frame, ledger: Ledger) -> None:
    schema = Schema(SCHEMA.columns[-1:], ignore=tuple(column.name for column in SCHEMA.columns[:-1]))
    counterfoil.synthesize(frame, schema, epsilon=1, delta=1e-9, method="wasserstein-generator", ledger=ledger)


def teaching(frame, ledger: Ledger) -> None:
    public = pa.table({"kind": ["a"], "age": [1], "seen": pa.array([datetime(2020, 1, 1)]), "income": [1.0]})
    PATEClassifier(epsilon=1, delta=1e-9).fit(frame, SCHEMA, target="kind", public=public, ledger=ledger)


HERE = "do not come to this process"


@pytest.mark.parametrize(("spending", "said"), [(buying, "are not counted"), (training, HERE), (teaching, HERE)])
def test_what_needs_records_here_is_refused_before_anything_is_charged(
    spark: Spark, people: pa.Table, spending, said: str
) -> None:
    if spending is training:
        pytest.importorskip("torch")
    source = SourceIdentity("The Spark table", "memory")
    with Ledger.in_memory(source=source, total=Budget(1.0, 1e-9)) as ledger:
        with pytest.raises(SourceError, match=said):
            spending(spark.frame(people), ledger)
        assert all(not release.charges for release in ledger.releases())


def test_comparing_with_a_table_in_spark_is_refused(spark: Spark, people: pa.Table, made) -> None:
    from counterfoil.evaluation.comparison import compare

    with pytest.raises(SourceError, match="do not come to this process"):
        compare(spark.frame(people), made.to_arrow(), SCHEMA)


# Rows drawn in Spark


def test_rows_drawn_in_spark_are_exactly_as_many_and_the_same_again(
    spark: Spark, made, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = made.to_spark(spark.session, 500_001, seed=3)
    assert frame.rdd.getNumPartitions() == 3
    assert frame.count() == 500_001
    one, again = frame.toArrow(), made.to_spark(spark.session, 500_001, seed=3).toArrow()
    assert one.equals(again)
    assert one.column_names == made.to_arrow().column_names
    assert sorted(one["id"].to_pylist()) == list(range(1, 500_002))
    assert not one.equals(made.to_spark(spark.session, 500_001, seed=4).toArrow())


def test_rows_drawn_in_spark_follow_the_model(spark: Spark, made) -> None:
    """Each part is rounded from the model's counts, so that those of a column are off by its number of cells at most
    in each part: 3 of 100,000."""
    counts = made.to_spark(spark.session, 100_000).groupBy("kind").count().toArrow()
    found = dict(zip(counts["kind"].to_pylist(), counts["count"].to_pylist(), strict=True))
    expected = made.marginal("kind").counts / made.model.total * 100_000
    assert np.abs([found[kind] for kind in "abc"] - expected).max() < 200
    assert made.to_spark(spark.session).count() == made.rows
    for rows in (0, "3"):
        with pytest.raises(ValueError, match="`rows` must be a whole number"):
            made.to_spark(spark.session, rows)


def test_parts_differ_and_are_each_a_function_of_their_number(made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_rows, "PART_ROWS", 100)
    like = made.to_arrow().schema
    parts = Parts(made.model, made.schema, like.names, 250, 9, like)
    assert parts.count == 3
    drawn = [parts.draw(part) for part in range(3)]
    assert [part.num_rows for part in drawn] == [100, 100, 50]
    assert drawn[1].equals(parts.draw(1))
    assert not drawn[0].drop(["id"]).equals(drawn[1].drop(["id"]))
    assert pc.max(drawn[2]["id"]).as_py() == 250


def test_an_engine_is_chosen_for_spark_alone(spark: Spark, people: pa.Table) -> None:
    with counterfoil.Curator(spark.frame(people), SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        assert type(curator._engine) is SparkEngine
