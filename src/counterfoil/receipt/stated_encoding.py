"""The encoding of a release's CSV file, from the schema among its receipt's answers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from counterfoil.schema.encoding import UTF_8, encoding_named


def encoding_of_receipt(document: Mapping[str, Any]) -> str:
    """Under the name that `encoding_named` gives; UTF-8 where the receipt has no schema, as in versions before 0.3.

    Raises:
        SchemaError: for a receipt that names no encoding that there is.
    """
    schema = document.get("answers", {}).get("schema", "")
    return encoding_named(str(tomllib.loads(schema).get("encoding", UTF_8)))
