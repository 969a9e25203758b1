"""What `counterfoil schema --epsilon` prints of a schema that it bought."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.terminal import WIDTH, Terminal

if TYPE_CHECKING:
    from counterfoil.fidelity.bought_schema import BoughtSchema, SchemaPurchase

_MOST_NAMED = 4


def report(
    terminal: Terminal,
    made: BoughtSchema,
    purchase: SchemaPurchase,
    places: tuple[Path, Path],
    *,
    ledger: Path | None,
    following: str,
) -> None:
    """What was found with which noise, what it cost, and the next command.

    Args:
        terminal: where it is printed.
        made: the schema, with its receipt and what was found.
        purchase: what was asked for.
        places: of the schema and of its receipt.
        ledger: that counts the purchase, or None.
        following: the command that makes a release with this schema.
    """
    from counterfoil.cli.schema_table import findings
    from counterfoil.schema.toml import UNKNOWN

    budget, (out, receipt), need = purchase.budget, places, made.discovered.need
    tables = tomllib.loads(made.text).get("columns", {})
    terminal.document(_facts(made, purchase, places, ledger))
    of = "" if purchase.share == 1 else f"a share of {purchase.share:g} of "
    terminal.say(f"Bought a schema for {of}epsilon {budget.epsilon:g}, delta {budget.delta:g}, {purchase.relation}.")
    terminal.say(f"  schema   {out}")
    terminal.say(f"  receipt  {receipt}")
    terminal.say("")
    terminal.show(findings(made, purchase))
    for sentence in made.receipt.document["warnings"]:
        terminal.alarm(f"WARNING: {sentence}")
    if need is not None:
        say = terminal.say if need.epsilon is None else terminal.alarm
        say(textwrap.fill(need.sentence(), WIDTH))
    asked = [one.column for one in made.schema.confirm]
    if any(tables[name]["kind"] == UNKNOWN for name in asked):
        terminal.alarm("Too little can be told from the noise: state the columns by hand, or spend more.")
        return
    grouped = [one.name for one in made.discovered.columns if one.grouped and one.name in asked]
    if alone := [name for name in asked if name not in grouped]:
        terminal.alarm(f"To be confirmed in {out} first, where one number alone shows: {', '.join(alone)}.")
    if grouped:
        said = f"To be confirmed in {out} first, where points may part thousands, as in 1.234: {', '.join(grouped)}."
        terminal.alarm(textwrap.fill(said, WIDTH))
    for advice in (*_of_texts(made, tables, out), *_of_numbers(made, out), *_of_dates(made, out)):
        terminal.alarm(textwrap.fill(advice, WIDTH))
    for sentence in (*_of_lengths(made), *_of_public_lists(made, tables, out), *_of_the_budget(purchase, ledger)):
        terminal.say(textwrap.fill(sentence, WIDTH))
    terminal.say(f"{'Next, once that is confirmed' if asked else 'Next'}: {following}")


def _facts(made: BoughtSchema, purchase: SchemaPurchase, places: tuple[Path, Path], ledger: Path | None) -> dict:
    """The same for programs."""
    from counterfoil.cli.schema_file import facts_of

    (out, receipt), unit, need = places, purchase.unit, made.discovered.need
    return {
        **facts_of(made.text, out),
        "receipt": str(receipt),
        "epsilon": purchase.budget.epsilon,
        "delta": purchase.budget.delta,
        "share": purchase.share,
        "neighboring_relation": purchase.relation,
        "privacy_unit": None if unit is None else unit.column,
        "max_rows": None if unit is None else unit.max_rows,
        "protects": purchase.protects,
        "hidden": None if need is None else need.sentence(),
        "warnings": made.receipt.document["warnings"],
        "ledger": None if ledger is None else str(ledger),
    }


def _of_texts(made: BoughtSchema, tables: dict, out: Path) -> Iterator[str]:
    """On texts of which no column was made, and which may be numbers or moments."""
    from counterfoil.discovery.bought_categories import mostly, mostly_beyond

    if beside := [one.name for one in made.discovered.columns if one.name in tables and mostly_beyond(one)]:
        yield (
            f"Most cells of {_named(beside)} are numbers, dates or moments beside texts, and were bought as categories."
            " Many are none of these, and count as `other`. Where the texts mean missing, state kind and bounds in "
            f"{out} with missing = true."
        )
    left_out = [one for one in made.discovered.columns if one.kind == "text" and one.name not in tables]
    if mixed := [one.name for one in left_out if mostly(one)]:
        yield (
            f"No release will have {_named(mixed)}: numbers, dates or moments, and too many texts beside them. Where "
            f"these mean missing, state kind and bounds in {out} with missing = true, and `missing_values` where they "
            "shall come back as they are written, and take the columns out of `ignore`."
        )
    if various := [one.name for one in left_out if not mostly(one)]:
        yield (
            f"No release will have {_named(various)}: texts of which none is frequent. "
            "Numbers in another notation than plain digits, or than that of --decimal-char, count as texts, and so do "
            "moments that are not written as 2020-01-31 23:59:59. State kind and bounds, the `decimal_char` of such "
            f"numbers and the `format` of moments, in {out}, and take the columns out of `ignore`. Numbers with signs "
            "such as % or € are read where `unit` names the sign."
        )


def _voted(made: BoughtSchema) -> frozenset[str]:
    """The columns whose kind was asked for."""
    return frozenset(one.name for one in made.discovered.columns if one.votes)


def _named(columns: Sequence[str]) -> str:
    more = len(columns) - _MOST_NAMED
    return ", ".join(columns[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _of_numbers(made: BoughtSchema, out: Path) -> Iterator[str]:
    """On numbers that may be something else."""
    from counterfoil.discovery.bought_columns import as_texts
    from counterfoil.discovery.bought_numbers import ROOM_BESIDE_ZERO, may_be_rare, may_hide, may_number_rows
    from counterfoil.schema.categorical import Categorical
    from counterfoil.schema.integer import Integer
    from counterfoil.schema.written_numbers import are_written_numbers

    if numbered := [column.name for column in made.discovered.columns if may_number_rows(column)]:
        yield (
            f"About as many whole numbers as rows lie between the bounds of {', '.join(numbered)}. Where such a column "
            f'numbers the rows, write kind = "identifier" in {out} in place of its facts.'
        )
    top = ROOM_BESIDE_ZERO
    roomy = {one.name for one in made.schema.columns if isinstance(one, Integer) and one.upper == top}
    if rare := [one for one in made.discovered.columns if one.name in roomy and may_be_rare(one)]:
        named, most = _named([one.name for one in rare]), max(map(may_hide, rare))
        yield (
            f"0 alone shows of {named}. Up to {most:,.0f} cells may hold other numbers: rare flags and counts have "
            f"codes up to {top:g}, larger ones count as {top:g}, and fractions are rounded. State kind and bounds in "
            f"{out} where you know them."
        )
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
            "signs such as %. They have no order and no mean as texts, and rare ones count as `other`: where they are "
            f"numbers, state kind, bounds and `decimal_char` in {out}; those with signs such as % or € are read where "
            "`unit` names the sign."
        )
    if lumped := [one for one in made.discovered.columns if one.lumps and one.name not in listed]:
        texts = as_texts("," if any(one.decimal_char == "," for one in lumped) else "")
        yield (
            f"Nearly all numbers of {', '.join(one.name for one in lumped)} lie at a few places, far apart, as codes "
            f"do. Where they are codes, list them as the `values` of a categorical column{texts} in {out}: any number "
            "near them is drawn otherwise."
        )


def _of_public_lists(made: BoughtSchema, tables: dict, out: Path) -> Iterator[str]:
    """On categories that were taken from a list and not from records."""
    from counterfoil.discovery.bought_categories import public_names

    for column in made.discovered.columns:
        public, names = public_names(column)
        if names and set(names) <= set(tables[column.name].get("values", ())):
            yield (
                f"{column.name} also lists the {len(names)} other names of a public list ({public}), for which no "
                f"record was read: delete those from {out} that can't occur."
            )


def _of_dates(made: BoughtSchema, out: Path) -> Iterator[str]:
    """On an order that noise does not know."""
    dates = [column.name for column in made.schema.columns if column.kind in ("date", "datetime")]
    if len(dates) > 1:
        named, more = ", ".join(dates[:_MOST_NAMED]), len(dates) - _MOST_NAMED
        yield (
            f"Where one of {named}{f' and {more} more' if more > 0 else ''} never comes before another, as a discharge "
            f"never before its admission, add the rule to {out}: noise knows no order. Where lengths matter, count "
            "what lies between the two: `between`."
        )


def _of_lengths(made: BoughtSchema) -> Iterator[str]:
    """On dates that follow from others."""
    from counterfoil.cli.schema_table import follows

    document = tomllib.loads(made.text)
    names = {tuple(table["between"]): name for name, table in document["columns"].items() if "between" in table}
    for length in follows(made, document).values():
        yield (
            f"{length.last} follows {length.first}, and mostly soon: copies keep what lies between the two, in a "
            f"column {names[length.first, length.last]}, and {length.last} is derived from it."
        )


def _of_the_budget(purchase: SchemaPurchase, ledger: Path | None) -> Iterator[str]:
    """On the noise in what was bought, and on what releases add to its cost."""
    epsilon = purchase.budget.epsilon
    yield (
        "These are noisy, with 95% intervals in parentheses, and bounds are rounded outwards. Where you know more from "
        "public knowledge, correct the file."
    )
    if purchase.share == 1:
        yield f"Each release adds its own cost: with --epsilon E, epsilon {epsilon:g} + E in all."
    else:
        counted = "" if ledger is not None else " Without a ledger only the receipt of that release remembers it."
        yield f"The rest of epsilon {epsilon:g} is for one release, which synth --rest makes: it covers both.{counted}"
