"""The README of a release: that nobody in it is real, what was kept, what it cost, how to check and to cite it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfoil.listing import first_few
from counterfoil.publishing.markdown import plain
from counterfoil.publishing.noisy_tables import ONE_WAY, PAIRS, NoisyTables
from counterfoil.receipt.conclusions import INTERVALS, NO_INTERVALS, ROWS_ALONE
from counterfoil.receipt.relations_kept import noisy_looks, pairs_counted_well, pairs_left_out, three_columns
from counterfoil.receipt.text import cost_sentences, good_for, protection_sentences, warning_sentences
from counterfoil.schema import Schema
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.notation import DAY_OF_TIMES
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.number_words import first_words
from counterfoil.synthesis.csv_writing import delimiter_of

README, REPORT = "README.md", "report.html"
_WIDTH = 100

_WHAT = {
    "receipt.json": "what it cost: every question that was asked of the real table, and how much noise the answer got",
    REPORT: "pictures of the release, for people; it opens in any browser, without a network",
    "datapackage.json": "the data dictionary (Frictionless table schema): kinds, categories, bounds, missing values",
    "schema.toml": "the columns, bounds, categories and rules that the release was made with",
    ONE_WAY: (
        "the noisy counts of each column, as they were bought, with their standard errors; numbers and dates beyond "
        "the bounds were counted in the first and the last cell, which `beyond` says of them"
    ),
    PAIRS: "the noisy counts of pairs of columns, likewise",
    "rows.arrow": "the rows once more, as the model's files need them",
    "rows.parquet": "the rows once more, as the model's files need them",
    "support.parquet": "the weighted points that the rows were drawn from",
    "points.npz": "their coordinates and weights",
    "model.npz": "the fitted model, from which `counterfoil sample` draws further rows at no cost",
    "error_bars.json": "how far the model's counts may be from the real ones",
    "synthesis.json": "which files belong to the model",
    "checksums.txt": "the SHA-256 of every other file",
}


@dataclass(frozen=True)
class Contents:
    """What a README tells of.

    Args:
        schema: the public facts.
        document: the receipt.
        table: the name of the table's file.
        noisy: the noisy tables; None where the receipt records no counts.
        files: the paths of all files of the release.
        model: how rows were made: "model" for one of counts, "points" for weighted points.
    """

    schema: Schema
    document: Mapping[str, Any]
    table: str
    noisy: NoisyTables | None
    files: tuple[str, ...]
    model: str


def readme_text(contents: Contents) -> str:
    """The page, in Markdown. It follows from what `Contents` holds alone, so that it can be compared."""
    document = contents.document
    alarm = [] if document["private"] else ["**NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.**"]
    parts = [
        f"# Synthetic data: not real people ({plain(document['source'])})",
        *alarm,
        _lead(contents),
        "## What is here",
        _listed(f"`{name}`: {_what(contents, name)}" for name in contents.files),
        *([] if REPORT in contents.files else [_NO_REPORT]),
        "## What was kept",
        _listed(_kept(contents)),
        "## What was not kept",
        _listed(_not_kept(contents)),
        "## How to draw conclusions",
        *_conclusions(contents),
        "## What it cost",
        *(_wrapped(plain(sentence, most=2000)) for sentence in protection_sentences(document)),
        *(_wrapped(plain(sentence, most=2000)) for sentence in cost_sentences(document)),
        *_warnings(document),
        "## How to check it",
        _CHECK,
        "## How to cite it",
        _wrapped(_citation(document)),
    ]
    return "\n\n".join(parts) + "\n"


_NO_REPORT = """\
There is no `report.html` here: it was not drawn where this release was made. Anyone can draw it from this folder:
`pip install 'counterfoil[report]'`, then `counterfoil report FOLDER --out report.html`, from outside of the folder."""

_CHECK = """\
- `sha256sum -c checksums.txt`, in this folder, says whether a file was changed since it was written.
- `counterfoil receipt verify FOLDER`, with the name of this folder, recomputes every cost on the receipt, compares the
  table, the noisy counts and the data dictionary with it, and names what nobody vouches for.
