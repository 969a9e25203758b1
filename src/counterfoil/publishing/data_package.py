"""The data dictionary of a release: a Frictionless data package with a table schema, version 1.

What it says follows from the schema, the receipt and the files, so that it can be compared with them. Constraints and
words for missing values are in the notation of the file: a CSV file has texts, in the formats that the schema states; a
Parquet file has types of its own. https://specs.frictionlessdata.io
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfoil.files import sha256_of
from counterfoil.inert import inert
from counterfoil.publishing.file_notation import Notation, notation_of
from counterfoil.publishing.noisy_tables import (
    ABOVE,
    BELOW,
    BOTH,
    COUNTS,
    ENDING,
    KEYS,
    LISTED,
    ONE_WAY,
    PAIRS,
    says_beyond,
)
from counterfoil.schema import Schema
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.instant import Date, Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.notation import DAY_OF_TIMES, of_python
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.real import Real
from counterfoil.synthesis.csv_writing import delimiter_of
from counterfoil.synthesis.parquet_label import NOT_PRIVATE, NOT_REAL_PEOPLE

DATA_PACKAGE = "datapackage.json"
LAYOUT = 1
"""The version of what a release folder holds, and how; of another one, only checksums and receipt are compared."""

_MEDIA_TYPES = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}
_KEY_WORDS = {
    "value": (
        f"A value, a range or several of them, as the schema codes the column; of more than {LISTED}, the first "
        f"{LISTED - ENDING}, how many are left out, and the last {ENDING} (all are in the `groups` of the receipt's "
        "`answers`, by code). Numbers and dates beyond the bounds were "
        "clamped before they were counted: the first and the last cell hold them too, as the field `beyond` says."
    ),
    "beyond": (
        f"`{BELOW}`: the count is that of the value and of everything below it; `{ABOVE}`: and of everything above it; "
        f"`{BOTH}`: of both. Empty: the count is that of the value alone."
    ),
}
_MOST_HEADER = 1000
_ISO_DATETIME = "%Y-%m-%d %H:%M:%S"
_WORDS = "counterfoil:words"
_DERIVED = {
    "categorical": "string",
    "boolean": "boolean",
    "integer": "integer",
    "real": "number",
    "date": "date",
    "datetime": "datetime",
}


def data_package(
    schema: Schema,
    document: Mapping[str, Any],
    names: Iterable[str],
    folder: Path,
    paths: Iterable[str],
    *,
    former: bool = False,
) -> dict[str, Any]:
    """The document that `datapackage.json` holds.

    Args:
        schema: the public facts.
        document: the receipt.
        names: of the table's columns, in their order.
        folder: where the files are.
        paths: of the table first, then of the noisy tables that there are.
        former: whether as versions before 0.13 wrote it, to be compared with.

    Raises:
        OSError: when a file can't be read.
    """
    first, *others = paths
    budget = document["budget"]
    label = NOT_REAL_PEOPLE if document["private"] else f"{NOT_REAL_PEOPLE} {NOT_PRIVATE}"
    notation = notation_of(schema, typed=Path(first).suffix == ".parquet", former=former)
    resources = [_table_resource(schema, names, folder / first, first, notation)]
    resources += [_noisy_resource(folder / path, path) for path in others]
    tabular = all(resource["profile"] == "tabular-data-resource" for resource in resources)
    return {
        "profile": "tabular-data-package" if tabular else "data-package",
        "name": _slug(f"{document['source']}-synthetic"),
        "title": inert(f"Synthetic copy of {document['source']}: not real people"),
        "description": f"{label} Made by Counterfoil with differential privacy; see README.md and receipt.json.",
        "created": re.sub(r"\.[0-9]+", "", str(document["created"])),  # the profile has whole seconds
        "keywords": ["synthetic data", "differential privacy"],
        "resources": resources,
        "counterfoil": {
            "layout": LAYOUT,
            "synthetic": True,
            "private": bool(document["private"]),
            "method": document["method"]["name"],
            "epsilon": budget["epsilon"],
            "delta": budget["delta"],
            "neighboring_relation": document["neighboring_relation"],
            "privacy_unit": document["privacy_unit"],
            **{name: document[name] for name in ("schema_bought", "schema_share") if name in document},
            "receipt": "receipt.json",
            "schema": "schema.toml",
        },
    }


def _table_resource(schema: Schema, names: Iterable[str], path: Path, name: str, notation: Notation) -> dict[str, Any]:
    columns, delimiter = {column.name: column for column in schema.columns}, delimiter_of(schema.columns)
    fields = [_field(columns[column], notation) for column in names]
    return _resource(
        path, name, "synthetic", "The synthetic rows. No row is a real person.", delimiter, schema.encoding
    ) | {"schema": {"fields": fields, "missingValues": list(notation.missing)}}


def _noisy_resource(path: Path, name: str) -> dict[str, Any]:
    """The columns are fixed, but for those that versions before 0.13 did not write: what varies is in the rows."""
    with path.open(encoding="utf-8", errors="replace") as file:
        beyond = says_beyond(file.readline(_MOST_HEADER))
    keys = [key for key in KEYS[name] if beyond or not key.startswith("beyond")]
    words = {
        "table": ("integer", "Counts with the same number belong to one column or pair."),
        "noisy_count": ("number", "The noisy count as it was bought; it may be negative."),
        "standard_error": ("number", "The standard deviation of the noise in the count."),
        "half_width_95": ("number", "The noise is below this in absolute value with probability 95%, count by count."),
        "charges": ("string", "The numbers of the charges on the receipt that bought the count."),
    }
    names = ("table", *keys, *COUNTS)
    fields: list[dict[str, Any]] = [{"name": one, "type": "string"} for one in names]
    for field in fields:
        kind = field["name"].partition("_")[0]
        if field["name"] in words:
            field["type"], field["description"] = words[field["name"]]
        elif beyond and kind in _KEY_WORDS:
            field["description"] = _KEY_WORDS[kind]
        if kind == "beyond":
            field["constraints"] = {"enum": ["", BELOW, ABOVE, BOTH]}
    what = {ONE_WAY: "Noisy counts of single columns.", PAIRS: "Noisy counts of pairs of columns."}[name]
    # No cell is missing, whatever a value is called.
    return _resource(path, name, _slug(Path(name).stem), what) | {"schema": {"fields": fields, "missingValues": []}}


def _resource(
    path: Path, name: str, slug: str, what: str, delimiter: str = ",", encoding: str = UTF_8
) -> dict[str, Any]:
    text = path.suffix == ".csv"
    dialect = {"delimiter": delimiter, "lineTerminator": "\n", "quoteChar": '"', "doubleQuote": True, "header": True}
    return {
        "name": slug,
        "path": name,
        "profile": "tabular-data-resource" if text else "data-resource",
        "description": what,
        "format": path.suffix.removeprefix("."),
        "mediatype": _MEDIA_TYPES[path.suffix],
        **({"encoding": encoding, "dialect": dialect} if text else {}),
        "bytes": path.stat().st_size,
        "hash": f"sha256:{sha256_of(path)}",
    }


def _field(column: Column | Identifier | Derived, notation: Notation) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name}
    if isinstance(column, Identifier):
        made = "Numbers from 1." if column.replace == "sequence" else "Random identifiers (UUID version 4)."
        return field | {
            "type": "integer" if column.replace == "sequence" else "string",
            "description": f"Made anew: it identifies nobody. {made}",
        }
    if isinstance(column, Derived):
        return field | _derived(column, notation)
    constraints: dict[str, Any] = {} if column.missing else {"required": True}
    described = _described(column, notation)
    own = notation.by_column.get(column.name)
    if own is not None:
        # Read as its own type, the word would be an error, or a value.
        values = described.get("constraints", {}).get("enum")
        kept = {_WORDS: described[_WORDS]} if _WORDS in described else {}
        said = "The word in `missingValues` means a missing value here, and is a value in another column."
        said = f"{described['description']} {said}" if kept else said
        described = {
            "type": "string",
            **kept,
            "description": said,
            "missingValues": ["", own],
            **({} if values is None else {"constraints": {"enum": [*map(str, values), own]}}),
        }
    constraints |= described.pop("constraints", {})
    return field | described | ({"constraints": constraints} if constraints else {}) | {"counterfoil:kind": column.kind}


def _derived(column: Derived, notation: Notation) -> dict[str, Any]:
    described: dict[str, Any] = {"type": _DERIVED[column.result]}
    if column.notation.labels is not None:
        described = _boolean(column.notation.labels)
    plain = _ISO_DATETIME + ("%z" if column.zone else "") if column.result == "datetime" else ""
    text_format = of_python(column.format) or plain
    if text_format and not notation.typed:
        described["format"] = text_format
    if column.digits:
        described["counterfoil:digits"] = column.digits
    if column.result == "real":
        described |= _decimal_char(column.decimal_char, notation)
    return described | {"description": "Follows from other columns of the same row."}


def _described(column: Column, notation: Notation) -> dict[str, Any]:
    """The type of a column's field, its format and its constraints."""
    if isinstance(column, Boolean):
        return _boolean(column)
    if isinstance(column, Categorical):
        labels = _labels(column)
        return {"type": _type_of(column.arrow_type), "constraints": {"enum": labels}}
    if isinstance(column, Instant):
        return _instant(column, notation)
    assert isinstance(column, NumberColumn), "what is no category and no instant is a number"
    low, high = column.bounds
    whole = pa.types.is_integer(column.arrow_type)
    bounds = {"minimum": int(low), "maximum": int(high)} if whole else {"minimum": low, "maximum": high}
    # Table schemas have no constraint for it.
    step = {"counterfoil:step": column.step} if isinstance(column, Real) and column.step else {}
    digits = {"counterfoil:digits": column.digits} if isinstance(column, Integer) and column.digits else {}
    comma = _decimal_char(column.decimal_char, notation) if isinstance(column, Real) else {}
    unit = {"counterfoil:unit": column.unit} if isinstance(column, Integer | Real) and column.unit else {}
    described = {"type": _type_of(column.arrow_type), **comma, "constraints": bounds, **step, **digits, **unit}
    return described | _between(column) | _words(column, notation)


