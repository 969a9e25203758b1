"""A Parquet file says itself that its rows are synthetic, and of which receipt it is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from counterfoil.domain.domain import Domain
from counterfoil.methods.independent import Independent
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.signature import SigningKey
from counterfoil.synthesis.parquet_label import label_in, label_problems, labeled_table
from counterfoil.synthesis.synthesis import Synthesis
from small_releases import opened


@pytest.fixture(scope="module")
def made() -> Synthesis:
    rng = np.random.default_rng(3)
    with opened(
        Domain(("a", "b"), (2, 3)), [(int(rng.integers(2)), int(rng.integers(3))) for _ in range(60)]
    ) as curator:
        return Independent().synthesize(curator)


def written(made: Synthesis, folder: Path) -> Receipt:
    made.write(folder / "s.parquet")
    return made.receipt.with_output(folder / "s.parquet", rows=made.rows)


def test_the_label_is_read_by_pyarrow_alone(made: Synthesis, tmp_path: Path) -> None:
    receipt = written(made, tmp_path)
    label = json.loads(parquet.read_metadata(tmp_path / "s.parquet").metadata[b"counterfoil"])
    document = receipt.document
    assert label["synthetic"] is True
    assert label["private"] == document["private"]
    assert "not real people" in label["label"]
    assert {name: label[name] for name in ("epsilon", "delta")} == document["budget"]
    assert label["method"] == "independent"
    assert label["neighboring_relation"] == document["neighboring_relation"]


def test_the_rows_are_what_they_were(made: Synthesis, tmp_path: Path) -> None:
    written(made, tmp_path)
    assert parquet.read_table(tmp_path / "s.parquet").equals(made.to_arrow())
    assert made.to_arrow().schema.metadata is None


def test_anyone_can_recompute_the_hash_of_the_receipt(made: Synthesis, tmp_path: Path) -> None:
    """From the finished and signed receipt: without its files and its signature, in canonical JSON."""
    receipt = written(made, tmp_path).signed(SigningKey.generate())
    receipt.save(tmp_path / "s.receipt.json")
    document = json.loads((tmp_path / "s.receipt.json").read_text())
    document.pop("signature")
    document["outputs"] = []
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    label = label_in(tmp_path / "s.parquet")
    assert label is not None
    assert label["receipt_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert list(label_problems(receipt.document, tmp_path)) == []


def test_a_label_of_another_release_is_noticed(made: Synthesis, tmp_path: Path) -> None:
    """Its file is hashed anew, so that the label alone tells."""
    receipt = written(made, tmp_path)
    other = {**receipt.document, "budget": {**receipt.document["budget"], "epsilon": 0.1}}
    with (tmp_path / "s.parquet").open("wb") as file:
        parquet.write_table(labeled_table(made.to_arrow(), other), file)
    assert any("differs in epsilon" in problem for problem in label_problems(receipt.document, tmp_path))


def test_a_seeded_release_is_labeled_as_not_private(made: Synthesis) -> None:
    table = labeled_table(made.to_arrow(), {**made.receipt.document, "private": False})
    assert "NOT PRIVATE" in json.loads(table.schema.metadata[b"counterfoil"])["label"]


@pytest.mark.parametrize("text", [b"", b"[1]", b"{", b"\xff"])
def test_what_is_no_label_is_none(tmp_path: Path, text: bytes) -> None:
    table = pa.table({"a": [1]}).replace_schema_metadata({b"counterfoil": text})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert label_in(tmp_path / "t.parquet") is None


def test_files_of_older_versions_have_none(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    assert label_in(tmp_path / "t.parquet") is None
    (tmp_path / "u.parquet").write_bytes(b"no parquet")
    assert label_in(tmp_path / "u.parquet") is None