- With `--key KEY.pub`, the public key of whoever made the release, which you have from them and not from here, it says
  whether they signed the receipt; with `--ledger` its maker compares it with their own record."""

_ASKED = """\
```sh
counterfoil infer FOLDER mean COLUMN --by COLUMN
counterfoil infer FOLDER proportion "COLUMN == 'VALUE'" --by COLUMN
counterfoil infer FOLDER chi2 COLUMN COLUMN
```"""


def _lead(contents: Contents) -> str:
    document = contents.document
    rows = document["rows"]["drawn"]
    return _wrapped(
        f"**No row of `{contents.table}` is a person.** Its {rows:,} rows were drawn by a program from noisy "
        f"statistics of a real table, {plain(document['source'])}: method {plain(document['method']['name'])}, "
        f"{_price(document)}. A row that looks like somebody is like them by chance, or because many people are alike."
    )


def _price(document: Mapping[str, Any]) -> str:
    """The guarantee; where the schema was bought too, what that cost stands beside it, for it is not in the budget."""
    budget, schema = document["budget"], document.get("schema_bought")
    own = f"epsilon {budget['epsilon']:g}, delta {budget['delta']:g}"
    return (
        own if schema is None else f"{own}, and for its schema epsilon {schema['epsilon']:g}, delta {schema['delta']:g}"
    )


def _what(contents: Contents, name: str) -> str:
    if name != contents.table:
        return _WHAT.get(name, "a part of the release")
    if not name.endswith(".csv"):
        zeros = _zeros(contents, "They stand here as numbers, without them")
        numbers = _number_words(contents, "as the number")
        return f"the synthetic rows{_words(contents)}{zeros}{numbers}{_times_of_day(contents)}"
    comma = delimiter_of(contents.schema.columns) == ";"
    encoding = contents.schema.encoding.replace("utf-", "UTF-")
    signs, also = ("semicolons", _COMMAS) if comma else ("commas", "")
    written = _AS_CSV.format(encoding=encoding, signs=signs, also=also)
    texts = f"{_zeros(contents, _AS_TEXT)}{_number_words(contents, 'as the word')}"
    return f"the synthetic rows{written}{_in_pandas(contents)}{texts}"


def _zeros(contents: Contents, where: str) -> str:
    """That codes begin with zeros, as 01 of a region does, by which tables are joined; empty where none do."""
    codes = [column for column in contents.schema.columns if isinstance(column, Integer) and column.digits]
    if not codes:
        return ""
    named = first_few([f"{plain(one.name, most=40)} ({one.digits} digits)" for one in codes], _MOST_LOST)
    return f"; codes are filled up with zeros in the real table: {named}. {where}"


def _number_words(contents: Contents, how: str) -> str:
    """That words stand for numbers, as 90+ does, of which averages are taken; empty where none do."""
    as_text = contents.table.endswith(".csv")
    found = [
        f"{plain(word)} of {plain(column.name, most=40)} for {number:g}"
        for column in _with_words(contents)
        for word, number in (first_words(column.number_words) if as_text else column.number_words)
    ]
    if not found:
        return ""
    return f"; words stand for numbers in the real table, and here {how}: {first_few(found, _MOST_LOST)}"


def _times_of_day(contents: Contents) -> str:
    """That typed storages hold them as moments of a day that means nothing; empty where there are none."""
    clocks = [column for column in contents.schema.columns if isinstance(column, Instant) and column.is_clock]
    if not clocks:
        return ""
    named = first_few([plain(one.name, most=40) for one in clocks], _MOST_LOST)
    return f"; times of day stand here as moments of {DAY_OF_TIMES:%Y-%m-%d}: {named}"


def _words(contents: Contents) -> str:
    """The texts that typed storages show for missing, which are no nulls there: half of a column may be `NA`."""
    columns = [column for column in contents.schema.columns if isinstance(column, Column)]
    texts = [column for column in columns if column.missing_word and pa.types.is_string(column.arrow_type)]
    shown = [f"{plain(column.missing_word)} of {plain(column.name, most=40)}" for column in texts]
    if not shown:
        return ""
    return (
        f"; some texts stand for missing cells, as in the real table, and are no nulls: {first_few(shown, _MOST_WORDS)}"
    )


def _with_words(contents: Contents) -> list[NumberColumn]:
    columns = [column for column in contents.schema.columns if isinstance(column, NumberColumn)]
    return [column for column in columns if column.number_words]


def _in_pandas(contents: Contents) -> str:
    """What keeps values that pandas takes for missing, such as NA for Namibia; empty where there are none."""
    columns = [column for column in contents.schema.columns if isinstance(column, Categorical)]
    found = [(column.name, label) for column in columns for label in column.labels[: len(column.values)]]
    found += [(column.name, word) for column in _with_words(contents) for word, _ in first_words(column.number_words)]
    lost = [f"{plain(label)} of {plain(name, most=40)}" for name, label in found if label in _MISSING_IN_PANDAS]
    if not lost:
        return ""
    return (
        f"; `pandas.read_csv` takes {first_few(lost, _MOST_LOST)}, which the table has as values, for missing, "
        "unless `keep_default_na=False` says otherwise, with `na_values` for what stands for missing"
    )


_AS_CSV = (
    ", as {encoding} with {signs} between cells{also}; a spreadsheet that expects other signs shows one column or "
    "wrong letters, and has to import it (in Excel: Data, From Text/CSV)"
)
_COMMAS = " and commas in numbers"
_AS_TEXT = "They are here too, and `pandas.read_csv` drops the zeros unless `dtype` says `str`"
_MOST_LOST = 4
_MOST_BINNED = 20
_MOST_WORDS = 6
_OF_UNIT = "read to know which rows have the same one"
_MISSING_IN_PANDAS = frozenset(
    (
        *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
        *("NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
"""Texts that `pandas.read_csv` reads as missing where nobody says otherwise."""


def _kept(contents: Contents) -> Iterator[str]:
    """What the rows follow, as far as the receipt says."""
    noisy = contents.noisy
    if contents.model == "points":
        yield "The rows are drawn from weighted points, which follow noisy answers about where records lie."
    if noisy is not None and noisy.columns:
        yield f"Counted with noise, and followed by the rows: {noisy.columns} single columns (`{ONE_WAY}`)."
    if noisy is not None and noisy.pairs:
        listed, pairs = f"Counted together with noise: {len(noisy.pairs):,} pairs of columns (`{PAIRS}`)", noisy.pairs
        if noisy_looks(contents.document):
            well = pairs_counted_well(contents.document)
            pairs = tuple(pair for pair in noisy.pairs if frozenset(pair) in well)
            listed += f", {len(pairs):,} of them well"
        shown = ", ".join(f"{plain(one, most=40)} with {plain(other, most=40)}" for one, other in pairs[:20])
        rest = f", and {len(pairs) - 20:,} more" if len(pairs) > 20 else ""
        yield f"{listed}: {shown}{rest}."
    if noisy is None and contents.model != "points":
        yield "The receipt records no counts; what was asked of the real table is listed there."
    rules = len(contents.schema.rules) + len(contents.schema.zeros)
    if rules:
        yield f"Rules of the schema that every row meets: {rules:,}."
    yield from (plain(sentence, most=2000) for sentence in good_for(contents.document))


def _not_kept(contents: Contents) -> Iterator[str]:
    noisy, schema = contents.noisy, contents.schema
    yield "No record, and no link from a row to one: rows can't be matched with people."
    yield from _not_synthesized(schema, (contents.document["privacy_unit"] or {}).get("column"))
    if contents.model != "points":
        yield (
            "Relations among two or more columns that were not counted together: they hold only as far as they follow "
            "from what was counted."
        )
    listed = f", which `{ONE_WAY}` lists" if noisy is not None and noisy.columns else ""
    if contents.model != "points" and (binned := [one for one in map(_in_bins, schema.columns) if one]):
        yield (
            "Where numbers and dates lie within the bins in which they were counted: there they are spread by "
            f"assumption. Counted in bins were {first_few(binned, _MOST_BINNED)}{listed}."
        )
    yield from filter(None, (pairs_left_out(contents.document), three_columns(contents.document)))
    yield "Exact counts: those of rare values and of small groups may be mostly noise."
    if noisy is not None and noisy.left_out:
        yield f"In `{PAIRS}`, {noisy.left_out:,} pairs that were counted and are too large to be listed."
    if contents.document.get("answers", {}).get("left_out"):
        yield f"On the receipt, {contents.document['answers']['left_out']:,} counted tables that are too large for it."


def _not_synthesized(schema: Schema, unit: str | None) -> Iterator[str]:
    """Identifiers and ignored columns; that of the privacy unit is read to know which rows are one unit's."""
    unread = "never read" if schema.bought is None else "read for nothing but the schema"
    for column in schema.columns:
        if isinstance(column, Identifier):
            instead = "left out" if column.replace == "drop" else "made anew"
            known = f"the privacy unit: {_OF_UNIT}" if column.name == unit else f"an identifier: {unread}"
            yield f"The values of {plain(column.name)}, {known}, and {instead}."
    if unit in schema.ignore:
        yield f"The values of {plain(str(unit))}, the privacy unit: {_OF_UNIT}, and left out."
    if ignored := [plain(name, most=40) for name in schema.ignore if name != unit]:
        rest = f", and {len(ignored) - 20:,} more" if len(ignored) > 20 else ""
        yield f"Columns that were {unread}: {', '.join(ignored[:20])}{rest}."


