"""From a frame or a file to a synthetic table in one call."""

from __future__ import annotations

import tomllib
import warnings
from datetime import time
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from command_line import SCHEMA, write_people
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.api import synthesize
from counterfoil.curator.source_facts import columns_of, identity_of, value_at
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.first_schema import buy_schema, draft_schema
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.methods.direct import Direct
from counterfoil.methods.registry import method_named, method_names
from counterfoil.schema import Schema
from counterfoil.schema.unit_advice import RowProtectionWarning


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "people.csv"
    write_people(path)
    (path.parent / "people.toml").write_text(SCHEMA)
    return path


@pytest.mark.parametrize("kind", ["path", "pandas", "polars", "pyarrow"])
def test_files_and_frames_alike(people: Path, kind: str) -> None:
    frame = pd.read_csv(people)
    sources = {
        "path": lambda: people,
        "pandas": lambda: frame,
        "polars": lambda: pl.read_csv(people),
        "pyarrow": lambda: pa.Table.from_pandas(frame),
    }
    made = synthesize(sources[kind](), Schema.from_toml(SCHEMA), epsilon=1.0, method="independent", seed=5)
    # The same seed and the same records: the same release, whatever they came in.
    assert made.rows == synthesize(people, SCHEMA, epsilon=1.0, method="independent", seed=5).rows
    assert made.to_arrow().column_names == ["sex", "age", "income"]
    assert made.receipt.verify().holds
    assert not made.receipt.private


def test_every_parameter_reaches_the_receipt(people: Path) -> None:
    made = synthesize(
        people,
        people.parent / "people.toml",
        epsilon=0.5,
        delta=1e-7,
        method=Direct(workload=2),
        relation="replace_one",
        rows=12,
        privacy_unit=PrivacyUnit("sex", 3),
    )
    document = made.receipt.document
    assert document["budget"] == {"epsilon": 0.5, "delta": 1e-7}
    assert document["neighboring_relation"] == "replace_one"
    assert document["privacy_unit"] == {"column": "sex", "max_rows": 3, "rows_without_id": "each_alone"}
    assert document["rows"] == {"drawn": 12, "how": "asked for by the user"}
    assert made.rows == 12
    assert document["method"]["name"] == "direct"
    assert document["private"]


