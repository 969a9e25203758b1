"""A schema of which only some facts are stated: what a user knows already, so that it need not be bought."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfoil.kept_files import KeptFile, same_place
from counterfoil.schema.clock import CLOCK_FORMATS
from counterfoil.schema.code_lists import CodeLists
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.discovered import Kind
from counterfoil.schema.encoding import UTF_8, encoding_named
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.header import hint_of_names
from counterfoil.schema.notation import of_python, text_of
from counterfoil.schema.office_moments import DAY_FORMATS, MOMENT_FORMATS
from counterfoil.schema.patterns import is_pattern, matches
from counterfoil.schema.raw_cell import CLASSES, DATE_FORMATS, cell_of
from counterfoil.schema.schema import Schema
from counterfoil.schema.stated import Stated
from counterfoil.schema.toml import KINDS, UNKNOWN, read_column, read_facts, require_path_or_text
from counterfoil.schema.toml_text import toml_value
from counterfoil.schema.zoned_moments import ZONED, ZONED_DAYS

_KINDS: Mapping[str, Kind] = {
    "categorical": "text",
    "boolean": "boolean",
    "integer": "integer",
    "real": "real",
    "date": "date",
    "datetime": "datetime",
}
_ALONE: Mapping[str, frozenset[str]] = {
    "categorical": frozenset({"missing", "missing_values", "other"}),
    "integer": frozenset({"missing", "scale", "decimal_char", "unit"}),
    "real": frozenset({"missing", "scale", "decimals", "decimal_char", "unit"}),
    "date": frozenset({"missing", "format", "zone", "resolution"}),
    "datetime": frozenset({"missing", "format", "zone", "resolution"}),
}
"""What may be stated while bounds, or categories, are bought: it goes with any of them."""

_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "categorical": {"values": ["a"]},
    "integer": {"lower": 0, "upper": 1},
    "real": {"lower": 0, "upper": 1000},
    "date": {"lower": date(2000, 1, 1), "upper": date(2020, 12, 31)},
    "datetime": {"lower": datetime(2000, 1, 1), "upper": datetime(2020, 12, 31)},
}
"""Facts with which a table that is not complete is tried before anything is bought."""


@dataclass(frozen=True)
class Partial:
    """What a user stated by hand, and the words of it.

    Args:
        facts: the whole document.
        top: the text above the first table.
        blocks: by column, the text of its tables.
        others: the texts of all other tables: patterns, columns between two dates that the table has not, rules, zeros,
            derived columns.
        open: by column, what its table leaves open; complete ones are not among them.
        files: the lists that it reads.
        folder: from which these are named; None for a text, which names none.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    top: str = ""
    blocks: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    open: Mapping[str, Stated] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    folder: Path | None = None

    @property
    def columns(self) -> Mapping[str, Mapping[str, Any]]:
        """The stated facts, by column."""
        return self.facts.get("columns", {})

    def says(self, key: str) -> bool:
        """Whether it has this key above the first table."""
        return key in self.facts

    def encloses(self, key: str) -> bool:
        """Whether all tables of this name stand between brackets above the first table, so that none can follow."""
        return key in tomllib.loads(self.top)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names of its columns that stand for many."""
        return () if self.facts.get("exact_names") else tuple(filter(is_pattern, self.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns that it declares, also those that the table lacks."""
        return (*self.columns, *(str(one.get("name")) for one in self.facts.get("derived", ())))

    def covers(self, column: str) -> bool:
        """Whether nothing has to be asked about a column: all is stated, or it is left out or derived."""
        derived = (one.get("name") for one in self.facts.get("derived", ()))
        complete = column in self.columns and column not in self.open
        matched = column not in self.open and any(matches(pattern, column) for pattern in self.patterns)
        return complete or matched or column in self.facts.get("ignore", ()) or column in derived

    @property
    def synthesizes(self) -> bool:
        """Whether it states a column with codes in full."""
        return any(name not in self.open and table.get("kind") != "identifier" for name, table in self.columns.items())

    def stated(self, names: Iterable[str]) -> dict[str, Stated]:
        """For each column of the table, what is not to be asked; those of which nothing is known are left out."""
        known = {name: Stated(ignored=True) for name in names if self.covers(name)}
        opened = {name: one for name, one in self.open.items() if name not in known}
        if not self.decimal_char:
            return known | opened
        others = {name: Stated() for name in names if name not in known} | opened
        return known | {
            name: replace(one, decimal_char=one.decimal_char or self.decimal_char) for name, one in others.items()
        }

    @property
    def decimal_char(self) -> str:
        """That of all columns whose table states none; empty for plain digits with an optional point."""
        return str(self.facts.get("decimal_char", ""))

    def with_decimal_char(self, sign: str) -> Partial:
        """The same with the decimal sign of the file's numbers.

        Raises:
            SchemaError: for no such sign, and where another one is stated.
        """
        if sign not in DECIMAL_CHARS:
            raise SchemaError(f"The decimal sign must be a comma or a point. Found {sign!r}.")
        if self.decimal_char == sign:
            return self
        if self.decimal_char:
            raise SchemaError(
                f"The decimal sign must be stated once. Found {sign!r} beside `decimal_char = "
                f"{toml_value(self.decimal_char)}` in the stated facts."
            )
        facts, top = (
            {"decimal_char": sign, **self.facts},
            f"decimal_char = {toml_value(sign)}  # stated: of all numbers below\n{self.top}",
        )
        return replace(self, facts=facts, top=top)

    @property
    def encoding(self) -> str:
        """Of the CSV file."""
        return encoding_named(str(self.facts.get("encoding", UTF_8)))

    def with_encoding(self, encoding: str) -> Partial:
        """The same with the encoding of the file; as it is where it says that already.

        Raises:
            SchemaError: for no such encoding.
        """
        name = encoding_named(encoding)
        if name == self.encoding:
            return self
        facts, top = {"encoding": name, **self.facts}, f"encoding = {toml_value(name)}  # stated\n{self.top}"
        return replace(self, facts=facts, top=top)

    def block(self, column: str, added: str) -> str:
        """The words about a column, followed by what was bought about it."""
        own = self.blocks[column].rstrip("\n")
        return f"{own}\n{added}" if added else f"{own}\n"


