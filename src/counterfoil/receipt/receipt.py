"""The receipt: what a release cost, as a document that anyone can check without the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.files import sha256_of, write_text
from counterfoil.json_text import json_file
from counterfoil.receipt.answers import answers_of
from counterfoil.receipt.canonical import digest_of
from counterfoil.receipt.json_schema import require_shape
from counterfoil.receipt.notebook import receipt_html
from counterfoil.receipt.other_relation import under_other_relation
from counterfoil.receipt.programs import versions
from counterfoil.receipt.schema_bought import bought_section
from counterfoil.receipt.terms import Terms
from counterfoil.receipt.text import receipt_text, terms_of
from counterfoil.receipt.verification import Verification, verify_receipt
from counterfoil.receipt.wording import COMPOSITION_SENTENCES as COMPOSITION_SENTENCES
from counterfoil.receipt.wording import composition_sentence as composition_sentence
from counterfoil.receipt.wording import how_many, vouched_for_warning
from counterfoil.schema.hidden_by_bought import hidden_by_bought
from counterfoil.schema.known_losses import known_losses

if TYPE_CHECKING:
    from counterfoil.curator.curator import Curator
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.receipt.signature import SigningKey, VerifyKey

FORMAT = "counterfoil.receipt"
FORMAT_VERSION = 1
IN_FOLDERS = "receipt.json"
"""The name of the receipt of a folder."""


@dataclass(frozen=True)
class Receipt:
    """A receipt, around the JSON document that `receipt.schema.json` describes.

    It holds public facts alone: parameters, charges, and what follows from them. There is no fingerprint of the
    sensitive data and no path to it; the files it names are the release's own.

    Args:
        document: the JSON document; kept as it is, copied by `to_json`.

    Raises:
        ValueError: when the document does not have the shape of a receipt.
    """

    document: Mapping[str, Any]

    def __post_init__(self) -> None:
        require_shape(self.document)

    @classmethod
    def from_curator(
        cls,
        curator: Curator,
        *,
        method: str,
        parameters: Mapping[str, Any],
        rows: int,
        rows_requested: bool = False,
        rows_short: bool = False,
        error_bars: Sequence[Mapping[str, Any]] = (),
        kept: Mapping[str, str] | None = None,
        warnings: Sequence[str] = (),
        released: str = "table",
    ) -> Self:
        """The receipt of the queries that `curator` answered.

        Args:
            curator: the curator after the last query, before or after it is closed.
            method: the synthesizer's name.
            parameters: its public parameters, as JSON.
            rows: how many rows were drawn.
            rows_requested: whether the user asked for that number.
            rows_short: whether more rows were requested than could be drawn.
            error_bars: bounds on marginals that were not measured, as `answers.ErrorBarEntry` has them.
            kept: the SHA-256 of what the release keeps besides its rows, by name.
            warnings: public sentences; none may depend on the records.
            released: what was made: "table", "model", or "measures" of a model.

        Raises:
            ValueError: when no query was asked.
        """
        costs = _costs(curator)
        unit = curator.neighbors.unit
        document = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            # Two releases of one ledger have receipts of their own, however quickly one follows the other.
            "created": datetime.now(UTC).isoformat(timespec="microseconds"),
            "program": versions(),
            "private": curator.randomness.private,
            "source": curator.source_name,
            "method": {"name": method, "parameters": _plain(parameters)},
            **({} if released == "table" else {"released": released}),
            "neighboring_relation": curator.relation.value,
            **({"public_groups": list(curator.neighbors.groups)} if curator.neighbors.groups else {}),
            "privacy_unit": None
            if unit is None
            else {"column": unit.column, "max_rows": unit.max_rows, "rows_without_id": "each_alone"},
            "budget": {"epsilon": float(curator.budget.epsilon), "delta": float(curator.budget.delta)},
            **costs,
            "ledger": curator.has_ledger,
            "noise_source": curator.randomness.source,
            "rows": {
                "drawn": int(rows),
                "how": how_many(curator.neighbors, requested=rows_requested, short=rows_short, released=released),
            },
            **bought_section(curator.schema.bought, curator.budget, _rule(curator), curator.neighbors),
            "schema_sha256": hashlib.sha256(curator.schema.to_toml().encode()).hexdigest(),
            "outputs": [],
            **({} if kept is None else {"kept": dict(kept)}),
            **_answers(curator, error_bars),
            "warnings": [
                *warnings,
                *_schema_notes(curator, released),
                *_vouched_for(curator),
                *_older(curator),
                *_resumed(curator),
            ],
        }
        return cls(document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The receipt in the file at `path`, or in the folder of a release or a model.

        Raises:
            ValueError: when the file is not a receipt; the sentence says where it is broken.
            OSError: when it can't be read.
        """
        path = Path(path) / IN_FOLDERS if Path(path).is_dir() else path
        document = json_file(path, "a receipt")
        try:
            return cls(document)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """A copy of the document."""
        return deepcopy(dict(self.document))

    def save(self, path: str | Path) -> None:
        """Writes the receipt whole or not at all (to a temporary file beside it, then renamed).

        Raises:
            OSError: when it can't be written.
        """
        write_text(Path(path), json.dumps(self.document, indent=2, allow_nan=False) + "\n")

    def with_costs(self, curator: Curator) -> Self:
        """The receipt after further queries to `curator`, which is not closed yet.

        Raises:
            ValueError: for a signed receipt.
        """
        self._require_unsigned("a cost")
        return type(self)(self.to_json() | _costs(curator))

    def with_fidelity(self, fidelity: Sequence[Mapping[str, Any]], certificates: Sequence[Mapping[str, Any]]) -> Self:
        """The receipt with noisy measures of fidelity, and with certificates.

        Raises:
            ValueError: for a signed receipt.
        """
        self._require_unsigned("a measure")
        sections = {"fidelity": [dict(one) for one in fidelity], "certificates": [dict(one) for one in certificates]}
        return type(self)(self.to_json() | {name: section for name, section in sections.items() if section})

    def with_schema_check(self, section: Mapping[str, Any]) -> Self:
        """The receipt with noisy counts of how cells were placed (see `schema_check`).

        Raises:
            ValueError: for a signed receipt.
        """
        self._require_unsigned("a check of the schema")
        return type(self)(self.to_json() | {"schema_check": dict(section)})

    def with_acceptance(self, section: Mapping[str, Any], warning: str) -> Self:
        """The receipt of a release that met criteria declared beforehand (see `acceptance`).

        Args:
            section: that `acceptance_section` makes.
            warning: what being judged does to estimates.

        Raises:
            ValueError: for a signed receipt.
        """
        self._require_unsigned("an acceptance")
        document = self.to_json()
        return type(self)(document | {"acceptance": dict(section), "warnings": [*document["warnings"], warning]})

    def made_at(self, created: str) -> Self:
        """The receipt with another moment: of a release whose own would tell how long its runs took.

        Args:
            created: in UTC, ISO 8601.

        Raises:
            ValueError: for a signed receipt.
        """
        self._require_unsigned("another time")
        return type(self)(self.to_json() | {"created": created})

    def with_output(self, path: str | Path, *, rows: int) -> Self:
        """The receipt with the release's file at `path` named in it: its name, its SHA-256, its rows.

        Raises:
            ValueError: for a signed receipt.
            OSError: when the file can't be read.
        """
        self._require_unsigned("a file")
        document = self.to_json()
        document["outputs"].append({"file": Path(path).name, "sha256": sha256_of(Path(path)), "rows": rows})
        return type(self)(document)

    @property
    def private(self) -> bool:
        """Whether the noise came from the operating system; with a seed the release is NOT PRIVATE."""
        return bool(self.document["private"])

    def signed(self, key: SigningKey) -> Self:
        """The receipt with a signature, which vouches for every word of it; nothing can be added to it afterwards.

        Raises:
            ValueError: for a receipt that is signed already.
        """
        self._require_unsigned("another signature")
        return type(self)(self.to_json() | {"signature": key.signature(self.document)})

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of the whole document in canonical JSON, its signature included.

        It is the same however the file is laid out; a ledger keeps it, which then vouches for every word.
        """
        return digest_of(self.document)

    def verify(
        self, folder: str | Path | None = None, *, key: VerifyKey | None = None, ledger: Ledger | None = None
    ) -> Verification:
        """Recomputes everything that follows from what is recorded, and compares.

        Args:
            folder: where the release's files lie, to compare their SHA-256 and their rows too; None to leave them out.
            key: the public key whose signature must be on the receipt; None asks for none.
            ledger: the ledger of its source, which must know the receipt; None asks none.
        """
        return verify_receipt(self.document, None if folder is None else Path(folder), key=key, ledger=ledger)

    def text(self) -> str:
        """A page of 80 columns for a privacy officer."""
        return receipt_text(self.document)

    def __repr__(self) -> str:
        return f"Receipt({terms_of(self.document)})"

    def _repr_html_(self) -> str:
        return receipt_html(self.document)

    def _require_unsigned(self, what: str) -> None:
        if "signature" in self.document:
            raise ValueError(f"A signed receipt stays as it is. Found {what} to add to one: sign it last.")


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`parameters` as JSON; numbers of numpy are plain ones: what was paid for must not be lost by a type."""

    def number(value: object) -> object:
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"Parameters must be plain values. Found {type(value).__name__}.")

    plain: dict[str, Any] = json.loads(json.dumps(dict(parameters), default=number))
    return plain