def _words(column: NumberColumn, notation: Notation) -> dict[str, Any]:
    """The words that stand for numbers: beside them a column of texts is one of texts to whatever reads it."""
    if not column.number_words:
        return {}
    listed = ", ".join(f"{number:g} is {word}" for word, number in column.number_words)
    said: dict[str, Any] = {_WORDS: dict(column.number_words)}
    if notation.typed:
        return said | {"description": f"Some numbers stand for a word: {listed}."}
    return said | {
        "type": "string",
        "constraints": {},
        "description": f"Numbers, and words that stand for one: {listed}.",
    }


def _between(column: Column) -> dict[str, Any]:
    """What a column computed from two dates counts."""
    if not isinstance(column, Integer | Real) or not column.between:
        return {}
    first, last = column.between
    return {"description": f"From {first} to {last}: days between dates, seconds between datetimes."}


def _decimal_char(sign: str, notation: Notation) -> dict[str, Any]:
    """What a reader of texts must know; a point goes without saying."""
    return {"decimalChar": sign} if sign == "," and not notation.typed else {}


def _labels(column: Column) -> list[Any]:
    """The values that stand for the codes of categories, as the file has them."""
    import numpy as np

    return column.decode(np.arange(column.n_bins), np.random.default_rng(0)).to_pylist()


