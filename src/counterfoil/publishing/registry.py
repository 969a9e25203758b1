"""A receipt as an entry for the public registry of deployments of differential privacy.

Source: opendp/deployments-registry-data, `schemas/deployments-schema.yaml`, as of commit
057e5d81cf60150dd3307e0cf4504b957802fb3b. What a receipt can't know, its steward has to say: a field that nobody filled
in says so in its own text, and `unanswered` names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.inert import inert_document
from counterfoil.receipt.canonical import digest_of
from counterfoil.receipt.schema_bought import describes_table, share_of
from counterfoil.receipt.schema_total import bought_of, total_of, why_no_total
from counterfoil.receipt.text import (
    REST_WITHOUT_LEDGER,
    WITHOUT_LEDGER,
    cost_sentences,
    good_for,
    is_run,
    protection_sentences,
    steps_of,
    warning_sentences,
)
from counterfoil.schema.bought import Bought

CURATOR_TYPES = ("Government", "Industry", "Nonprofit")
DATA_SOURCES = ("Static", "Dynamic")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")

_PRODUCTS = {"table": "Synthetic data", "model": "Machine learning model", "measures": "Summary statistics"}
_TO_WRITE = "TO BE WRITTEN BY THE STEWARD"


@dataclass(frozen=True)
class StewardFacts:
    """What only the steward of the data knows.

    Args:
        curator_type: what kind of entity publishes the release, one of `CURATOR_TYPES`.
        curator: the name of that entity.
        author: who fills in the entry.
        name: of the release; of its source where empty.
        use: what it is for.
        region: which region it describes, or whose laws apply.
        sector: its sector, one of `SECTORS`; left out where empty.
        data_source: whether new rows come into the real table over time, one of `DATA_SOURCES`; left out where empty.

    Raises:
        ValueError: for a kind, a sector or a source of data that the registry does not have.
    """

    curator_type: str
    curator: str = ""
    author: str = ""
    name: str = ""
    use: str = ""
    region: str = ""
    sector: str = ""
    data_source: str = ""

    def __post_init__(self) -> None:
        if self.curator_type not in CURATOR_TYPES:
            raise ValueError(
                f"The registry asks what kind of entity publishes a release: `--curator-type` must be "
                f"{', '.join(CURATOR_TYPES)}. Found {self.curator_type!r}."
            )
        if self.sector and self.sector not in SECTORS:
            raise ValueError(f"`--sector` must be one of {', '.join(SECTORS)}. Found {self.sector!r}.")
        if self.data_source and self.data_source not in DATA_SOURCES:
            raise ValueError(f"`--data-source` must be {' or '.join(DATA_SOURCES)}. Found {self.data_source!r}.")


def registry_entry(
    document: Mapping[str, Any], facts: StewardFacts, *, purchase: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The entry, as the registry's schema has it. Its texts are inert.

    Args:
        document: the receipt.
        facts: the steward's.
        purchase: the receipt of the schema, where that was bought; its mechanisms are then listed too.

    Raises:
        ValueError: for a release whose noise came from a seed, which protects nobody, for one that has no figure for
            what it cost together with its schema, and for a purchase that is not that of its schema.
    """
    require_purchase(document, purchase)
    if not document["private"]:
        raise ValueError(
            "A release whose noise came from a seed is not differentially private, and has no place in a registry of "
            "such releases. Export the receipt of one made without --seed."
        )
    if reason := why_no_total(document):
        raise ValueError(
            "The registry asks for one epsilon and one delta of a deployment. Found none for the release and its "
            f"schema together: {reason}. Export the receipt of a release under the schema's own relation and unit."
        )
    name = facts.name or f"{_named(document)} of {document['source']}"
    entry: dict[str, Any] = {
        "url_slug": _slug(name, facts.curator, document["created"][:4]),
        "deployment": {
            "basic": _basic(document, facts, name),
            "dp_variant": _variant(document),
            "privacy_loss": _privacy_loss(document),
            "deployment_model": _model(facts),
            "implementation": _implementation(document, purchase),
            "administrative": {
                "status": "Draft",
                "registry_authors": [facts.author or f"{_TO_WRITE}: who fills in this entry"],
                "tier": 2,
            },
        },
    }
    described: dict[str, Any] = inert_document(entry)
    return described


def unanswered(entry: Any, path: str = "") -> list[str]:
    """The fields that the steward still has to write, by their paths."""
    if isinstance(entry, str):
        return [path] if entry.startswith(_TO_WRITE) else []
    parts = entry.items() if isinstance(entry, Mapping) else enumerate(entry) if isinstance(entry, list) else ()
    return [one for key, part in parts for one in unanswered(part, f"{path}.{key}" if path else str(key))]


def registry_yaml(entry: Mapping[str, Any]) -> str:
    """The entry as YAML: texts in double quotes, as JSON writes them, which YAML reads alike."""
    return "\n".join(_lines(entry, "")) + "\n"


