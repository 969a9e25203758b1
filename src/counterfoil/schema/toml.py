"""Reading a schema from TOML: every mistake is one sentence with the file, the column and the key."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from counterfoil.kept_files import KeptFile, same_place
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.bought import Bought
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.code_lists import CodeLists
from counterfoil.schema.column import Column
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.errors import SchemaError, Unconfirmed, closest, did_you_mean
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.instant import Date, Datetime
from counterfoil.schema.integer import Integer
from counterfoil.schema.patterns import Pattern, is_pattern
from counterfoil.schema.real import Real
from counterfoil.schema.rules import Rule, Zeros
from counterfoil.schema.scale import MANY_NUMBERS, SCALES
from counterfoil.schema.toml_derived import Item, after_of, placed, read_derived
from counterfoil.schema.toml_lists import LIST_KEYS, in_full

UNKNOWN = "?"

Made = TypeVar("Made")


@dataclass(frozen=True)
class Fact:
    """What a key must hold: in words, and as a check."""

    words: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_day(value: Any) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def require_path_or_text(source: object, what: str) -> None:
    """Raises TypeError, in one sentence, for what is neither, such as facts that were parsed already."""
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            f"What {what} is read from must be the path of a TOML file, or TOML text. Found {type(source).__name__}: "
            "give one of these."
        )


def _is_moment(value: Any) -> bool:
    return isinstance(value, date)


FLAG = Fact("true or false", lambda value: isinstance(value, bool))
TEXT = Fact("a text", _is_text)
TEXTS = Fact('a list of texts, such as ["?"]', _list_of(_is_text))
WHOLE = Fact("a whole number", _is_whole)
NUMBER = Fact("a number", _is_number)
SCALE = Fact('"linear" or "log"', lambda value: value in SCALES)
DAY = Fact("a date, such as 2020-01-31 (no quotes)", _is_day)
MOMENT = Fact("a datetime, such as 2020-01-31T12:00:00 (no quotes)", _is_moment)
ZONE = Fact('the name of a zone, such as "Europe/Zurich"', _is_text)
CATEGORIES = Fact(
    'a list of texts or numbers, such as ["a", "b"]', _list_of(lambda value: _is_text(value) or _is_number(value))
)

DECIMAL_CHAR = Fact('"," or "."', lambda value: value in DECIMAL_CHARS)
GROUPS = Fact(
    'a table of lists, such as { "A" = ["A1", "A2"] }',
    lambda value: isinstance(value, dict) and all(map(CATEGORIES.fits, value.values())),
)

_WORDS = Fact(
    'a table of words with their numbers, such as { "90+" = 90 }',
    lambda value: isinstance(value, dict) and bool(value) and all(map(_is_number, value.values())),
)

_COMMON = {"kind": TEXT, "confirm": FLAG, "description": TEXT}
_CODED = _COMMON | {"missing": FLAG, "missing_values": TEXTS}
_INSTANT = _CODED | {"resolution": TEXT, "bins": WHOLE, "format": TEXT, "zone": ZONE}
_LABEL = Fact('a text or a whole number, such as "yes"', lambda value: _is_text(value) or _is_whole(value))
_DAYS = Fact("a list of dates", _list_of(_is_day))
_TWO_NAMES = Fact(
    'two names of columns, such as ["admitted", "discharged"]',
    lambda value: isinstance(value, list) and len(value) == 2 and all(map(_is_text, value)),
)
_MOMENTS = Fact("a list of datetimes", _list_of(_is_moment))

KINDS: Mapping[str, tuple[Callable[..., Column | Identifier], Mapping[str, Fact], tuple[str, ...]]] = {
    "categorical": (
        Categorical,
        _CODED | {"values": CATEGORIES, "other": FLAG, "ordered": FLAG, "groups": GROUPS},
        ("values",),
    ),
    "boolean": (Boolean, _CODED | {"true": _LABEL, "false": _LABEL}, ()),
    "integer": (
        Integer,
        _CODED
        | {"lower": WHOLE, "upper": WHOLE, "step": WHOLE, "bins": WHOLE, "scale": SCALE, "digits": WHOLE}
        | {"decimal_char": DECIMAL_CHAR, "unit": TEXT, "between": _TWO_NAMES, "words": _WORDS}
        | dict.fromkeys(("edges", "points"), Fact("a list of whole numbers", _list_of(_is_whole))),
        ("lower", "upper"),
    ),
    "real": (
        Real,
        _CODED
        | {"lower": NUMBER, "upper": NUMBER, "bins": WHOLE, "resolution": NUMBER, "scale": SCALE, "decimals": WHOLE}
        | {"step": NUMBER, "decimal_char": DECIMAL_CHAR, "unit": TEXT, "between": _TWO_NAMES, "words": _WORDS}
        | dict.fromkeys(("edges", "points"), Fact("a list of numbers", _list_of(_is_number))),
        ("lower", "upper"),
    ),
    "date": (Date, _INSTANT | {"lower": DAY, "upper": DAY, "edges": _DAYS, "points": _DAYS}, ("lower", "upper")),
    "datetime": (
        Datetime,
        _INSTANT | {"lower": MOMENT, "upper": MOMENT, "edges": _MOMENTS},
        ("lower", "upper"),
    ),
    "identifier": (Identifier, _COMMON | {"replace": TEXT}, ()),
}
_TOP = (
    "name",
    "description",
    "bought",
    "ignore",
    "exact_names",
    "columns",
    "derived",
    "rules",
    "zeros",
    "decimal_char",
    "encoding",
)


def read_schema(
    source: str | Path,
    make: Callable[..., Made],
    *,
    released: bool = False,
    sensitive: Sequence[KeptFile] = (),
    edited: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
) -> Made:
    """What `make`, a `Schema`, makes of a file or of TOML text (anything with a line break or an equals sign).

    Args:
        source: the path or the text.
        make: gets the parts.
        released: whether it is a release's own schema, which names no files and has names of columns as they stand; so
            is one that is read from the folder of a release, unless it was edited.
        sensitive: the files of the table that it is for, where that is known: neither the schema nor a list of it may
            be one of them.
        edited: gets the parsed document, and gives the one that is read.
    """
    require_path_or_text(source, "a schema")
    if isinstance(source, str) and ("\n" in source or "=" in source):
        place, text, lists = "The schema", source, CodeLists(None)
    else:
        place, lists = f"The schema {source}", CodeLists(Path(source).absolute().parent, sensitive)
        if any(same_place(Path(source), kept.path) for kept in sensitive):
            raise SchemaError(f"{place}: it must be public. Found the sensitive table: give the schema's own file.")
        try:
            text = Path(source).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise SchemaError(f"{place}: the file is not UTF-8 text.") from None
        except OSError as error:
            raise SchemaError(f"{place}: the file can't be read ({error.strerror}).") from None
        released = released or _is_of_release(Path(source))
    try:
        facts = edited(tomllib.loads(text))
        return read_facts(facts, make, CodeLists(None) if released else lists, exact=released)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{place}: not valid TOML: {error}.") from None
    except SchemaError as error:
        raise type(error)(f"{place}: {error}") from None


def _is_of_release(path: Path) -> bool:
    """Whether the file is the schema that a release keeps in its folder, to the letter: the receipt there says so."""
    try:
        receipt = json.loads(path.with_name("receipt.json").read_text(encoding="utf-8"))
        said = receipt["schema_sha256"] if path.name == "schema.toml" else ""
        return bool(said == hashlib.sha256(path.read_bytes()).hexdigest())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_facts(facts: Mapping[str, Any], make: Callable[..., Made], lists: CodeLists, *, exact: bool) -> Made:
    """What `make`, a `Schema`, makes of a parsed document.

    Args:
        facts: the document.
        make: gets the parts.
        lists: reads the lists that columns name.
        exact: whether names of columns are meant as they stand.
    """
    for key in facts:
        if key not in _TOP:
            raise SchemaError(f"unknown key `{key}`.{did_you_mean(key, _TOP)}")
    tables = facts.get("columns")
    if not isinstance(tables, dict) or not tables:
        raise SchemaError("there must be one table `[columns.NAME]` for each column.")
    released = exact
    exact = _checked("", "exact_names", facts.get("exact_names", False), FLAG) or exact
    sign = (
        {"decimal_char": _checked("", "decimal_char", facts["decimal_char"], DECIMAL_CHAR)}
        if "decimal_char" in facts
        else {}
    )
    items: list[Item] = []
    confirm: list[Unconfirmed] = []
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise SchemaError(f"column {name!r} must be a table, `[columns.{name}]`; found {table!r}.")
        if _checked(name, "confirm", table.get("confirm", False), FLAG):
            confirm.append(Unconfirmed(name, _open_facts(table)))
        else:
            column = read_column(name, with_sign(table, sign), lists, released=released)
            items.append(Pattern(column) if is_pattern(name) and not exact else column)
    derived = _tables(facts, "derived")
    if not confirm:  # a draft has columns that are not declared yet, which these may follow
        items = placed(
            items, [(read_derived(i, with_sign(one, sign), lists), after_of(one)) for i, one in enumerate(derived, 1)]
        )
    return make(
        tuple(item for item in items if not isinstance(item, Pattern)),
        tuple(_rule(i, table) for i, table in enumerate(_tables(facts, "rules"), 1)),
        _checked("", "name", facts.get("name", ""), TEXT),
        zeros=tuple(_zeros(i, table) for i, table in enumerate(_tables(facts, "zeros"), 1)),
        ignore=tuple(_checked("", "ignore", facts.get("ignore", []), TEXTS)),
        confirm=tuple(confirm),
        patterns=_patterns(items),
        bought=Bought.of_facts(facts["bought"]) if "bought" in facts else None,
        files=tuple(dict.fromkeys(lists.read)),
        as_released=released,
        encoding=_checked("", "encoding", facts.get("encoding", UTF_8), TEXT),
    )


def with_sign(table: Mapping[str, Any], sign: Mapping[str, str]) -> Mapping[str, Any]:
    """The table of a column, with the decimal sign that the document states for all of its numbers."""
    return {**sign, **table} if table.get("kind") in ("integer", "real") else table


def _patterns(items: Sequence[Item]) -> tuple[Pattern, ...]:
    """The patterns among the columns, each with the number of columns before it."""
    before = accumulate((not isinstance(item, Pattern) for item in items), initial=0)
    return tuple(replace(item, place=n) for item, n in zip(items, before, strict=False) if isinstance(item, Pattern))


def _open_facts(table: Mapping[str, Any]) -> tuple[str, ...]:
    """What is still to be said about a column of a draft."""
    return unsaid_facts(table) or (f"`kind = {table['kind']!r}` and everything below it must be true of every record",)


def unsaid_facts(table: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each fact without which the table of a column can't be read."""
    kind = table.get("kind", UNKNOWN)
    if kind not in KINDS:
        return (f"`kind` must be one of {', '.join(KINDS)}",)
    _, keys, required = KINDS[kind]
    unsaid = [key for key in keys if key in required and table.get(key, UNKNOWN) in (UNKNOWN, [])]
    unsaid = [key for key in unsaid if f"{key}_from" not in table]
    unsaid += [key for key in table if key not in required and table[key] == UNKNOWN]
    return tuple(f"`{key}` must be {keys[key].words if key in keys else 'known'}" for key in unsaid)