NOTHING = Partial()


def encoding_of(source: str | Path | None, stated: str | None) -> str:
    """The encoding of the file that stated facts are about, which is needed before its columns are known.

    Args:
        source: the path of a TOML file, or TOML text; None where nothing is stated in one.
        stated: the same beside it, or None.

    Raises:
        SchemaError: for no such encoding, and where both say another one. Other mistakes are for `read_partial` to say.
    """
    given = UTF_8 if stated is None else encoding_named(stated)
    if source is None:
        return given
    try:
        facts = tomllib.loads(_read(source, ())[0])
    except (SchemaError, tomllib.TOMLDecodeError):
        return given
    if not isinstance(said := facts.get("encoding"), str):
        return given
    if stated is not None and encoding_named(said) != given:
        raise SchemaError(f"The encoding must be stated once. Found {stated!r} beside `encoding = {toml_value(said)}`.")
    return encoding_named(said)


def read_partial(source: str | Path, names: Sequence[str], *, sensitive: Sequence[KeptFile] = ()) -> Partial:
    """What is stated by hand about the columns of a table; whatever can be wrong with it is said before a purchase.

    Args:
        source: the path of a TOML file, or TOML text.
        names: of the table's columns, in its order.
        sensitive: the files of the table: none of them can be `source`, or a list that it names.

    Raises:
        SchemaError: in a sentence that names the file, the column and the key.
    """
    place = "The stated facts" if _is_text(source) else f"The stated facts {source}"
    try:
        text, lists = _read(source, sensitive)
        facts = tomllib.loads(text)
        if "bought" in facts:
            raise SchemaError(
                "`bought` is what a schema cost that was bought already. Edit that schema, or state facts that were "
                "not bought."
            )
        made = _partial(text, facts, names, lists)
        return made if _is_text(source) else replace(made, folder=Path(source).absolute().parent)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{place}: not valid TOML: {error}.") from None
    except SchemaError as error:
        raise SchemaError(f"{place}: {error}") from None


def _is_text(source: str | Path) -> bool:
    return isinstance(source, str) and ("\n" in source or "=" in source)


def _read(source: str | Path, sensitive: Sequence[KeptFile]) -> tuple[str, CodeLists]:
    require_path_or_text(source, "`stated`")
    if _is_text(source):
        return str(source), CodeLists(None)
    if any(same_place(Path(source), kept.path) for kept in sensitive):
        raise SchemaError("it must be public. Found the sensitive table: give a file of facts.")
    try:
        text = Path(source).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError("the file is not UTF-8 text.") from None
    except OSError as error:
        raise SchemaError(f"the file can't be read ({error.strerror}).") from None
    return text, CodeLists(Path(source).absolute().parent, sensitive)