def test_a_ledger_is_charged(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    with Ledger.create(path, source=identity_of(people), total=Budget(1.0, 1e-6)) as ledger:
        synthesize(people, SCHEMA, epsilon=0.75, method="independent", ledger=ledger)
        assert ledger.spent().epsilon == 0.75
        with pytest.raises(Exception, match=r"asked for: epsilon 0\.75"):
            synthesize(people, SCHEMA, epsilon=0.75, method="independent", ledger=ledger)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0.0}, "`epsilon` must be positive"),
        ({"method": "ain"}, "`method` must be one of aim, direct, evolution, independent.*Did you mean 'aim'"),
        ({"rows": 0}, "`rows` must be a whole number of at least 1. Found 0"),
        ({"rows": 10**12}, "GB of memory"),
        ({"method": Direct}, r"such as `Direct\(\)`\. Found the class"),
        ({"relation": "replace"}, "must be add_or_remove_one or replace_one. Found 'replace'"),
        ({"rows": 1.5}, "`rows` must be a whole number"),
        ({"relation": "both"}, "both"),
    ],
)
def test_bad_requests_are_refused(people: Path, change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        synthesize(people, SCHEMA, **{"epsilon": 1.0, "method": "independent"} | change)


def test_methods_take_only_their_own_parameters() -> None:
    for name in method_names():
        assert callable(method_named(name).synthesize)
    assert method_named("direct", workload=3, max_model_size=None) == Direct(workload=3)
    with pytest.raises(ValueError, match=r"'independent' takes no `workload`: leave it out, or use aim or direct\."):
        method_named("independent", workload=2)


def test_what_a_steward_is_told_without_a_query(people: Path) -> None:
    assert list(columns_of(people).types) == ["sex", "age", "income"]
    assert not columns_of(people).typed
    assert identity_of(people).name == "people.csv"
    assert identity_of(people).location == str(people)
    frame = pa.table({"a": [1, 2, 3]})
    assert columns_of(frame).typed
    assert value_at(frame, "a", 2) == "3"


def test_the_schema_is_checked_as_on_the_command_line_and_what_stands_out_is_warned_of() -> None:
    table = pa.table({"rank": [7] * 900 + [3] * 1100})
    narrow = Schema.from_toml('[columns.rank]\nkind = "integer"\nlower = 0\nupper = 6\n')
    with pytest.warns(SchemaWarning, match=r"of rank lie above 6, .*: raise `upper`"):
        made = synthesize(table, narrow, epsilon=5.0, method="mst", seed=1)
    assert made.receipt.document["schema_check"]["share"] == 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("error", SchemaWarning)
        unchecked = synthesize(table, narrow, epsilon=5.0, method="mst", seed=1, check_schema=0)
        fits = Schema.from_toml('[columns.rank]\nkind = "integer"\nlower = 0\nupper = 7\n')
        synthesize(table, fits, epsilon=5.0, method="mst", seed=1)
    assert "schema_check" not in unchecked.receipt.document


def test_a_frame_is_drafted_by_its_names_and_types(people: Path) -> None:
    days = pd.Series(pd.to_datetime(["2020-01-01"]).date, dtype=object)
    frame = pd.DataFrame({"sick": [True], "born": days, "stay": pd.to_timedelta([1], unit="D")}, index=[7])
    text = draft_schema(frame.rename_axis("patient"), name="stays", decimal_char=",")
    facts = tomllib.loads(text)
    assert (facts["name"], facts["decimal_char"]) == ("stays", ",")
    kinds = {name: one["kind"] for name, one in facts["columns"].items()}
    assert kinds == {"patient": "integer", "sick": "boolean", "born": "?", "stay": "?"}
    assert all(one["confirm"] for one in facts["columns"].values())
    assert list(tomllib.loads(draft_schema(people))["columns"]) == ["sex", "age", "income"]
    with pytest.raises(ValueError, match="decimal sign must be a comma or a point"):
        draft_schema(people, decimal_char=";")


def test_a_draft_says_the_digits_that_a_type_has() -> None:
    """A draft of `numeric(12,2)` said nothing of cents, and one of `numeric(10,0)` made reals of whole numbers."""
    types = [("cost", (12, 2)), ("sum", (38, 2)), ("visits", (10, 0)), ("hundreds", (5, -2)), ("any", (38, 18))]
    drafted = tomllib.loads(draft_schema(pa.table({name: pa.array([None], pa.decimal128(*of)) for name, of in types})))
    said = {name: (one["kind"], one.get("decimals")) for name, one in drafted["columns"].items()}
    assert said["cost"] == said["sum"] == ("real", 2)
    assert said["visits"] == ("integer", None)
    assert said["hundreds"] == said["any"] == ("real", None)


def test_a_draft_says_how_times_of_day_are_declared() -> None:
    """They were drafted as categories. What is drafted needs nothing but to be confirmed."""
    table = pa.table({"seen": pa.array([time(8, 30), time(23, 59, 59)])})
    drafted = draft_schema(table)
    assert tomllib.loads(drafted)["columns"]["seen"]["kind"] == "datetime"
    assert check_without_privacy(table, drafted.replace("confirm = true\n", "")).holds


@pytest.mark.parametrize("frame", [pd.DataFrame(), pa.table({})], ids=["pandas", "arrow"])
def test_a_table_without_columns_is_not_described(frame: object) -> None:
    """Of a table of PostgreSQL that had none, an empty schema was drafted."""
    with pytest.raises(ValueError, match=r"must have columns to be described by a schema\. Found none"):
        draft_schema(frame)
    with pytest.raises(ValueError, match=r"must have columns to be described by a schema\. Found none"):
        buy_schema(frame, epsilon=1.0)


BOUGHT = f'bought = {{ epsilon = 1.0, delta = 1e-9, relation = "add_or_remove_one", receipt = "{"ab" * 32}" }}\n'
STAYS = '[columns.{}]\nkind = "identifier"\n[columns.ward]\nkind = "integer"\nlower = 0\nupper = 4\n'


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (STAYS.format("patient"), r"Each row is protected by itself\. .*: privacy_unit=\('patient', K\)\.$"),
        (
            STAYS.format("x") + STAYS.format("y").split("[columns.ward]")[0],
            r"privacy_unit=\(COLUMN, K\), where .* x or y",
        ),
        (
            BOUGHT + STAYS.format("patient") + STAYS.format("x").split("[columns.ward]")[0],
            r": privacy_unit=\('patient', K",
        ),
        (BOUGHT + 'ignore = ["patient"]\n' + STAYS.format("x"), r": privacy_unit=\('patient', K\)\.$"),
        (BOUGHT + STAYS.format("x"), r": privacy_unit=\('x', K\)\.$"),
    ],
    ids=["one", "two", "what a purchase left out", "what was ignored", "what may have been stated"],
)
def test_rows_that_have_an_identifier_are_said_to_be_protected_one_by_one(schema: str, words: str) -> None:
    """The command said so; in Python patients with many rows were copied without a word."""
    stays = pa.table({"patient": [1, 1, 2] * 50, "x": [0] * 150, "y": [0] * 150, "ward": [0, 1, 2] * 50})
    facts = Schema.from_toml(schema)
    rows = stays.select([*(column.name for column in facts.columns), *facts.ignore])
    with pytest.warns(RowProtectionWarning, match=words) as said:
        synthesize(rows, facts, epsilon=1.0, method="independent", seed=1)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowProtectionWarning)
        unit = facts.columns[0].name
        synthesize(rows, facts, epsilon=1.0, method="independent", seed=1, privacy_unit=(unit, 3))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilom": 1}, r"`synthesize` has no argument 'epsilom'\. Did you mean 'epsilon'\?"),
        ({"privacy_units": ("age", 1)}, r"no argument 'privacy_units'\. Did you mean 'privacy_unit'\?"),
        ({"max_rows": 3}, r"no argument 'max_rows'\. It belongs to the privacy unit: .*privacy_unit=\('person', 3\)\."),
        ({"target": "income"}, r"no argument 'target'\. Name it in `fidelity=Fidelity\(share, target=\.\.\.\)`"),
        ({"focus": "income"}, r"no argument 'focus'\. It belongs to a method: give it there, as in method=AIM\(focus="),
        ({"queries": "moments:2"}, r"as in method=Reweighting\(queries=\.\.\.\)\."),
        ({"budget": 1}, r"`synthesize` has no argument 'budget'"),
        ({"accept": 3}, r"`accept` must be an `Acceptance`.* Found int: give one, or leave it out\."),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_an_argument_that_is_none_is_named_before_anything_is_charged(people: Path, given: dict, words: str) -> None:
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), Budget(1.0, 1e-6))
    with pytest.raises(TypeError, match=words):
        synthesize(people, people.parent / "people.toml", epsilon=1, ledger=ledger, **given)
    assert not ledger.releases()


def test_an_error_bar_says_that_it_is_a_distance(people: Path) -> None:
    made = synthesize(people, people.parent / "people.toml", epsilon=1, method="independent", seed=1, check_schema=0)
    assert "(an L1 distance, of at most 2)" in repr(made.error_bar("sex"))