def read_column(
    name: str, table: Mapping[str, Any], lists: CodeLists, *, released: bool = False
) -> Column | Identifier:
    """The column that a table of the document states.

    Args:
        name: of the column.
        table: its facts.
        lists: reads those that it names.
        released: whether it is of a release, which says all but what every version takes where nothing is said.
    """
    kind = str(table.get("kind", ""))
    if kind not in KINDS:
        hint = closest(kind, KINDS)
        raise SchemaError(f"column {name!r}: `kind` must be one of {', '.join(KINDS)}; found {kind!r}.{hint}")
    make, keys, required = KINDS[kind]
    listing = LIST_KEYS if make is Categorical else ()
    for key in table:
        if key == "decimal_char" and make is Categorical:
            raise SchemaError(
                f"column {name!r} ({kind}): categories have no `decimal_char`: list them as the table writes "
                'them, such as "1,5", which is how they come back.'
            )
        if key not in keys and key not in listing:
            raise SchemaError(f"column {name!r} ({kind}): unknown key `{key}`.{did_you_mean(key, [*keys, *listing])}")
    if listing:
        table = in_full(f"column {name!r} ({kind}): ", table, lists)
    said = {
        key: _checked(f"column {name!r} ({kind}): ", key, value, keys[key])
        for key, value in table.items()
        if key not in _COMMON
    }
    _refuse_none(f"column {name!r} ({kind}): ", said)
    if said.get("edges"):
        implied = {"lower": said["edges"][0]} | ({"upper": said["edges"][-1]} if make is Real else {})
        said = implied | said
    for key in required:
        if key not in said:
            raise SchemaError(f"column {name!r} ({kind}) needs `{key}`: {keys[key].words}.")
    if make is Datetime:
        said = {key: _moments(value) for key, value in said.items()}
    if make is Date and released and not {"resolution", "bins", "edges"} & said.keys():
        said["by_the_day"] = (said["upper"] - said["lower"]).days >= MANY_NUMBERS
    return make(name, **{key: _frozen(value) for key, value in said.items()})


