"""What to look at in a schema that was bought, in sentences: for the terminal, and as warnings in Python."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from counterfoil.callers import outside_the_package
from counterfoil.discovery.bought_categories import mostly, mostly_beyond, public_names
from counterfoil.discovery.bought_columns import as_texts
from counterfoil.discovery.bought_facts import is_empty
from counterfoil.discovery.bought_numbers import ROOM_BESIDE_ZERO, may_be_rare, may_hide, may_number_rows
from counterfoil.fidelity.bought_schema import BoughtSchema, SchemaPurchase
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.listing import first_few
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.drafting import may_name_somebody
from counterfoil.schema.instant import Datetime, Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.made_up_times import made_up_parts
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.spelling import has_no_text
from counterfoil.schema.storage_words import hidden_moments, stored_as_nothing
from counterfoil.schema.toml_text import toml_key
from counterfoil.schema.written_numbers import are_stored_as_texts, are_stored_dates, are_written_numbers

_MOST_NAMED = 4
_MANY_BEYOND = 0.25
"""A share of the rows: where noise may hide more beyond a bound, a copy may lack a whole part of a column."""
_THE_SCHEMA = "the schema"
_LONGEST_CODE = 5
"""Letters of a text in capitals that is no whole word."""


def advice_on(
    made: BoughtSchema, purchase: SchemaPurchase, out: str, *, sign: str, without: Collection[str] = ()
) -> list[str]:
    """What may be wrong with it, or lacks.

    Args:
        made: the schema, with what was found.
        purchase: what was asked for.
        out: where it is to be corrected.
        sign: the option that states a decimal sign.
        without: columns that are left out, of which it is said elsewhere.
    """
    return [
        *_of_texts(made, out, sign, without),
        *_of_identifiers(made, purchase, out),
        *_of_missing_words(made, out),
        *_of_rare(made, out),
        *_of_numbers(made, out, sign),
        *_of_order(made, purchase, out),
        *_of_dates(made, out),
    ]


def warn_of_purchase(made: BoughtSchema, purchase: SchemaPurchase) -> None:
    """Gives all of it as warnings, with what a terminal shows beside it: what the noise hides, and what is open."""
    for sentence in (
        *_of_what_is_open(made),
        *_of_objects(made, purchase),
        *_of_the_rest(made, purchase),
        *on_lengths(made),
    ):
        warnings.warn(sentence, SchemaWarning, stacklevel=outside_the_package())


def _of_what_is_open(made: BoughtSchema) -> Iterator[str]:
    if (need := made.discovered.need) is not None and need.epsilon is not None:
        yield need.sentence()
    if open_columns := [one.column for one in made.schema.confirm]:
        yield (
            f"No release can be made before {_named(open_columns)} are confirmed: state them (`stated`), or spend more."
        )


def _of_objects(made: BoughtSchema, purchase: SchemaPurchase) -> Iterator[str]:
    """On columns that a release will lack although their cells may be numbers or dates."""
    if objects := [name for name in _left_out(made, purchase) if name in purchase.objects]:
        kinds = "".join(f'[columns.{toml_key(name)}]\nkind = "date"' for name in objects[:1])
        yield (
            f"No release will have {_named(objects)}, whose cells are Python objects: no storage says their type, and "
            "they were read as texts. Where they are dates or decimals, give the column a type, or state its kind, for "
            f"which bounds are bought: stated={kinds!r}."
        )


def _of_the_rest(made: BoughtSchema, purchase: SchemaPurchase) -> Iterator[str]:
    yield from on_unseen(made, purchase, _THE_SCHEMA)
    yield from advice_on(made, purchase, _THE_SCHEMA, sign="`decimal_char`", without=purchase.objects)


def on_unseen(made: BoughtSchema, purchase: SchemaPurchase, out: str) -> Iterator[str]:
    """On columns that are left out and hold no texts, such as dates whose range the noise hides.

    Args:
        made: the schema, with what was found.
        purchase: what was asked for.
        out: where it is to be corrected.
    """
    texts = [one.name for one in made.discovered.columns if one.kind == "text"]
    left_out, empty = _left_out(made, purchase), [one.name for one in made.discovered.columns if is_empty(one)]
    others = [name for name in left_out if name not in {*texts, *empty}]
    if without_cells := [name for name in left_out if name in empty]:
        yield (
            f"No release will have {_named(without_cells)}, of which nothing but missing cells shows. Where what noise "
            f"hides of them matters, state kind and bounds in {out}, and take the columns out of `ignore`."
        )
    if nested := [name for name in others if name in purchase.types and has_no_text(purchase.types[name])]:
        stored = stored_as_nothing(purchase.types[name] for name in nested)
        yield (
            f"No release will have {_named(nested)}, {stored}. Store them as numbers or texts, a length of time as its "
            "seconds."
        )
    if unseen := [name for name in others if name not in nested]:
        why = hidden_moments({name: purchase.types[name] for name in unseen if name in purchase.types})
        yield (
            f"No release will have {_named(unseen)}, of which no range or list of values shows above the noise. State "
            f"kind and bounds in {out}, and take the columns out of `ignore`.{why}"
        )


def _left_out(made: BoughtSchema, purchase: SchemaPurchase) -> list[str]:
    stated = purchase.partial.facts.get("ignore", ())
    return [name for name in made.schema.ignore if name not in stated]


def _tables(made: BoughtSchema) -> dict[str, Any]:
    tables: dict[str, Any] = tomllib.loads(made.text).get("columns", {})
    return tables


def _of_texts(made: BoughtSchema, out: str, sign: str, without: Collection[str]) -> Iterator[str]:
    """On texts of which no column was made, and which may be numbers or moments."""
    tables = _tables(made)
    if beside := [one.name for one in made.discovered.columns if one.name in tables and mostly_beyond(one)]:
        yield (
            f"Most cells of {_named(beside)} are numbers, dates or moments beside texts, and were bought as categories."
            " Many are none of these, and count as `other`. Where the texts mean missing, state kind and bounds in "
            f"{out} with missing = true."
        )
    texts = [one for one in made.discovered.columns if one.kind == "text" and not is_empty(one)]
    left_out = [one for one in texts if one.name not in {*tables, *without}]
    if mixed := [one.name for one in left_out if mostly(one)]:
        yield (
            f"No release will have {_named(mixed)}: numbers, dates or moments, and too many texts beside them. Where "
            f"these mean missing, state kind and bounds in {out} with missing = true, and `missing_values` where they "
            "shall come back as they are written, and take the columns out of `ignore`."
        )
    if various := [one for one in left_out if not mostly(one)]:
        few = ", or too few are" if any(one.categories for one in various) else ""
        yield (
            f"No release will have {_named([one.name for one in various])}: texts of which none is frequent{few}. "
            f"{_as_what_texts_count(any(one.votes for one in various), out, sign)}"
        )


def _as_what_texts_count(asked: bool, out: str, sign: str) -> str:
    """What else may stand in columns of texts.

    Args:
        asked: whether their kinds were asked for; not where the storage has types.
        out: where the schema is to be corrected.
        sign: the option that states a decimal sign.
    """
    signs = "Numbers with signs such as % or € are read where `unit` names the sign."
    if not asked:
        return (
            "Dates, moments and numbers that the storage keeps as texts, as SQLite keeps dates, count as texts: buy "
            f'with {sign} "." (codes such as 00123 are numbers then), or state kind and bounds in {out}, and take the '
            f"columns out of `ignore`. {signs}"
        )
    return (
        f"Numbers in another notation than plain digits, or than that of {sign}, count as texts, and so do moments "
        "that are not written as 2020-01-31 23:59:59 (also with Z or +01:00 behind it), 31.01.2020 23:59 or 1/31/2020 "
        f"11:59 PM. State kind and bounds, the `decimal_char` of such numbers and the `format` of moments, in {out}, "
        f"and take the columns out of `ignore`. {signs}"
    )


def _of_identifiers(made: BoughtSchema, purchase: SchemaPurchase, out: str) -> Iterator[str]:
    """On columns that are left out as identifiers: for their names, or because the `ignore` that was stated is kept."""
    unit = purchase.unit.column if purchase.unit else None
    found = [one for one, table in _tables(made).items() if table.get("kind") == "identifier" and one != unit]
    left_out = [one for one in found if not purchase.partial.covers(one)]
    if named := [one for one in left_out if may_name_somebody(one)]:
        called = (
            "which is an identifier by its name: where it is none, state its kind"
            if len(named) == 1
            else "which are identifiers by their names: where they are none, state kinds"
        )
        yield f"No release will have {_named(named)}, {called} in {out}."
    if others := [one for one in left_out if one not in named]:
        yield (
            f"No release will have {_named(others)}, of which nothing could be made, as a comment in the table of each "
            f"says in {out}. They stand there as identifiers, because the `ignore` that you stated is kept: state "
            "kinds, or add them to it."
        )


def _voted(made: BoughtSchema) -> frozenset[str]:
    """The columns whose kind was asked for."""
    return frozenset(one.name for one in made.discovered.columns if one.votes)


def _named(columns: Sequence[str]) -> str:
    return first_few(columns, _MOST_NAMED)


def _of_bounds(made: BoughtSchema, out: str) -> Iterator[str]:
    """On bounds beyond which noise may hide so many numbers that a copy may lack a part of them, such as credits."""
    numbers = {column.name for column in made.schema.columns if isinstance(column, NumberColumn)}
    hidden = {
        one.name: max(*one.tails, *(most / max(one.records, 1) for most in one.outside or ()))
        for one in made.discovered.columns
        if one.name in numbers
    }
    if wide := [name for name, share in hidden.items() if share > _MANY_BEYOND]:
        most = min(max(hidden[name] for name in wide), 1.0)
        of_them = f"{most:.0%} of the rows" if len(wide) == 1 else f"{most:.0%} of the rows of one of them"
        yield (
            f"Noise may hide many numbers of {_named(wide)} beyond a bound that was bought, as which they count: up to "
            f"{of_them}. State bounds that the public knows in {out}, where the comments beside them say how many."
        )


def _of_far_dates(made: BoughtSchema, out: str) -> Iterator[str]:
    """On dates of which many may lie beyond their bounds, as those do that mean "until further notice"."""
    dates = {column.name for column in made.schema.columns if isinstance(column, Instant)}
    shares = {
        one.name: min(one.beyond / max(one.records, 1), 1.0)
        for one in made.discovered.columns
        if one.name in dates and one.beyond is not None
    }
    if wide := [name for name, share in shares.items() if share > _MANY_BEYOND]:
        most = max(shares[name] for name in wide)
        one_of = "" if len(wide) == 1 else "one of "
        yield (
            f"Up to {most:.0%} of the rows may lie beyond the bounds of {one_of}{_named(wide)}, and count as a bound. "
            f"State bounds that the public knows in {out}, and where a day such as 9999-12-31 stands for none, list it "
            "in `missing_values`. Databases also have `infinity`, which can't be listed: have it null in a view."
        )


def _of_numbers(made: BoughtSchema, out: str, sign: str) -> Iterator[str]:
    """On numbers that may be something else."""
    if numbered := [column.name for column in made.discovered.columns if may_number_rows(column)]:
        yield (
            f"As many whole numbers as rows, or more, lie between the bounds of {', '.join(numbered)}. Where such a "
            f'column numbers the rows, write kind = "identifier" in {out} in place of its facts.'
        )
    yield from _of_bounds(made, out)
    signs = made.discovered.signs
    reals = [one.name for one in made.schema.columns if one.kind == "real" and one.name in _voted(made)]
    if signs is not None and not signs.sign and reals:
        yield (
            f"No decimal sign of the file shows above the noise, and the numbers of {_named(reals)} were read with a "
            "decimal point, 1.234 as a little more than 1. Where points separate thousands, write `decimal_char = "
            f'","`, kind = "integer" and bounds that hold then in {out}.'
        )
    listed = {column.name: column for column in made.schema.columns if isinstance(column, Categorical)}
    if written := [name for name, one in listed.items() if are_written_numbers(one.labels[: len(one.values)])]:
        yield (
            f"The categories of {', '.join(written)} look like numbers with decimal commas, separators of thousands or "
            "units such as %. They have no order and no mean as texts, and rare ones count as `other`: where they are "
            f"numbers, state kind, bounds and `decimal_char` in {out}; those with a unit such as %, € or g/dL are read "
            "where `unit` names it."
        )
    beside = {one.name for one in made.discovered.columns if mostly_beyond(one)}
    others = [name for name in listed if name not in beside and name not in _voted(made)]
    if stored := [name for name in others if _are_stored(listed[name])]:
        yield (
            f"The categories of {', '.join(stored)} look like numbers that are stored as texts. They have no order and "
            f"no mean so, and rare ones count as `other`: where they are numbers, state kind and bounds in {out}, or "
            f'buy them with {sign} ".".'
        )
    if dated := [name for name in others if are_stored_dates(listed[name].labels[: len(listed[name].values)])]:
        yield (
            f"The categories of {', '.join(dated)} look like days that are stored as texts. They have no order so, and "
            f'rare ones count as `other`: state kind and bounds in {out}, or buy them as dates with {sign} ".".'
        )
    if lumped := [one for one in made.discovered.columns if one.lumps and one.name not in listed]:
        texts = max(map(as_texts, lumped), key=len)
        yield (
            f"Nearly all numbers of {', '.join(one.name for one in lumped)} lie at a few places, far apart, as codes "
            f"do. Where they are codes, list them as the `values` of a categorical column{texts} in {out}: any number "
            "near them is drawn otherwise."
        )
    named = {one.name for one in lumped}
    asked = _voted(made) - named
    if padded := [one.name for one in made.schema.synthesized if _is_padded(one) and one.name in asked]:
        yield (
            f"Numbers of {_named(padded)} are written with leading zeros, as codes are, and were bought as numbers: "
            "between those that occur codes are drawn that nobody has. Where the public knows the codes, list them as "
            f'the `values` of a categorical column, as texts ("00123"), in {out}.'
        )


def _is_padded(column: Column) -> bool:
    return isinstance(column, Integer) and column.digits > 0


def _are_stored(column: Categorical) -> bool:
    return are_stored_as_texts(column.labels[: len(column.values)])


def _of_missing_words(made: BoughtSchema, out: str) -> Iterator[str]:
    """On a word for missing that may be a code of the one column that has it, as NA is sodium beside K and CREA."""
    listed = {one.name: one for one in made.schema.columns if isinstance(one, Categorical)}
    having: dict[str, list[str]] = {}
    for column in made.discovered.columns:
        for word in filter(None, column.missing_words):
            having.setdefault(word, []).append(column.name)
    for word, names in having.items():
        one = listed.get(names[0])
        if len(names) == 1 and one is not None and word in one.missing_values and _is_a_code_among(word, one.values):
            yield (
                f"{word} is read as missing in {names[0]}, where other texts are short and in capitals, too: where it "
                f"is a code, move it from `missing_values` to `values` in {out}, and delete it from the "
                "`missing_values` of other columns."
            )


def _is_a_code_among(word: str, values: Sequence[object]) -> bool:
    """Whether a word of capitals is written as most values are; of single letters, as of M and F, it is no code."""
    alike = [text for text in map(str, values) if text.isalpha() and text.isupper() and len(text) <= _LONGEST_CODE]
    return word.isalpha() and word.isupper() and 2 * len(alike) > len(values) and max(map(len, alike)) > 1


def _of_rare(made: BoughtSchema, out: str) -> Iterator[str]:
    """On columns of which zero alone shows."""
    top = ROOM_BESIDE_ZERO
    roomy = {one.name for one in made.schema.columns if isinstance(one, Integer) and one.upper == top}
    if rare := [one for one in made.discovered.columns if one.name in roomy and may_be_rare(one)]:
        named, most = _named([one.name for one in rare]), max(map(may_hide, rare))
        yield (
            f"0 alone shows of {named}. Up to {most:,.0f} cells may hold other numbers: rare flags and counts have "
            f"codes up to {top:g}, larger ones count as {top:g}, and fractions are rounded. State kind and bounds in "
            f"{out} where you know them."
        )


def on_lengths(made: BoughtSchema) -> Iterator[str]:
    """On dates that follow from others."""
    for name, length in made.lengths.items():
        yield (
            f"{length.last} follows {length.first}, and mostly soon, in all but up to {length.below:,.0f} rows: copies "
            f"keep what lies between the two, in a column {name}, and {length.last} is derived from it."
        )


def on_public_lists(made: BoughtSchema, out: str) -> Iterator[str]:
    """On categories that were taken from a list and not from records."""
    tables = _tables(made)
    for column in made.discovered.columns:
        public, names = public_names(column)
        if names and set(names) <= set(tables[column.name].get("values", ())):
            yield (
                f"{column.name} also lists the {len(names)} other names of a public list ({public}), for which no "
                f"record was read: delete those from {out} that can't occur."
            )


def _of_order(made: BoughtSchema, purchase: SchemaPurchase, out: str) -> Iterator[str]:
    """On dates such as 3/4/2020, all of which have two readings."""
    stated = {name for name, facts in purchase.partial.columns.items() if "format" in facts}
    if names := [one.name for one in made.discovered.columns if one.order_hides and one.name not in stated]:
        yield (
            f"Which of day and month comes first in {_named(names)} does not show: hardly a day is above the 12th. "
            f"Make sure that `format` in {out} says what the table means, %d/%m/%Y or %m/%d/%Y."
        )


def _of_dates(made: BoughtSchema, out: str) -> Iterator[str]:
    """On times of day that nobody counts, and on an order that noise does not know."""
    if even := [one.name for one in made.schema.columns if isinstance(one, Datetime) and made_up_parts(one)]:
        yield (
            f"Cells of {_named(even)} are of a day or more, and copies make up the times of day. Where a column holds "
            f'days alone, all at midnight, write kind = "date" and days as bounds in {out}; where times of day matter, '
            "a finer `resolution`."
        )
    yield from _of_far_dates(made, out)
    dates = [one.name for one in made.schema.columns if isinstance(one, Instant) and not one.is_clock]
    if len(dates) > 1:
        yield (
            f"Where one of {_named(dates)} never comes before another, as a discharge never before its admission, add "
            f"the rule to {out}: noise knows no order. Where lengths matter, or are mostly short beside the time that "
            "the dates span, count what lies between the two: `between`."
        )
