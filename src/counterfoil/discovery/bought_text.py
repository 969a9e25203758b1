"""A schema as a document, made of bought answers: TOML that is used as it stands, and says where each fact is from."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from counterfoil.discovery.bought_bounds import NEGATIVES
from counterfoil.discovery.bought_categories import boolean_words
from counterfoil.discovery.bought_columns import bought_column, precautions_of
from counterfoil.discovery.bought_facts import NO_KIND, NOT_ASKED, BoughtColumn
from counterfoil.discovery.bought_lengths import BoughtLength, bought_lengths
from counterfoil.inert import inert_toml
from counterfoil.schema.bought import Bought
from counterfoil.schema.discovered import Discovered, DiscoveredColumn, FoundSign, Kind
from counterfoil.schema.drafting import may_name_somebody
from counterfoil.schema.partial import NOTHING, Partial
from counterfoil.schema.patterns import is_pattern
from counterfoil.schema.precautions import digests
from counterfoil.schema.raw_cell import is_missing_word
from counterfoil.schema.scale import MANY_NUMBERS
from counterfoil.schema.storage_words import stored_as_nothing
from counterfoil.schema.toml import UNKNOWN
from counterfoil.schema.toml_text import toml_key, toml_value

_HEAD = """\
# What is marked "bought" is made of noisy answers about the table. They were paid for, as the line `bought` says, and
# this adds to the cost of every release. It can be used as it stands. Where you know more from public knowledge, a
# form or a code book, correct it; leave the line `bought` as it is. Ranges in parentheses, and what is "up to", are
# those of 95% intervals.
"""
_HEAD_OF_A_SHARE = """\
# What is marked "bought" is made of noisy answers about the table. They were paid for, as the line `bought` says, with
# a share of a budget whose rest one release may spend (`synth --rest`, in Python `rest=True`). It can be used as it
# stands. Where you know more from public knowledge, a form or a code book, correct it; leave the line `bought` as it
# is. Ranges in parentheses, and what is "up to", are those of 95% intervals.
"""

_DRAFT = """\
#
# Too little can be distinguished from the noise. State each column by hand and delete its line `confirm = true`, or
# spend more.
"""
_TO_CONFIRM = """\
#
# But columns with a line `confirm = true` must be looked at first: delete it, or correct their bounds and delete it.
"""
_IN_CELLS = """\
#
# Where numbers share codes, up to 32 that surely stand out have one each, in `points`. All others come back as often as
# the ones beside them: also those of fewer rows than the noise hides, and those that were not tried, such as 19.99.
"""
_NEGATIVES = """\
#
# Of negative numbers beside others, such as refunds among amounts, so many would not have shown as the comment on
# `lower` says. Where a column may have some, state a lower bound: they count as the one that is there.
"""
_READ_AS_TEXTS = """\
#
# Texts to these questions are also numbers in another notation than plain digits, or than that of `decimal_char`: give
# these a table with `kind`, bounds and `decimal_char`, and take them out of `ignore`. So are moments that are not
# written as 2020-01-31 23:59:59 (also with Z or +01:00 behind it), 31.01.2020 23:59 or 1/31/2020 11:59 PM: give these
# a table with `kind`, bounds and `format`. Numbers with signs such as % or € are read where `unit` names the sign.
"""
_WIDTH = 118
_LONGEST_NAME = 80
"""Characters of a column's name in a comment."""


