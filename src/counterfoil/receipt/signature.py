"""Signatures on receipts: Ed25519 (RFC 8032) over the canonical text of the receipt without its signature.

A signature vouches for every word of a receipt. It says that whoever held the private key signed this document; that
the key is the steward's has to be known from elsewhere, so that verification takes the public key from its user and
never from the receipt, which anyone could have signed with a key of their own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.kept_files import require_replaceable
from counterfoil.receipt.canonical import canonical_bytes, unsigned

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "Ed25519"
_LARGEST_FILE = 1 << 16
_PRIVATE, _PUBLIC = "-----BEGIN PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----"


@dataclass(frozen=True)
class VerifyKey:
    """The public half of a key pair.

    Args:
        raw: its 32 bytes.
    """

    raw: bytes

    @classmethod
    def load(cls, path: str | Path) -> VerifyKey:
        """The public key in a PEM file (SubjectPublicKeyInfo), as `SigningKey.save` writes it to PATH.pub.

        Raises:
            ValueError: for any other file; it holds no part of the file.
            OSError: when it can't be read.
        """
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        text = _pem(path)
        if _PRIVATE.encode() in text:
            raise ValueError(f"{path} must be a public key. Found a private key: give its public half, {path}.pub.")
        try:
            key = load_pem_public_key(text)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise ValueError(
                f"{path} must be an Ed25519 public key in PEM, as `counterfoil receipt key` makes them. Found another "
                "file."
            )
        return cls(key.public_bytes_raw())

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key's 32 bytes, in hexadecimal: two people can compare it over the telephone."""
        return hashlib.sha256(self.raw).hexdigest()

    def accepts(self, document: Mapping[str, Any]) -> bool:
        """Whether the document's signature is over its canonical text, and by this key."""
        from cryptography.exceptions import InvalidSignature

        signature = document.get("signature")
        if signature is None or _decoded(signature["public_key"]) != self.raw:
            return False
        value = _decoded(signature["value"])
        if value is None:
            return False
        try:
            self._key().verify(value, canonical_bytes(unsigned(document)))
        except InvalidSignature:
            return False
        return True

    def _key(self) -> Ed25519PublicKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        return Ed25519PublicKey.from_public_bytes(self.raw)


@dataclass(frozen=True, eq=False)
class SigningKey:
    """A key pair that signs receipts. Make one with `generate` or `load`.

    Args:
        private: the private half, which `repr` does not show.
    """

    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> SigningKey:
        """A new key pair, from the operating system's entropy."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> SigningKey:
        """The key pair in a PEM file (PKCS8, not encrypted), as `save` writes it.

        Raises:
            ValueError: for any other file; it holds no part of the file.
            OSError: when it can't be read.
        """
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        text = _pem(path)
        if _PUBLIC.encode() in text:
            raise ValueError(f"{path} must be a private key, which signs. Found a public key, which verifies.")
        try:
            key = load_pem_private_key(text, password=None)
        except (TypeError, ValueError, UnsupportedAlgorithm):  # TypeError: it is encrypted
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError(
                f"{path} must be an Ed25519 private key in PEM without a password, as `counterfoil receipt key` makes "
                "them. Found another file."
            )
        return cls(key)

    def save(self, path: str | Path) -> None:
        """Writes the private half to `path`, which only its owner can read, and the public half to PATH.pub.

        Raises:
            ValueError: when one of them is there: no key is overwritten.
            OSError: when they can't be written; neither is then left.
        """
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

        secret = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        beside = public_beside(path)
        for place in (Path(path), beside):
            require_replaceable(place)
            if os.path.lexists(place):
                raise ValueError(f"A key is written to a new file. Found {place}: choose another name.")
        _write_new(Path(path), secret, 0o600)
        try:
            _write_new(beside, public, 0o644)
        except BaseException:
            Path(path).unlink()
            raise

    @property
    def verify_key(self) -> VerifyKey:
        """The public half."""
        return VerifyKey(self.private.public_key().public_bytes_raw())

    def signature(self, document: Mapping[str, Any]) -> dict[str, str]:
        """The section `signature` of a receipt without one."""
        return {
            "algorithm": ALGORITHM,
            "public_key": base64.b64encode(self.verify_key.raw).decode(),
            "value": base64.b64encode(self.private.sign(canonical_bytes(unsigned(document)))).decode(),
        }


def public_beside(path: str | Path) -> Path:
    """Where the public half of the key at `path` lies."""
    return Path(f"{path}.pub")


def named_key(document: Mapping[str, Any]) -> VerifyKey | None:
    """The key that a signed receipt names; whose it is, the receipt can't show.

    Raises:
        ValueError: for a signature whose parts are not the base64 of a key and of a signature.
    """
    signature = document.get("signature")
    if signature is None:
        return None
    raw, value = _decoded(signature["public_key"]), _decoded(signature["value"])
    if raw is None or len(raw) != 32 or value is None or len(value) != 64:
        raise ValueError("The receipt's `signature` must be base64 of 32 and of 64 bytes. Found another.")
    return VerifyKey(raw)


def signature_problem(document: Mapping[str, Any], key: VerifyKey | None) -> str:
    """What is wrong with the signature, in a sentence; empty where nothing is.

    Args:
        document: the receipt.
        key: whose signature is asked for; None only to see whether a signature that is there fits its own key.
    """
    try:
        named = named_key(document)
    except ValueError as error:
        return str(error)
    if named is None:
        return "" if key is None else "The receipt is not signed: nobody vouches for it."
    if key is not None and named != key:
        return (
            f"The receipt is signed by another key, of fingerprint {named.fingerprint}. The key that was given has "
            f"fingerprint {key.fingerprint}."
        )
    if not named.accepts(document):
        return "The signature is not of this receipt: something was changed since it was signed."
    return ""


def _decoded(text: str) -> bytes | None:
    """The bytes of base64 in its one canonical spelling, else None."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def _pem(path: str | Path) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(_LARGEST_FILE)


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Writes a file that is not there yet, never readable by more than `mode` says."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise
