"""What `counterfoil plan` shows: tables of 80 columns, and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfoil.cli.terminal import Terminal
    from counterfoil.planning.outlook import Outlook
    from counterfoil.planning.spread import Spread

MOST_COLUMNS = 20
"""Columns of the table that are listed; --json has all."""

_DEVIATION = "± is the standard deviation between rehearsals; other records add to it."
_SHOWN_EPSILONS = 4
_NAME_WIDTH = 24


def show_outlook(terminal: Terminal, outlook: Outlook) -> None:
    """The outlook for people: errors by epsilon, by column and by pair, models, and what is wanted."""
    from counterfoil.planning.outlook import said
    from counterfoil.planning.planned import LIKE_IS_PUBLIC

    terminal.show(_text(_opening(outlook)))
    if outlook.epsilons:
        terminal.say("")
        terminal.show(_errors(outlook))
        if outlook.runs > 1:
            terminal.say(_DEVIATION)
        terminal.say("\nBy column, the largest errors first:")
        terminal.show(_by_column(outlook))
        if outlook.columns > MOST_COLUMNS:
            terminal.say(f"and {outlook.columns - MOST_COLUMNS:,} more columns: --json has all of them.")
        if outlook.columns > 1:
            terminal.say("\nThe worst pairs:")
            terminal.show(_worst_pairs(outlook))
        if outlook.target is not None:
            terminal.say(f"\nModels that predict {_cut(outlook.target)}:")
            terminal.show(_models(outlook))
    if outlook.answers:
        terminal.say("")
        for answer in outlook.answers:
            terminal.show(_text(said(answer)))
    notes = [note for note in outlook.notes if note != LIKE_IS_PUBLIC]  # a warning has said that
    if notes:
        terminal.say("")
    for note in notes:
        for argument, option in (("`like`", "--like"), ("`rows`", "--rows"), ("`max_rows`", "--max-rows")):
            note = note.replace(argument, option)
        terminal.show(_text(note))


def outlook_svg(outlook: Outlook) -> str:
    """The picture of an outlook: the mean pair error at every epsilon that was rehearsed."""
    from counterfoil.pictures.outlook import Course, outlook_picture

    courses = []
    for world in outlook.worlds:
        epsilons = tuple(sorted({one.epsilon for one in outlook.rehearsals if one.world is world}))
        spreads = [outlook.pair_error(epsilon, world) for epsilon in epsilons]
        means, least, most = zip(*((one.mean, one.least, one.most) for one in spreads), strict=True)
        courses.append(Course(str(world), epsilons, means, least, most))
    title = f"What to expect of {outlook.method} on {outlook.rows:,} records of {outlook.columns} columns"
    return outlook_picture(courses, title=title)


def _opening(outlook: Outlook) -> str:
    several = outlook.max_rows is not None
    together = f", where up to {outlook.max_rows:,} records of each person are protected together" if several else ""
    return (
        f"Rehearsed {outlook.method} at delta {outlook.delta:g} ({outlook.relation}) on {outlook.rows:,} records of "
        f"{outlook.columns:,} columns, {_times(outlook.runs)} at each epsilon{together}. What you gave was read as "
        "public, and nothing was charged."
    )


def _errors(outlook: Outlook) -> Any:
    table = _table("epsilon", "rehearsed on", "pair error", "±", "from", "to", "column error", words=("rehearsed on",))
    for epsilon in outlook.epsilons:
        for place, world in enumerate(outlook.worlds):
            pair, column = outlook.pair_error(epsilon, world), outlook.column_error(epsilon, world)
            deviation = "-" if pair.deviation is None else f"{pair.deviation:.4f}"
            figures = (f"{pair.mean:.4f}", deviation, f"{pair.least:.4f}", f"{pair.most:.4f}", f"{column.mean:.4f}")
            table.add_row(f"{epsilon:g}" if not place else "", str(world), *figures)
    return table


def _by_column(outlook: Outlook) -> Any:
    shown = _shown(outlook)
    table = _table("column", *(f"epsilon {epsilon:g}" for epsilon in shown), words=("column",))
    found = {epsilon: {world: outlook.columns_at(epsilon, world) for world in outlook.worlds} for epsilon in shown}
    names = list(found[shown[0]][outlook.worlds[0]])
    worst = sorted(names, key=lambda name: -max(part[name].mean for part in found[shown[0]].values()))
    for name in worst[:MOST_COLUMNS]:
        table.add_row(_cut(name), *(_between(part[name] for part in found[epsilon].values()) for epsilon in shown))
    return table


def _worst_pairs(outlook: Outlook) -> Any:
    shown = _shown(outlook)
    table = _table("columns", *(f"epsilon {epsilon:g}" for epsilon in shown), words=("columns",))
    found = {epsilon: {world: outlook.pairs_at(epsilon, world) for world in outlook.worlds} for epsilon in shown}
    for pair in outlook.worst_pairs(shown[0]):
        names = ", ".join(_cut(name, 15) for name in pair)
        table.add_row(names, *(_between(part[pair] for part in found[epsilon].values()) for epsilon in shown))
    return table


def _models(outlook: Outlook) -> Any:
    table = _table(
        "trained on", "rehearsed on", "model", "AUC", "accuracy", words=("trained on", "rehearsed on", "model")
    )
    for epsilon in (*outlook.epsilons, None):
        for world in outlook.worlds:
            for model, figures in outlook.scores_at(epsilon, world).items():
                rows = "the records" if epsilon is None else f"epsilon {epsilon:g}"
                table.add_row(rows, str(world), model, _score(figures["auc"]), _score(figures["accuracy"]))
    return table


def _shown(outlook: Outlook) -> tuple[float, ...]:
    """Epsilons that have a column: all, or the first, the last and some between."""
    known = outlook.epsilons
    if len(known) <= _SHOWN_EPSILONS:
        return known
    return tuple(known[round(i * (len(known) - 1) / (_SHOWN_EPSILONS - 1))] for i in range(_SHOWN_EPSILONS))


def _between(spreads: Iterable[Spread]) -> str:
    """The mean, or the smallest and the largest mean of several kinds of records."""
    means = sorted(f"{spread.mean:.3f}" for spread in spreads)
    return means[0] if means[0] == means[-1] else f"{means[0]}-{means[-1]}"


def _score(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    if spread.deviation is None:
        return f"{spread.mean:.3f}"
    return f"{spread.mean:.3f} ± {spread.deviation:.3f}"


def _table(*headings: str, words: tuple[str, ...]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in words else "right", no_wrap=heading not in words)
    return table


def _cut(name: str, width: int = _NAME_WIDTH) -> str:
    """A name of a column, inert, and short enough for a table."""
    from counterfoil.inert import inert

    shown = inert(name)
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"


def _text(sentence: str) -> Any:
    from rich.text import Text

    return Text(sentence)


def _times(runs: int) -> str:
    return "once" if runs == 1 else f"{runs} times"
