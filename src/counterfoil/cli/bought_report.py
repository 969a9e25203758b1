"""What `counterfoil schema --epsilon` prints of a schema that it bought."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled

if TYPE_CHECKING:
    from counterfoil.fidelity.bought_schema import BoughtSchema, SchemaPurchase


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
    from counterfoil.fidelity.bought_advice import advice_on, on_lengths, on_public_lists, on_unseen
    from counterfoil.schema.storage_words import hidden_moments
    from counterfoil.schema.toml import UNKNOWN, unsaid_facts

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
        say(filled(need.sentence()))
    asked = [one.column for one in made.schema.confirm]
    if any(tables[name]["kind"] == UNKNOWN for name in asked):
        terminal.alarm("Too little can be distinguished from the noise: state the columns by hand, or spend more.")
        return
    grouped = [one.name for one in made.discovered.columns if one.grouped and one.name in asked]
    if unsaid := [name for name in asked if unsaid_facts(tables[name])]:
        why = hidden_moments({name: purchase.types[name] for name in unsaid if name in purchase.types})
        said = (
            f"To be stated in {out} first, for nothing of the stated kind shows above the noise: {', '.join(unsaid)}. "
            "Numbers in another notation are read where `decimal_char` names their sign, and those with signs such as "
            f"% where `unit` does.{why}"
        )
        terminal.alarm(filled(said))
    if alone := [name for name in asked if name not in {*grouped, *unsaid}]:
        terminal.alarm(f"To be confirmed in {out} first, where one number alone shows: {', '.join(alone)}.")
    if grouped:
        said = f"To be confirmed in {out} first, where points may part thousands, as in 1.234: {', '.join(grouped)}."
        terminal.alarm(filled(said))
    advice = (*on_unseen(made, purchase, str(out)), *advice_on(made, purchase, str(out), sign="--decimal-char"))
    for sentence in advice:
        terminal.alarm(filled(sentence))
    for sentence in (*on_lengths(made), *on_public_lists(made, str(out)), *_of_the_budget(purchase, ledger)):
        terminal.say(filled(sentence))
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
