"""Numbers that are codes, as 00123 is, which come back without their zeros where a column is one of integers."""

from __future__ import annotations

import re

from counterfoil.listing import first_few
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema

_CODES = re.compile(
    r"(^|[_\W\d])(codes?|zip|zipcode|postal|postcode|plz|fips|naics|sic|icd|ndc|ean|upc|gtin|isbn|siren|siret|account|acct|branch"
    r"|phone|tel|telephone|mobile|fax|msisdn|imsi|imei|mcc|mnc|blz|sku|isco|isic|nace|noga|soc|nuts|ags|insee|region|state|province|county|canton|district"
    r"|municipality|commune|departement|kanton|bezirk|kreis|gemeinde|tract|puma|ward|nr)([_\W\d]|$)"
    r"|(^|[_\W\d])(id|ssn|mrn|store|shop|filiale|customer|client|patient|member|policy|contract|invoice|kunde|konto|vertrag)$"
    r"|nr\.?$|nummer$|[_\W]number$|\wnum$| no\.?$",
    re.I,
)
_MOST_NAMED = 8


def may_be_code(column: str) -> bool:
    """Whether its name is one that codes often have, which proves nothing."""
    return bool(_CODES.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)))


def zeros_lost(schema: Schema) -> str:
    """A sentence on columns of integers whose names are those of codes; empty where there are none.

    It is for storages of texts alone: where a column has a type, its numbers have no zeros to lose. A flag such as
    has_phone, of 0 and 1, is no code.
    """
    named = [
        column.name
        for column in schema.synthesized
        if isinstance(column, Integer) and not column.digits and column.upper > 1 and may_be_code(column.name)
    ]
    if not named:
        return ""
    return (
        f"Integers are written without leading zeros, 00123 as 123. If {first_few(named, _MOST_NAMED)} may have some, "
        "declare `digits`, such as digits = 5, or list the codes as texts in `values`."
    )


def zeros_unwritten(schema: Schema) -> str:
    """A sentence on columns whose zeros a file with types does not hold; empty where there are none."""
    named = [column.name for column in schema.synthesized if isinstance(column, Integer) and column.digits]
    if not named:
        return ""
    return (
        f"A Parquet file holds {first_few(named, _MOST_NAMED)} as numbers, without leading zeros: one that ends with "
        ".csv has them as they are written."
    )