def schema_of(
    discovered: Discovered,
    bought: Bought,
    *,
    name: str = "",
    columns: Sequence[str] = (),
    types: Mapping[str, pa.DataType] | None = None,
    partial: Partial = NOTHING,
    unit: str = "",
) -> str:
    """TOML text that `Schema.from_toml` reads, and in which each value of a column's kind has a place.

    Columns of which nothing can be made, texts that are too various for one, are left out, with a comment on what was
    seen. Where that leaves no column, or the noise hides what all rows share or most of the columns, all are, with
    `confirm = true`: what seems to show is noise then, and little of the table would be in a copy.

    Args:
        discovered: the answers.
        bought: what they cost.
        name: of the table.
        columns: all columns of the table, in its order; those of the answers where there are none.
        types: the types of columns in a storage that has them.
        partial: what its user stated by hand, which is kept word for word.
        unit: the column of the privacy unit, or nothing.
    """
    storage = types or {}
    made = {
        column.name: bought_column(column, stated=partial.columns.get(column.name), storage=storage.get(column.name))
        for column in _with_missing_words(_with_words(discovered.columns), storage)
    }
    order = list(columns) or [column.name for column in discovered.columns]
    enclosed = any(map(partial.encloses, ("derived", "rules")))
    lengths = {} if enclosed else bought_lengths(discovered, made, {*order, *partial.names}, partial.blocks)
    if _is_drowned(discovered, made) and not partial.synthesizes:
        made, lengths = {one: BoughtColumn(one, {}) for one in made}, {}
    usable = partial.synthesizes or any(column.facts for column in made.values())
    known = {*made, *partial.blocks, unit}
    made |= {one: _unasked(one, storage.get(one)) for one in order if one not in known and not partial.covers(one)}
    ignored = [] if partial.says("ignore") or not usable else [one for one in made if _is_ignored(made[one], partial)]
    left_out = [one for one in discovered.columns if one.name in ignored]
    made |= {
        one: _left_open(made[one], left.kind)
        for one, left in partial.open.items()
        if one in made and not made[one].facts
    }
    asks = _TO_CONFIRM if any("confirm" in column.facts for column in made.values()) else ""
    head = [
        (_HEAD if bought.whole is None else _HEAD_OF_A_SHARE)
        + (asks if usable else _DRAFT)
        + _noise(discovered)
        + _used(bought)
        + (_IN_CELLS if usable and any(_is_cut(one.kind, made[one.name]) for one in discovered.columns) else "")
        + (_NEGATIVES if usable and any(NEGATIVES in _why(one, "lower") for one in made.values()) else "")
        + (_READ_AS_TEXTS if not storage and any(one.kind == "text" for one in left_out) else ""),
        _top(
            _with_places(bought, discovered, made, lengths, ignored),
            discovered.signs,
            partial,
            name,
            order,
            made,
            ignored,
        ),
    ]
    parts = []
    for column in order:
        if column in made and usable and column in ignored:
            continue
        if column in lengths:
            parts.append(_of_length(lengths[column]))
        elif column in partial.blocks:
            added = _lines(made[column]) if column in made else ""
            parts.append(partial.block(column, added))
        elif column in made:
            parts.append(_table(made[column]) if usable else _question(column))
        elif column == unit and not partial.covers(column):
            parts.append(_UNIT.format(header=_header(column)))
    return "\n".join(part.rstrip("\n") + "\n" for part in [*head, *parts, *partial.others] if part.strip())


def _with_places(
    bought: Bought,
    discovered: Discovered,
    made: Mapping[str, BoughtColumn],
    lengths: Mapping[str, BoughtLength],
    ignored: Sequence[str],
) -> Bought:
    """What it cost, with the places of its columns that are there by precaution."""
    answers = {column.name: column for column in discovered.columns}
    found = [
        digests(name, precautions_of(answers[name], one) if name in answers else _UNASKED.intersection(one.facts))
        for name, one in made.items()
        if name not in ignored and name not in lengths
    ]
    found += [digests(one.made.name, precautions_of(one.column, one.made)) for one in lengths.values()]
    return replace(bought, places="".join(found))


_UNASKED = frozenset(("missing",))
"""Places by precaution of a column that its storage describes."""


def _left_open(made: BoughtColumn, kind: Kind | None) -> BoughtColumn:
    """A column of which its user stated the kind alone, and of which nothing more was found."""
    signs = ", with `decimal_char` and `unit` where they have some," if kind in ("integer", "real") else ""
    why = f"bought: {made.seen or NO_KIND}; state what is missing{signs} and delete this line"
    return BoughtColumn(made.name, {"confirm": (True, why)}, made.seen)


def _why(made: BoughtColumn, key: str) -> str:
    return made.facts[key][1] if key in made.facts else ""


def _is_cut(kind: Kind, made: BoughtColumn) -> bool:
    """Whether it is a column of numbers that share codes."""
    if not made.facts or "values" in made.facts or kind not in ("integer", "real"):
        return False
    lower, upper = (made.facts.get(key, (0, ""))[0] for key in ("lower", "upper"))
    return kind == "real" or bool(upper - lower >= MANY_NUMBERS)


def _is_drowned(discovered: Discovered, made: Mapping[str, BoughtColumn]) -> bool:
    """Whether the noise hides what all rows share, or most of the columns that were asked about."""
    hidden = sum(made[column.name].is_hidden for column in discovered.columns)
    return 2 * hidden > len(made) or (discovered.need is not None and discovered.need.drowned)


def _noise(discovered: Discovered) -> str:
    """How many rows the noise hides, as a comment."""
    return "" if discovered.need is None else _comment(discovered.need.sentence())


def _used(bought: Bought) -> str:
    """Of which rows all is said, where a person may have more than were used, as a comment."""
    if bought.unit is None:
        return ""
    said = (
        f"Rows and cells are those that were used, at most {bought.unit.max_rows:,} of each "
        f"{bought.unit.column[:_LONGEST_NAME]!r}: where somebody has more, more may lie beyond bounds and lists."
    )
    return inert_toml(_comment(said))


def _comment(sentence: str) -> str:
    """Lines of a comment of their own."""
    lines = textwrap.wrap(sentence, _WIDTH, break_on_hyphens=False)
    return "#\n" + "".join(f"# {line}\n" for line in lines)