def _costs(curator: Curator) -> dict[str, Any]:
    """The parts of a receipt that grow with each query.

    Raises:
        ValueError: when no query was asked.
    """
    account = curator.account
    if account is None:
        raise ValueError("A receipt is for a release. Found a curator that was never asked anything.")
    charges = curator.charges()
    terms = Terms(account.rule, curator.budget, curator.neighbors, account.replacement_factor, account.plan)
    events = [charge.event for charge in charges]
    records = [charge.to_json() for charge in charges]
    plan = {} if account.plan is None else {"plan": [noise.to_json() for noise in account.plan]}
    return {
        "composition": {
            "rule": account.rule.name,
            "adaptive": isinstance(account, FilterAccount),
            "replacement_factor": account.replacement_factor,
            **plan,
            "sentence": composition_sentence(account.rule),
        },
        "charges": records,
        "spent": {"epsilon": account.rule.epsilon(events, terms.delta), "delta": terms.delta},
        "other_relation": under_other_relation(records, terms),
    }


def _rule(curator: Curator) -> str:
    assert curator.account is not None, "`_costs` refuses a curator that was never asked anything"
    return curator.account.rule.name


def _answers(curator: Curator, error_bars: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not (answers := answers_of(curator)):
        return {}
    return {"answers": answers | ({"error_bars": [dict(bar) for bar in error_bars]} if error_bars else {})}


def _schema_notes(curator: Curator, released: str) -> list[str]:
    """What is lost because of what the schema says; only a table has derived columns, and rows that rules bind."""
    losses = known_losses(curator.schema) if released == "table" else []
    return [*losses, *hidden_by_bought(curator.schema)]


def _vouched_for(curator: Curator) -> list[str]:
    brought = curator.account.vouched_for if curator.account is not None else ()
    return [vouched_for_warning(what) for what in brought]


def _older(curator: Curator) -> list[str]:
    if not curator.opened_by_older:
        return []
    return [
        "This release was begun by version 0.1, which did not record whether its noise came from a seed: whoever began "
        "it has to know."
    ]


def _resumed(curator: Curator) -> list[str]:
    """Nothing of a table is compared between two runs: a hash of it would be an exact fact about the records."""
    if not curator.resumed:
        return []
    return [
        "This release was begun by an earlier run and finished by a later one, which took the table to be the same: "
        "where its records were changed in between, answers about both tables may be mixed here."
    ]


assert COMPOSITION_SENTENCES.keys() == COMPOSITIONS.keys(), "each composition rule is explained on the receipt"
