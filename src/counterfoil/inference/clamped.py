"""That values beyond the bounds count as the bound, and words as a number, said of the columns of a question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from counterfoil.inference.finding import Finding
from counterfoil.inference.related_rows import before_population
from counterfoil.listing import first_few
from counterfoil.schema import Schema
from counterfoil.schema.clamping import Clamping, bound_text, clamping_of
from counterfoil.schema.column import Column
from counterfoil.schema.number import NumberColumn

_MOST = 12


def with_clamping(
    found: Iterable[Finding],
    schema: Schema,
    columns: Sequence[str],
    *,
    averaged: str = "",
    within: tuple[float, float] = (-math.inf, math.inf),
) -> list[Finding]:
    """The findings, which say among what they rest on how the values of `columns` are clamped, and what words count as.

    Args:
        found: the findings.
        schema: the public facts.
        columns: those that the question is about.
        averaged: the one whose mean is told; the others are compared with values.
        within: bounds of its own that the question has for that one, in its unit.
    """
    said = [_averaged(schema[name], within) if name == averaged else _compared(schema[name]) for name in columns]
    said = [sentence for sentence in (*said, *(_of_words(schema[name]) for name in columns)) if sentence]
    return [replace(one, basis=before_population(one.basis, said)) for one in found]


def bounds_sentences(schema: Schema, columns: Iterable[str]) -> tuple[str, ...]:
    """A sentence on all bounded columns of a question about several, such as their moments, and one on those with
    words; none where there are none.

    Args:
        schema: the public facts.
        columns: those that the question is about.
    """
    columns = tuple(columns)
    clamped = [(name, clamping) for name in columns if (clamping := clamping_of(schema[name])) is not None]
    if not clamped:
        return ()
    named = [f"{name} {clamping.lower} to {clamping.upper}" for name, clamping in clamped]
    bounds = f"values beyond the declared bounds count as the bound: {first_few(named, _MOST, of='columns')}"
    words = [f"in {name} {listed}" for name in columns if (listed := _words_counted(schema[name]))]
    return (bounds, f"words count as a number: {first_few(words, _MOST, of='columns')}") if words else (bounds,)


def _averaged(column: Column, within: tuple[float, float]) -> str:
    clamping = clamping_of(column)
    if clamping is None:
        return ""
    low, high = clamping.numbers
    if within[0] > low or within[1] < high:
        if column.comparable != "number":  # such a range counts days or seconds
            return ""
        clamping = replace(clamping, lower=bound_text(max(within[0], low)), upper=bound_text(min(within[1], high)))
    return f"{_counted(column, clamping)}, so that the mean is that of the clamped values."


def _compared(column: Column) -> str:
    clamping = clamping_of(column)
    if clamping is None:
        return ""
    low, high = clamping.lower, clamping.upper
    return f"{_counted(column, clamping)}, so that {low} means {low} and below, and {high} means {high} and above."


def _counted(column: Column, clamping: Clamping) -> str:
    low, high = clamping.lower, clamping.upper
    return f"Values of {column.name} below {low} count as {low} and those above {high} as {high}"


def _of_words(column: Column) -> str:
    """That a word such as 90+ was counted as one number, which no interval allows for; empty without words."""
    listed = _words_counted(column)
    return listed and (
        f"In {column.name} words count as a number: {listed}. Where the numbers lie that such a word stands for is not "
        "known, and the interval does not allow for it."
    )


def _words_counted(column: Column) -> str:
    """The words of a column of numbers, each with what it counts as; empty without any."""
    words = column.number_words if isinstance(column, NumberColumn) else ()
    return first_few([f"{word} as {number:.12g}" for word, number in words], _MOST, of="words")