def _lines(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, part in value.items():
        if isinstance(part, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(part, f"{indent}  ")
        elif isinstance(part, list):
            yield f"{indent}{key}:"
            for one in part:
                if isinstance(one, Mapping):
                    first, *others = _lines(one, f"{indent}    ")
                    yield f"{indent}  - {first.strip()}"
                    yield from others
                else:
                    yield f"{indent}  - {_scalar(one)}"
        else:
            yield f"{indent}{key}: {_scalar(part)}"


def _scalar(value: Any) -> str:
    """A number with a point, for YAML reads `1e-09` as a text; anything else as JSON has it."""
    if isinstance(value, float):
        text = repr(value)
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")


def _named(document: Mapping[str, Any]) -> str:
    """What was released, for a title."""
    if describes_table(document):
        return "Schema"
    return {"table": "Synthetic copy", "model": "Model", "measures": "Noisy measures"}[_released(document)]


def _released(document: Mapping[str, Any]) -> str:
    released: str = document.get("released", "table")
    return released


def _slug(*parts: str) -> str:
    """As those of the registry's entries: the name, who publishes it, and the year, with hyphens; the year is kept."""
    *words, year = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
    return f"{'-'.join(filter(None, words))[:115].strip('-')}-{year}"


def _basic(document: Mapping[str, Any], facts: StewardFacts, name: str) -> dict[str, Any]:
    released = _released(document)
    what = {
        "table": f"{document['rows']['drawn']:,} synthetic rows, none of which is a real person",
        "model": "A model",
        "measures": "A schema (kinds, bounds, categories)" if describes_table(document) else "Noisy measures",
    }[released]
    return {
        "name": name,
        "data_curators": [
            {
                "data_curator_name": facts.curator or f"{_TO_WRITE}: the name of the entity that publishes the release",
                "data_curator_type": facts.curator_type,
            }
        ],
        "description": f"{what}, made from {document['source']} by the method {document['method']['name']} of "
        f"Counterfoil {document['program']['counterfoil']}.",
        "intended_use": facts.use or f"{_TO_WRITE}: what the release is for",
        "data_product_type": _PRODUCTS[released],
        "data_product_region": facts.region
        or f"{_TO_WRITE}: which region the data describes, or whose laws apply to the release",
        **({"data_product_sector": facts.sector} if facts.sector else {}),
        "publication_date": document["created"][:10],
    }


def _variant(document: Mapping[str, Any]) -> dict[str, Any]:
    pure = document["spent"]["delta"] == 0 == document.get("schema_bought", {}).get("delta", 0)
    domain, schema = _domain(document)
    if document["neighboring_relation"] == "add_or_remove_one":
        in_the_clear = "None: the number of rows is not released exactly either."
    elif groups := document.get("public_groups"):
        in_the_clear = f"The number of rows in each group of equal {' and '.join(groups)}."
    elif document["privacy_unit"] is None:
        in_the_clear = "The number of rows."
    else:
        in_the_clear = "None: the number of rows of a unit is not released exactly."
    return {
        "variant_name": "Pure DP" if pure else "Approximate DP",
        "data_domain": domain,
        "unprotected_quantities": f"{in_the_clear} {schema}",
    }


def _domain(document: Mapping[str, Any]) -> tuple[str, str]:
    """Which tables are meant, and what is public of their schema."""
    digest = document["schema_sha256"]
    if describes_table(document):
        return (
            "Tables of any number of rows with the columns of this one. What their cells are was not public: kinds, "
            f"bounds and categories were asked of the records. The SHA-256 of what was fixed beforehand is {digest}.",
            "The names of the columns, their types where the storage has any, and what the steward stated of them.",
        )
    bought, share = bought_of(document), share_of(document)
    if share is not None:
        return (
            "Tables of any number of rows that follow a schema (columns, bounds, categories, rules). Noisy answers "
            "about records made it, or parts of it, with a share of this budget, by the receipt whose SHA-256 is "
            f"{share.receipt}. It was fixed before this release asked its first question; its SHA-256 is {digest}.",
            "The names of the columns, and what of the schema was not bought, are public; what was bought of it is "
            "protected by this guarantee.",
        )
    if bought is not None:
        return (
            "Tables of any number of rows that follow a schema (columns, bounds, categories, rules). It was bought: "
            "noisy answers about records made it, or parts of it, by the receipt whose SHA-256 is "
            f"{bought.receipt}. It was fixed before this release asked its first question; its SHA-256 is {digest}.",
            "The names of the columns, and what of the schema was not bought, are public; what was bought of it is "
            "protected by the guarantee of its own receipt alone.",
        )
    return (
        "Tables of any number of rows that follow a schema of public facts (columns, bounds, categories, rules), "
        f"which was fixed before the first question; its SHA-256 is {digest}.",
        "The schema is public.",
    )


def _privacy_loss(document: Mapping[str, Any]) -> dict[str, Any]:
    unit = document["privacy_unit"]
    # Where the schema was bought of the same records, the deployment cost what both did.
    whole = None if bought_of(document) is None else total_of(document)
    epsilon = float(document["budget"]["epsilon"] if whole is None else whole.epsilon)
    delta = float(document["spent"]["delta"] if whole is None else whole.delta)
    records = document.get("answers", {}).get("records")
    return {
        "privacy_unit": "One row" if unit is None else f"All rows with the same value in {unit['column']}",
        "privacy_unit_details": " ".join(protection_sentences(document)),
        **({} if records is None else {"number_of_privacy_units": int(records)}),
        "privacy_parameters": {"epsilon": epsilon, **({"delta": delta} if delta else {})},
        "privacy_parameters_details": " ".join(cost_sentences(document)),
    }


def _model(facts: StewardFacts) -> dict[str, Any]:
    source = (
        {"data_source_type": facts.data_source}
        if facts.data_source
        else {
            "data_source_type_details": f"{_TO_WRITE}: whether new rows come into the real table over time, by the "
            "field data_source_type, which is Static or Dynamic"
        }
    )
    return {
        "model_name": "Central",
        "trust_assumptions": f"{_TO_WRITE}: who holds the real table and who receives the release, and why the former "
        "can be trusted with it",
        "release_type": "One release",
        "release_type_details": f"{_TO_WRITE}: whether the same data will be used again, and what all releases of it "
        "may cost together",
        **source,
        "access_type": "Non-interactive",
        "access_type_details": "Whoever has the release can't ask the real table anything.",
    }


def _implementation(document: Mapping[str, Any], purchase: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "preprocessing_and_hyperparameter_tuning": f"{_TO_WRITE}: how the schema, epsilon and the method's parameters "
        "were chosen, and that nothing was tried on the same records without being charged",
        "mechanisms": " ".join(mechanism_sentences(document, purchase)),
        "composition": document["composition"]["sentence"],
        "post_processing": f"Everything but the noisy answers follows from them: {_what_follows(document)}.",
        "justification": f"{_TO_WRITE}: why this epsilon, this delta and this privacy unit",
        "utility": " ".join([*good_for(document), *warnings_of_use(document)]) or "No measure of utility was bought.",
        "additional_information": "Each charge of the budget is on the receipt, from which `counterfoil receipt "
        "verify` recomputes the guarantee.",
    }


def _what_follows(document: Mapping[str, Any]) -> str:
    if describes_table(document):
        return "kinds, bounds, categories and bins"
    return {
        "table": "the fit of the model, the rows that were drawn from it, error bars, the report and the noisy tables",
        "model": "the parameters of the model, and what it predicts for rows that are public",
        "measures": "their standard errors, and what is said of them",
    }[_released(document)]


def warnings_of_use(document: Mapping[str, Any]) -> list[str]:
    """The warnings of a receipt on what was released. Who counts the release says nothing of its use."""
    counting = (WITHOUT_LEDGER, REST_WITHOUT_LEDGER)
    return [sentence for sentence in warning_sentences(document) if sentence not in counting]


def purchase_of(document: Mapping[str, Any]) -> Bought | None:
    """What bought the schema of a release, with a budget of its own or with a share; None where nothing did."""
    return bought_of(document) or share_of(document)


def require_purchase(document: Mapping[str, Any], purchase: Mapping[str, Any] | None) -> None:
    """Refuses a receipt that is not the one by which the schema of a release was bought.

    Raises:
        ValueError: for another receipt, and where no schema was bought.
    """
    if purchase is None:
        return
    if (bought := purchase_of(document)) is None:
        raise ValueError("The schema of this release was not bought, so that it has no receipt: leave it out.")
    if (found := digest_of(purchase)) != bought.receipt:
        raise ValueError(
            f"The schema of this release was bought by the receipt whose SHA-256 is {bought.receipt}. Found one whose "
            f"SHA-256 is {found}: give the former."
        )


def mechanism_sentences(document: Mapping[str, Any], purchase: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Each kind of question with the noise that its answers got, and by which library it was drawn.

    Args:
        document: the receipt.
        purchase: the receipt of the schema, where that was bought and the receipt is at hand.
    """
    yield from _questions(document)
    if purchase is not None:
        yield f"The schema was bought, by the receipt whose SHA-256 is {digest_of(purchase)}, with these:"
        yield from _questions(purchase)
    elif (bought := purchase_of(document)) is not None:
        yield (
            "Noisy answers bought the schema: their mechanisms are on the receipt whose SHA-256 is "
            f"{bought.receipt}, and not among these."
        )
    programs = ", ".join(f"{name} {version}" for name, version in document["program"].items())
    yield (
        f"Noise: {document['noise_source']}. What floating point can change is bounded in the proofs of Counterfoil "
        f"and held back from the budget. Programs: {programs}."
    )


def _questions(document: Mapping[str, Any]) -> Iterator[str]:
    known = shipped_queries()
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for charge in document["charges"]:
        found.setdefault((charge["query"], charge["noise"]["kind"]), []).append(charge)
    for (query, noise), charges in found.items():
        asked = known[query].question if query in known else "a noisy statistic"
        often = "once" if len(charges) == 1 else f"{len(charges)} times"
        often = steps_of(charges) if is_run(charges) else often
        yield f"{query} ({asked}), {often}, by {noise.replace('_', ' ')}."