def _in_bins(column: Column | Identifier | Derived) -> str:
    """How many bins a column of numbers or dates has, after its name; empty where each value has its own code."""
    if not isinstance(column, Column) or column.spans is None:
        return ""
    bins = sum(".." in label for label in column.labels)
    return f"{plain(column.name, most=40)} ({bins:,})" if bins else ""


def _conclusions(contents: Contents) -> Iterator[str]:
    """How somebody who has the folder alone draws conclusions about the real table, for whom rows look like records."""
    yield _wrapped(f"{ROWS_ALONE} More rows make it narrower, and not truer.")
    if "answers" not in contents.document:
        yield _wrapped(NO_INTERVALS)
        return
    yield _wrapped(
        f"{INTERVALS} It refuses what nothing was measured of. From outside of this folder, with its name, for example:"
    )
    yield _ASKED


def _warnings(document: Mapping[str, Any]) -> Iterator[str]:
    sentences = [plain(sentence, most=2000) for sentence in warning_sentences(document)]
    if sentences:
        yield "## Warnings"
        yield _listed(sentences)


def _citation(document: Mapping[str, Any]) -> str:
    return (
        f"Synthetic copy of {plain(document['source'])}, made on {document['created'][:10]} by Counterfoil "
        f"{plain(document['program']['counterfoil'])}, method {plain(document['method']['name'])}, "
        f"{_price(document)}. Synthetic data: not real people. "
        "State this beside every figure that is made from it, with the name of whoever gave it to you."
    )


def _listed(sentences: Iterable[str]) -> str:
    return "\n".join(_wrapped(sentence, "- ") for sentence in sentences)


def _wrapped(text: str, lead: str = "") -> str:
    """Lines that break at spaces alone. A line never begins with a mark of Markdown, for those are escaped."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
