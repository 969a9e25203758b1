"""A signature vouches for every word of a receipt, and a file that is no key is refused in a sentence."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from counterfoil.receipt.canonical import canonical_bytes, digest_of, unsigned
from counterfoil.receipt.json_schema import receipt_schema
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.signature import SigningKey, VerifyKey, named_key, public_beside

MakeReceipt = Callable[..., Receipt]


def test_the_signature_is_ed25519_over_the_canonical_text(receipt_of: MakeReceipt) -> None:
    """Checked by the library itself, over a text that is made here."""
    key, receipt = SigningKey.generate(), receipt_of()
    document = receipt.signed(key).to_json()
    jsonschema.validate(document, receipt_schema(), cls=jsonschema.Draft202012Validator)
    signature = document.pop("signature")
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    public = ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(signature["public_key"]))
    public.verify(base64.b64decode(signature["value"]), text)
    assert signature["algorithm"] == "Ed25519"
    assert document == receipt.to_json()


def test_the_canonical_text() -> None:
    assert (
        canonical_bytes({"b": [1, 2.5], "a": {"ü": "\u20ac", "A": None}})
        == '{"a":{"A":null,"ü":"€"},"b":[1,2.5]}'.encode()
    )
    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range"):
        canonical_bytes({"a": float("nan")})


def test_a_signed_receipt_holds_for_its_key_alone(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    key, other = SigningKey.generate(), SigningKey.generate()
    receipt = receipt_of().signed(key)
    receipt.save(tmp_path / "r.json")
    loaded = Receipt.load(tmp_path / "r.json")
    assert loaded.digest == receipt.digest
    assert loaded.verify(key=key.verify_key).holds
    assert loaded.verify(key=key.verify_key).unvouched == ()
    assert loaded.verify().holds
    assert loaded.verify().unvouched, "a key that nobody named vouches for nothing"
    assert "another key" in loaded.verify(key=other.verify_key).problems[0]
    bare = receipt_of().verify(key=key.verify_key)
    assert "not signed" in bare.problems[0]
    assert bare.unvouched


def test_every_leaf_that_is_changed_breaks_the_signature(receipt_of: MakeReceipt) -> None:
    key = SigningKey.generate()
    document = receipt_of().signed(key).to_json()
    places = list(leaves({name: part for name, part in document.items() if name != "signature"}, ()))
    assert len(places) > 100
    for *parents, last in places:
        changed = deepcopy(document)
        holder: Any = changed
        for step in parents:
            holder = holder[step]
        holder[last] = other_than(holder[last])
        assert not key.verify_key.accepts(changed), (*parents, last)


def leaves(value: Any, place: tuple) -> Any:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from leaves(part, (*place, name))
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from leaves(part, (*place, number))
    else:
        yield place


def other_than(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + " "
    return 1 if value in (None, [], {}) else value * 2 + 1


def test_a_signature_of_another_receipt_does_not_fit(receipt_of: MakeReceipt) -> None:
    key = SigningKey.generate()
    moved = receipt_of("pure").to_json() | {"signature": receipt_of().signed(key).document["signature"]}
    found = Receipt(moved).verify()
    assert not found.holds, "without a key too: it can't be its own"
    assert "something was changed since it was signed" in found.problems[0]


@pytest.mark.parametrize("part", ["public_key", "value"])
def test_signatures_have_one_spelling(receipt_of: MakeReceipt, part: str) -> None:
    """The last letter of base64 has bits to spare: another spelling would be another document, equally signed."""
    document = receipt_of().signed(SigningKey.generate()).to_json()
    text = document["signature"][part]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    bare = text.rstrip("=")
    respelled = bare[:-1] + letters[letters.index(bare[-1]) + 1] + text[len(bare) :]
    assert base64.b64decode(respelled) == base64.b64decode(text)
    document["signature"][part] = respelled
    assert not Receipt(document).verify().holds


@pytest.mark.parametrize(
    "signature",
    [
        {},
        {"algorithm": "RSA", "public_key": "A" * 43 + "=", "value": "A" * 86 + "=="},
        {"algorithm": "Ed25519", "public_key": "A", "value": "A" * 86 + "=="},
        {"algorithm": "Ed25519", "public_key": "A" * 43 + "=", "value": "A" * 86 + "==", "more": 1},
        None,
    ],
)
def test_other_shapes_are_no_signatures(receipt_of: MakeReceipt, signature: Any) -> None:
    with pytest.raises(ValueError, match="published shape"):
        Receipt(receipt_of().to_json() | {"signature": signature})


def test_nothing_is_added_to_a_signed_receipt(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    signed = receipt_of().signed(SigningKey.generate())
    (tmp_path / "a.csv").write_text("a\n1\n")
    for add in (
        lambda: signed.with_output(tmp_path / "a.csv", rows=1),
        lambda: signed.with_fidelity([], []),
        lambda: signed.with_schema_check({}),
        lambda: signed.with_costs(None),  # type: ignore[arg-type]
        lambda: signed.signed(SigningKey.generate()),
    ):
        with pytest.raises(ValueError, match="A signed receipt stays as it is"):
            add()


def test_the_digest_is_of_the_document_and_not_of_its_file(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    receipt = receipt_of()
    shuffled = dict(reversed(receipt.to_json().items()))
    (tmp_path / "r.json").write_text(json.dumps(shuffled))
    assert Receipt.load(tmp_path / "r.json").digest == receipt.digest == digest_of(receipt.document)
    signed = receipt.signed(SigningKey.generate())
    assert signed.digest != receipt.digest == digest_of(unsigned(signed.document))
    assert len(receipt.digest) == 64


def test_keys_are_saved_for_their_owner_alone(tmp_path: Path) -> None:
    key = SigningKey.generate()
    path = tmp_path / "steward.key"
    key.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.load(path).verify_key == VerifyKey.load(public_beside(path)) == key.verify_key
    assert len(key.verify_key.fingerprint) == 64
    assert path.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert key.private.private_bytes_raw().hex() not in repr(key)


@pytest.mark.parametrize("name", ["steward.key", "steward.key.pub"])
def test_no_key_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("before")
    with pytest.raises(ValueError, match="is written to a new file"):
        SigningKey.generate().save(tmp_path / "steward.key")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "before"


def test_a_dangling_link_is_there_too(tmp_path: Path) -> None:
    (tmp_path / "steward.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="is written to a new file"):
        SigningKey.generate().save(tmp_path / "steward.key")


def not_keys() -> dict[str, bytes]:
    private, curve = ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
    spki = (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return {
        "nothing": b"",
        "text": b"SECRET WORDS",
        "cut": private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())[:60],
        "cut public": private.public_key().public_bytes(*spki)[:50],
        "encrypted": private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")),
        "another curve": curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "another public curve": curve.public_key().public_bytes(*spki),
        "raw": private.private_bytes_raw(),
        "null bytes": b"\0" * 5000,
    }


@pytest.mark.parametrize("name", not_keys())
def test_a_file_that_is_no_key_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.key"
    path.write_bytes(not_keys()[name])
    for load in (SigningKey.load, VerifyKey.load):
        with pytest.raises(ValueError, match=r"x\.key must be an? .*(key|file)\.$|x\.key must be a p") as caught:
            load(path)
        assert "\n" not in str(caught.value)
        assert "SECRET" not in str(caught.value)


def test_halves_that_are_mixed_up_are_named(tmp_path: Path) -> None:
    path = tmp_path / "k"
    SigningKey.generate().save(path)
    with pytest.raises(ValueError, match="Found a public key"):
        SigningKey.load(public_beside(path))
    with pytest.raises(ValueError, match="Found a private key"):
        VerifyKey.load(path)


def test_a_disk_that_is_full_leaves_no_half_of_a_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def full_the_second_time(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_the_second_time)
    with pytest.raises(OSError, match="No space"):
        SigningKey.generate().save(tmp_path / "k")
    assert list(tmp_path.iterdir()) == []


def test_an_unsigned_receipt_names_no_key(receipt_of: MakeReceipt) -> None:
    key = SigningKey.generate()
    assert named_key(receipt_of().document) is None
    assert named_key(receipt_of().signed(key).document) == key.verify_key