def _frozen(value: Any) -> Any:
    """Lists as tuples, tables as tuples of pairs."""
    if isinstance(value, dict):
        return tuple((key, _frozen(item)) for key, item in value.items())
    return tuple(value) if isinstance(value, list) else value


def _refuse_none(place: str, said: Mapping[str, Any]) -> None:
    """Refuses what would be the same as leaving a key out: whoever writes `bins = 0` means something else."""
    for key in ("bins", "step", "digits", "resolution", "edges", "format", "zone", "unit"):
        value = said.get(key)
        if value is not None and (not value or (_is_number(value) and value < 0)):
            expected = "above 0" if _is_number(value) else "something"
            raise SchemaError(f"{place}`{key}` must be {expected}; found {value!r}. Leave it out to have none.")


def _moments(value: Any) -> Any:
    """TOML may give a date where a datetime is meant: midnight."""
    if isinstance(value, list):
        return [_moments(item) for item in value]
    return datetime(value.year, value.month, value.day) if _is_day(value) else value


def _checked(place: str, key: str, value: Any, fact: Fact) -> Any:
    if not fact.fits(value):
        owner = place if place.endswith(" ") or not place else f"column {place!r}: "
        words = " Words that stand for a missing value go into `missing_values`." if key == "missing" else ""
        raise SchemaError(f"{owner}`{key}` must be {fact.words}; found {value!r}.{words}")
    return value


def _tables(facts: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = facts.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SchemaError(f"`{key}` must be written as tables, `[[{key}]]`.")
    return tables


def _rule(position: int, table: Mapping[str, Any]) -> Rule:
    keys = set(table) - {"description"}
    for key in keys:
        _checked(f"rule {position}: ", key, table[key], TEXT)
    if keys == {"require"}:
        return Rule(table["require"])
    if keys == {"if", "then"}:
        return Rule(table["then"], table["if"])
    raise SchemaError(
        f"rule {position} must have either `require`, or `if` and `then`; found {', '.join(sorted(keys)) or 'nothing'}."
    )


def _zeros(position: int, table: Mapping[str, Any]) -> Zeros:
    place = f"zeros {position}: "
    if set(table) - {"description"} != {"columns", "values"}:
        raise SchemaError(f"{place}there must be `columns` and `values`; found {', '.join(table) or 'nothing'}.")
    columns = _checked(place, "columns", table["columns"], TEXTS)
    pairs = _checked(place, "values", table["values"], Fact('a list such as [["a", 1]]', _list_of(_is_list)))
    return Zeros(tuple(columns), tuple(map(tuple, pairs)))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)