def _boolean(column: Boolean) -> dict[str, Any]:
    if not column.labeled:
        return {"type": "boolean", "trueValues": ["true"], "falseValues": ["false"]}
    return {"type": _type_of(column.arrow_type), "constraints": {"enum": _labels(column)}}


def _instant(column: Instant, notation: Notation) -> dict[str, Any]:
    day = isinstance(column, Date)
    kind = "date" if day else "datetime"
    if notation.typed:
        is_clock = column.is_clock and not notation.former
        said = {"description": f"Times of day, as moments of {DAY_OF_TIMES:%Y-%m-%d}."} if is_clock else {}
        bounds = {"minimum": column.lower.isoformat(), "maximum": column.upper.isoformat()}
        return {"type": kind, **said, "constraints": bounds}
    text_format = of_python(column.format) or ("" if day else _ISO_DATETIME + ("%z" if column.zone else ""))
    ends = array_of([column.lower, column.upper], column.arrow_type) if not column.zone else None
    bounds = {} if ends is None else dict(zip(("minimum", "maximum"), column.written(ends).to_pylist(), strict=True))
    return {"type": kind, **({"format": text_format} if text_format else {}), "constraints": bounds}


def _type_of(kind: pa.DataType) -> str:
    if pa.types.is_string(kind):
        return "string"
    return "integer" if pa.types.is_integer(kind) else "number"


def _slug(text: str) -> str:
    """A name of small letters, digits, hyphens and points, as names of packages and resources are."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:100].strip("-.") or "synthetic"
