"""Answers on a terminal: a question with its default, asked again with a sentence where the answer can't be used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from counterfoil.cli.terminal import Terminal
from counterfoil.inert import inert

Read = TypeVar("Read")

NONE = "none"

_ONE = r'\s*(?:"(?:[^"]|"")*"|[^",][^,]*|)\s*'
_LIST = re.compile(rf"{_ONE}(?:,{_ONE})*")
_PART = re.compile(rf"(?:^|,)({_ONE})(?=,|$)")


@dataclass(frozen=True)
class Answers:
    """Where questions are put, and answers come from.

    Args:
        terminal: where sentences about answers go; the questions themselves are shown whatever it leaves out.
    """

    terminal: Terminal

    def ask(self, question: str, read: Callable[[str], Read], *, default: str = "") -> Read:
        """What `read` makes of the first answer that it can use.

        Args:
            question: without its default, which is added.
            read: raises ValueError, in a sentence, for an answer that it can't use.
            default: what an empty answer means; nothing where there is none, and then one is needed.

        Raises:
            ValueError: when the answers end.
        """
        shown = inert(f"  {question}{f' [{default}]' if default else ''}: ")
        while True:
            print(shown, end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                print()
                raise ValueError("The answers ended before the last question. No file was written: answer all of them.")
            if not sys.stdin.isatty():
                print()
            answer = line.strip() or default
            if not answer:
                print("    An answer is needed.")
                continue
            try:
                return read(answer)
            except ValueError as error:
                print(inert(f"    {error}"))


def choice(options: Mapping[str, str]) -> Callable[[str], str]:
    """One of `options` (a word, and what it stands for), or the beginning of one only."""

    def read(answer: str) -> str:
        if answer in options:
            return answer
        fitting = [word for word in options if word.startswith(answer.casefold())]
        if len(fitting) == 1:
            return fitting[0]
        raise ValueError(f"One of {', '.join(options)}, please. Found {answer!r}.")

    return read


def yes(answer: str) -> bool:
    """Yes or no."""
    if answer.casefold() in ("y", "yes"):
        return True
    if answer.casefold() in ("n", "no"):
        return False
    raise ValueError(f"Yes or no, please. Found {answer!r}.")


def whole(answer: str) -> int:
    """A whole number."""
    try:
        return int(answer)
    except ValueError:
        raise ValueError(f"A whole number, please, such as 120. Found {answer!r}.") from None


def real(answer: str) -> float:
    """A number with a point."""
    try:
        number = float(answer)
    except ValueError:
        raise ValueError(f"A number, please, such as 2.5 with a decimal point. Found {answer!r}.") from None
    if not abs(number) < float("inf"):
        raise ValueError(f"A finite number, please. Found {answer!r}.")
    return number


def day(answer: str) -> date:
    """A date in ISO 8601."""
    try:
        return date.fromisoformat(answer)
    except ValueError:
        raise ValueError(f"A date, please, such as 2020-01-31. Found {answer!r}.") from None


def moment(answer: str) -> datetime:
    """A date, with a time or at midnight, in ISO 8601 and without a zone."""
    try:
        found = datetime.fromisoformat(answer)
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None:
        raise ValueError(f"A date and a time without a zone, please, such as 2020-01-31T12:00. Found {answer!r}.")
    return found.replace(microsecond=0)


def text(answer: str) -> str:
    """Anything; `none` is the empty text."""
    return "" if answer.casefold() == NONE else answer


def texts(answer: str) -> list[str]:
    """Texts between commas, in double quotes where one holds a comma; `none` is the empty list."""
    if answer.casefold() == NONE:
        return []
    if not _LIST.fullmatch(answer):
        raise ValueError('Texts between commas, please, such as a, b, "c, d". Found a quote that is not closed.')
    parts = (match[1] for match in _PART.finditer(answer))
    found = [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in map(str.strip, parts)]
    if not all(found):
        raise ValueError("Texts between commas, please. Found nothing between two of them.")
    return found


def optional(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """What `read` reads, or None for `none`."""
    return lambda answer: None if answer.casefold() == NONE else read(answer)