def _partial(text: str, facts: Mapping[str, Any], names: Sequence[str], lists: CodeLists) -> Partial:
    columns = facts.get("columns", {})
    if not isinstance(columns, dict) or not all(isinstance(table, dict) for table in columns.values()):
        raise SchemaError("columns must be written as tables, `[columns.NAME]`.")
    exact = facts.get("exact_names") is True
    opened = {}
    for name, table in columns.items():
        pattern = is_pattern(name) and not exact and name not in names
        if not pattern and name not in names and "between" not in table:
            raise SchemaError(f"the table has no column {name!r}.{hint_of_names(name, names)}")
        _require_ends(name, table, names)
        if (left := _left_open(name, table, lists)) is not None:
            if pattern:
                raise SchemaError(f"the pattern {name!r} must say all about its columns: nothing of it can be bought.")
            opened[name] = left
    _require_sound(facts, opened, names, lists)
    top, blocks, others = _split(text, columns)
    own = {name: block for name, block in blocks.items() if name in names}
    further = tuple(block for name, block in blocks.items() if name not in names)
    return Partial(facts, top, own, (*further, *others), opened, tuple(dict.fromkeys(lists.read)))


def _require_ends(name: str, table: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuses what is computed between columns that the table has not: no release could read it."""
    ends = table.get("between", ())
    for end in ends if isinstance(ends, list) else ():
        if isinstance(end, str) and end not in names:
            raise SchemaError(
                f"column {name!r}: `between` must name columns of the table. Found {end!r}.{hint_of_names(end, names)}"
            )


def _left_open(name: str, table: Mapping[str, Any], lists: CodeLists) -> Stated | None:
    """What a column's table leaves open; None where it is complete."""
    kind = table.get("kind", UNKNOWN)
    if table.get("confirm") or kind == UNKNOWN:
        raise SchemaError(
            f"column {name!r} must have its `kind`, and no `confirm`. Found a draft: say what is true of it, or delete "
            "its table, and it is bought."
        )
    if kind not in KINDS:
        read_column(name, table, lists)  # says what is wrong
    _, _, required = KINDS[kind]
    unsaid = [key for key in required if key not in table and f"{key}_from" not in table]
    if not unsaid or "edges" in table:
        return None
    if "between" in table:
        raise SchemaError(
            f"column {name!r} ({kind}): bounds of what is computed `between` two columns can't be bought. State "
            f"`{unsaid[0]}` too."
        )
    for key in table:
        if key not in (*required, "kind", "description", *_ALONE[kind]):
            raise SchemaError(
                f"column {name!r} ({kind}): `{key}` goes with `{unsaid[0]}`. State `{unsaid[0]}` too, or leave `{key}` "
                f"out, and `{unsaid[0]}` is bought.{'' if key in KINDS[kind][1] else did_you_mean(key, KINDS[kind][1])}"
            )
    if kind == "datetime" and of_python(str(table.get("format", ""))) in CLOCK_FORMATS:
        raise SchemaError(
            f"column {name!r} (datetime): bounds of times of day are public. State lower = 1900-01-01T00:00:00, upper "
            '= 1900-01-01T23:59:59 and a `resolution`, such as "15min".'
        )
    example = {key: value for key, value in _EXAMPLES[kind].items() if key in unsaid}
    if kind in ("date", "datetime") and "resolution" not in table:
        example["resolution"] = "1d"  # which bounds, and so which bins, there will be, nobody knows yet
    read_column(name, _ordered(dict(table), example, required), lists)
    sign, unit = (str(table.get(key, "")) for key in ("decimal_char", "unit"))
    return Stated(_KINDS[kind], decimal_char=sign, unit=unit)


def require_bounds_can_be_bought(partial: Partial, types: Mapping[str, pa.DataType]) -> None:
    """Refuses a `format` in which no date is found, so that no bounds could be bought.

    Args:
        partial: what is stated.
        types: of the columns, where the storage has types: dates that are stored as such need no notation.

    Raises:
        SchemaError: which names the column.
    """
    for name, left in partial.open.items():
        written = partial.columns[name].get("format", "")
        kind = types.get(name, pa.string())
        if (
            written
            and not (pa.types.is_date(kind) or pa.types.is_timestamp(kind))
            and not _is_found(written, left.kind)
        ):
            raise SchemaError(
                f"The stated facts: column {name!r} ({left.kind}): bounds of what is written as {written!r} can't be "
                f"bought{_for_days(written, left.kind)}, for dates are found that are written like 2020-01-31, "
                "31.01.2020 or 01/31/2020, and moments like 2020-01-31 23:59:59, 2020-01-31T23:59:59Z, 31.01.2020 "
                "23:59 or 1/31/2020 11:59 PM. State `lower` and `upper` too, and nothing of it is bought."
            )


def _for_days(written: str, kind: Kind | None) -> str:
    """What states days at midnight in a notation of moments that is found; empty for another."""
    if kind != "date" or not _is_found(written, "datetime"):
        return ""
    midnight = DAY_FORMATS.get(of_python(written))
    return f', unless it says the beginning of the day, format = "{midnight}"' if midnight else ""


def _is_found(written: str, kind: Kind | None) -> bool:
    """Whether cells in that notation are told from texts (`raw_cell`), as dates or as moments."""
    code, _ = cell_of(text_of(_PROBE, written))
    days = (*DATE_FORMATS, *DAY_FORMATS.values(), ZONED, ZONED_DAYS)
    moments = ("datetime", "midnight", ZONED, *MOMENT_FORMATS)
    found = days if kind == "date" else moments
    return CLASSES[code] in found


_PROBE = datetime(2003, 11, 28, 13, 45, 59, tzinfo=UTC)


def _ordered(table: dict[str, Any], example: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """The table with an example of what it leaves open, the stated bound in order with it."""
    if "lower" in table and "upper" in example:
        example["upper"] = table["lower"] if _is_instant(table) else table["lower"] + 1
    if "upper" in table and "lower" in example:
        example["lower"] = table["upper"] if _is_instant(table) else table["upper"] - 1
    return table | example


def _is_instant(table: Mapping[str, Any]) -> bool:
    return table.get("kind") in ("date", "datetime")


def _require_sound(
    facts: Mapping[str, Any], opened: Mapping[str, Stated], names: Sequence[str], lists: CodeLists
) -> None:
    """Tries what is complete as a schema of its own, rules and all.

    Raises:
        SchemaError: for any mistake in it, and for a rule or a derived column that needs what is still to be bought.
    """
    complete = {name: table for name, table in facts.get("columns", {}).items() if name not in opened}
    if not any(table.get("kind") != "identifier" for table in complete.values()):
        for name, table in complete.items():
            read_column(name, table, lists)
        if given := [key for key in ("rules", "zeros", "derived") if facts.get(key)]:
            raise SchemaError(f"`{given[0]}` must be about columns that are stated in full. Found none.")
        complete = {"": {"kind": "boolean"}}  # a schema has a column; the keys above the tables are read all the same
    made = read_facts({**facts, "columns": complete}, Schema, lists, exact=False)
    for name in made.ignore:
        if name not in names:
            raise SchemaError(f"`ignore`: the table has no column {name!r}.{hint_of_names(name, names)}")
    made = made.resolved([name for name in names if name not in opened])
    _ = made.structural_zeros  # binds the rules to columns


def _split(text: str, columns: Mapping[str, Any]) -> tuple[str, dict[str, str], tuple[str, ...]]:
    """The text above the first table, that of each column, and those of other tables.

    Raises:
        SchemaError: where columns are written in another way than as tables of their own.
    """
    top, *blocks = _blocks(text)
    by_column: dict[str, str] = {}
    others: list[str] = []
    for block in blocks:
        inside = tomllib.loads(block).get("columns", {})
        named = list(inside) if isinstance(inside, dict) else []
        if len(named) == 1:
            by_column[named[0]] = by_column.get(named[0], "") + block
        else:
            others.append(block)
    if set(by_column) != set(columns) or "columns" in tomllib.loads(top):
        raise SchemaError("each column must be a table of its own, `[columns.NAME]`.")
    return top, by_column, tuple(others)


def _blocks(text: str) -> list[str]:
    """The text cut before each header of a table, and before the comments above it."""
    blocks: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("[") and _parses(line) and _parses("".join(blocks[-1])):
            start = len(blocks[-1])
            while start and blocks[-1][start - 1].lstrip().startswith("#"):
                start -= 1
            start = start if _parses("".join(blocks[-1][:start])) else len(blocks[-1])
            before = blocks[-1][start:]
            del blocks[-1][start:]
            blocks.append(before)
        blocks[-1].append(line)
    return ["".join(block) for block in blocks]


def _parses(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