def _unasked(column: str, storage: pa.DataType | None) -> BoughtColumn:
    """A column about which nothing had to be asked, or could be: its storage says all."""
    if storage is not None and pa.types.is_boolean(storage):
        return BoughtColumn(column, {"kind": ("boolean", "the type in storage"), "missing": (True, NOT_ASKED)})
    return BoughtColumn(column, {}, stored_as_nothing([] if storage is None else [storage]))


_UNIT = '{header}\nkind = "identifier"  # the privacy unit, whose values are never asked about\nreplace = "sequence"\n'


def _with_words(columns: Sequence[DiscoveredColumn]) -> list[DiscoveredColumn]:
    """The answers, where booleans that a vote found and of which no word is frequent have the words of the others.

    Each word is read whatever these say; they are how values come back.
    """
    known = {boolean_words(column) for column in columns if column.kind == "boolean"} - {None}
    pair = known.pop() if len(known) == 1 else None
    if pair is None:
        return list(columns)
    words = tuple((str(word), 0) for word in pair)
    return [
        replace(column, categories=words)
        if column.kind == "boolean" and column.votes and not column.categories
        else column
        for column in columns
    ]


def _with_missing_words(
    columns: Sequence[DiscoveredColumn], storage: Mapping[str, pa.DataType]
) -> Iterator[DiscoveredColumn]:
    """The answers, where columns have the words for missing that others of their table surely have, which is released.

    The vote counts empty cells and such words together, so that nothing says how numbers write it, and few of a
    column's texts show. Where columns have different words, or surely empty cells, none is how missing numbers are
    likely written: these are empty cells then. So they are where the word is that of a form, n/a, which is about one
    question: a program that reads numbers takes empty cells, and not words. The missing cells of texts of which no word
    shows are written likewise. Columns of other types than texts have no words.
    """
    known = [tuple(filter(is_missing_word, filter(None, column.missing_words))) for column in columns]
    counts = Counter(word for words in known for word in words)
    words = tuple(word for word, _ in counts.most_common())
    alike = len({*known} - {()}) == 1 and not any("" in column.missing_words for column in columns)
    alike &= not any(word.casefold() in _OF_FORMS for word in words)
    empty = () if alike else ("",)
    for column in columns:
        if words and (column.kind == "text" or column.name not in storage):
            yield replace(column, shared_words=(*(() if any(column.missing_words) else empty), *words))
        else:
            yield column


_OF_FORMS = frozenset(("n/a", "n.a.", "k.a.", "k. a."))
"""Words for missing, in small letters, that people write and programs do not."""


def _is_ignored(made: BoughtColumn, partial: Partial) -> bool:
    return not made.facts and not may_name_somebody(made.name) and made.name not in partial.blocks


def _top(
    bought: Bought,
    signs: FoundSign | None,
    partial: Partial,
    name: str,
    order: Sequence[str],
    made: Mapping[str, BoughtColumn],
    ignored: Sequence[str],
) -> str:
    """What stands above the first table, of ours and of the user's."""
    lines = [] if partial.says("name") or not name else [f"name = {toml_value(name)}"]
    lines.append(f"bought = {toml_value(bought.facts())}")
    if signs is not None and signs.sign:
        lines.append(f"decimal_char = {toml_value(signs.sign)}  # {signs.said()}")
    if any(map(is_pattern, order)) and not partial.says("exact_names") and not partial.patterns:
        lines.append("exact_names = true")
    lines += [f"# {_in_comment(column)}: {made[column].seen}." for column in ignored]
    lines += [f"ignore = {toml_value(list(ignored))}  # proposed, for what was seen"] if ignored else []
    return inert_toml("\n".join(lines) + "\n") + partial.top


def _in_comment(column: str) -> str:
    """A column's name between quotes, which end no comment, cut where it is long."""
    return toml_value(column if len(column) <= _LONGEST_NAME else f"{column[: _LONGEST_NAME - 3]}...")


def _header(column: str) -> str:
    return f"[columns.{toml_key(column)}]"


def _of_length(bought: BoughtLength) -> str:
    """What lies between two dates, and the later one."""
    return f"{inert_toml(_header(bought.made.name))}\n{_lines(bought.made)}\n{bought.derived}"


def _table(made: BoughtColumn) -> str:
    if made.facts:
        head = inert_toml(f"{_header(made.name)}\n")
        return head + _lines(made) + (inert_toml(_ASK) if may_name_somebody(made.name) else "")
    return inert_toml(f'{_header(made.name)}\n# {made.seen}.\nkind = "identifier"  # proposed\nreplace = "drop"\n')


_ASK = '# Its name may be that of an identifier. If it is one: kind = "identifier" and replace, and nothing else.\n'


def _lines(made: BoughtColumn) -> str:
    return inert_toml("".join(f"{key} = {toml_value(value)}  # {why}\n" for key, (value, why) in made.facts.items()))


def _question(column: str) -> str:
    return inert_toml(f"{_header(column)}\nconfirm = true\nkind = {toml_value(UNKNOWN)}\n")
