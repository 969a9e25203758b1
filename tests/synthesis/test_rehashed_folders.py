"""A saved folder whose index was hashed again is still checked against its receipt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.fidelity.saved_release import folder_problems
from counterfoil.methods.mst import MST
from counterfoil.receipt.certificate import Gaps
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.signature import SigningKey
from counterfoil.synthesis.folder import folder_of, save_receipt
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.saved import load_folder
from counterfoil.synthesis.synthesis import Synthesis
from saved_releases import agree, forge
from small_releases import opened

DOMAIN = Domain(("a", "b", "y"), (2, 3, 2))
OLDER = Path("tests/written_by_0_1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    rng = np.random.default_rng(5)
    rows = [tuple(int(rng.integers(size)) for size in DOMAIN.sizes) for _ in range(300)]
    fidelity = Fidelity(0.3, "y")
    with opened(DOMAIN, rows) as curator:
        fidelity.prepare(curator)
        synthesis = fidelity.measure(curator, MST().synthesize(curator))
    folder = tmp_path_factory.mktemp("whole") / "saved"
    synthesis.save(folder)
    return folder


@pytest.fixture
def saved(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "saved"))


def edit(saved: Path, change: Callable[[dict], object]) -> None:
    """Changes the receipt, and has the index agree."""
    document = json.loads((saved / "receipt.json").read_text())
    change(document)
    forge(saved, "receipt.json", json.dumps(document))


def few_rows(saved: Path, rows: int) -> None:
    with pa.ipc.open_file(str(saved / "rows.arrow")) as reader:
        table = reader.read_all().slice(0, rows)
    with pa.ipc.new_file(str(saved / "rows.arrow"), table.schema) as writer:
        writer.write_table(table)
    agree(saved, "rows.arrow")


def test_whole_folders_have_no_problem(saved: Path) -> None:
    assert folder_problems(saved) == []
    assert Synthesis.load(saved).rows == Receipt.load(saved / "receipt.json").document["rows"]["drawn"]
    for older in ("synthesis", "points"):
        assert folder_problems(OLDER / older) == []
        assert load_folder(OLDER / older).rows > 0


def test_fewer_rows_than_the_receipt_states(saved: Path) -> None:
    few_rows(saved, 10)
    with pytest.raises(ValueError, match=r"its receipt states \d+ rows, and it has 10"):
        Synthesis.load(saved)
    assert "it has 10" in folder_problems(saved)[0]
    assert Receipt.load(saved / "receipt.json").verify(saved).holds, "the receipt is whole: its folder is not"


def test_fewer_rows_and_a_receipt_that_says_so(saved: Path) -> None:
    """The model still counts as many records as there were rows."""
    few_rows(saved, 10)
    edit(saved, lambda document: document["rows"].update(drawn=10))
    with pytest.raises(ValueError, match=r"states 10 rows, and its model counts \d+"):
        Synthesis.load(saved)


def test_another_schema_than_the_receipt_s(saved: Path) -> None:
    text = (saved / "schema.toml").read_text()
    forge(saved, "schema.toml", text.replace("\n", "\n# another\n", 1))
    with pytest.raises(ValueError, match="its receipt is for another schema"):
        Synthesis.load(saved)
    assert "another schema" in folder_problems(saved)[0]


def test_a_receipt_with_another_schema_s_hash(saved: Path) -> None:
    edit(saved, lambda document: document.update(schema_sha256="0" * 64))
    with pytest.raises(ValueError, match="its receipt is for another schema"):
        Synthesis.load(saved)


def test_gaps_from_error_bars_are_recomputed(saved: Path) -> None:
    def forge_gaps(document: dict) -> None:
        place = next(i for i, one in enumerate(document["certificates"]) if one["basis"] == "error bars")
        document["certificates"][place] = Gaps("y", "error bars", 0.001, 0.001).certificate(1.0)
        document["certificates"].sort(key=lambda one: one["excess_risk"])

    edit(saved, forge_gaps)
    assert Receipt.load(saved / "receipt.json").verify(saved).holds, "alone, the receipt does not show it"
    assert "do not follow from the release's error bars" in " ".join(folder_problems(saved))


def test_error_bars_on_the_receipt_are_recomputed(saved: Path) -> None:
    edit(saved, lambda document: document["answers"]["error_bars"][0].update(fraction=0.001))
    assert "error bars on the receipt do not follow" in " ".join(folder_problems(saved))


def test_the_number_of_records_of_measures_is_compared(saved: Path) -> None:
    edit(saved, lambda document: document.pop("kept"))  # as in receipts of earlier versions, which do not fix them
    bars = json.loads((saved / "error_bars.json").read_text())
    forge(saved, "error_bars.json", json.dumps(bars | {"counted": bars["counted"] + 5}))
    assert "another number of records" in " ".join(folder_problems(saved))


@pytest.mark.parametrize("name", ["synthesis.json", "error_bars.json", "receipt.json"])
def test_deep_files_are_refused_in_a_sentence(saved: Path, name: str) -> None:
    text = '{"format": ' + "[" * 100_000 + "]" * 100_000 + "}"
    if name == "synthesis.json":
        (saved / name).write_text(text)
    else:
        forge(saved, name, text)
    with pytest.raises(ValueError, match=r"is damaged|nested more than 100 deep"):
        Synthesis.load(saved)


def test_points_of_another_number_of_rows(tmp_path: Path) -> None:
    saved = Path(shutil.copytree(OLDER / "points", tmp_path / "points"))
    pq.write_table(pq.read_table(saved / "rows.parquet").slice(0, 2), saved / "rows.parquet")
    agree(saved, "rows.parquet")
    with pytest.raises(ValueError, match="it has 2"):
        PointSynthesis.load(saved)
    assert "it has 2" in folder_problems(saved)[0]


def test_a_folder_of_a_model_is_compared_by_its_hashes_and_its_schema(tmp_path: Path) -> None:
    """Without its package: what is in it is not read."""
    for name in ("schema.toml", "receipt.json"):
        shutil.copy(OLDER / "synthesis" / name, tmp_path / name)
    edit_index = {"format": "counterfoil.model", "format_version": 1, "files": {}}
    (tmp_path / "synthesis.json").write_text(json.dumps(edit_index))
    assert "is not what was saved" in folder_problems(tmp_path)[0]
    agree(tmp_path, "schema.toml")
    agree(tmp_path, "receipt.json")
    edit(tmp_path, lambda document: document["rows"].update(drawn=0))
    assert folder_problems(tmp_path) == []
    forge(tmp_path, "schema.toml", "# another")
    assert "another schema" in folder_problems(tmp_path)[0]
    (tmp_path / "schema.toml").unlink()
    assert "schema.toml is missing" in folder_problems(tmp_path)[0]


def test_an_index_can_not_name_files_elsewhere(tmp_path: Path) -> None:
    names = {"schema.toml": "0", "receipt.json": "0", "../secret": "0"}
    (tmp_path / "synthesis.json").write_text(
        json.dumps({"format": "counterfoil.model", "format_version": 1, "files": names})
    )
    assert "is not what was saved" in folder_problems(tmp_path)[0]


def test_a_signed_receipt_takes_its_place_in_a_folder(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = SigningKey.generate()
    signed = Receipt.load(saved / "receipt.json").signed(key)
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    def full(path: object, text: str) -> None:
        if str(path).endswith("synthesis.json"):
            raise OSError(28, "No space left on device")
        Path(str(path)).write_text(text)

    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.synthesis.folder.write_text", full)
        with pytest.raises(OSError, match="No space"):
            save_receipt(saved, signed)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    save_receipt(saved, signed)
    assert Synthesis.load(saved).receipt.verify(saved, key=key.verify_key).holds


def test_which_receipts_are_parts_of_folders(saved: Path, tmp_path: Path) -> None:
    assert folder_of(saved) == folder_of(saved / "receipt.json") == saved
    assert folder_of(saved / "other.receipt.json") is None
    assert folder_of(tmp_path) is folder_of(tmp_path / "receipt.json") is None
