"""Names of columns in what `check` advises: what can be pasted into a schema, and nothing else."""

from __future__ import annotations

import re
import tomllib
from datetime import date

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema.arithmetic import Arithmetic
from counterfoil.schema.expression import Expression
from counterfoil.schema.instant import Date
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_ADVISED = re.compile(r'(expression|require|if|then) = (".*?(?<!\\)")')
_ROWS = 600


def sums(name: str) -> tuple[pd.DataFrame, Schema]:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 50, (2, _ROWS))
    table = pd.DataFrame({name: one, "other": other, "whole": one + other})
    return table, Schema((Integer(name, 0, 50), Integer("other", 0, 50), Integer("whole", 0, 100)))


def products(name: str) -> tuple[pd.DataFrame, Schema]:
    rng = np.random.default_rng(0)
    one, other = rng.integers(2, 50, (2, _ROWS))
    table = pd.DataFrame({name: one, "other": other, "whole": one * other})
    return table, Schema((Integer(name, 0, 50), Integer("other", 0, 50), Integer("whole", 0, 2500)))


def digits(name: str) -> tuple[pd.DataFrame, Schema]:
    clock = np.random.default_rng(0).integers(0, 2400, _ROWS)
    return pd.DataFrame({name: clock, "hour": clock // 100}), Schema((Integer(name, 0, 2400), Integer("hour", 0, 24)))


def orders(name: str) -> tuple[pd.DataFrame, Schema]:
    one, other = np.sort(np.random.default_rng(0).random((2, _ROWS)), axis=0)
    return pd.DataFrame({name: one, "high": other}), Schema((Real(name, 0, 1), Real("high", 0, 1)))


def days(name: str) -> tuple[pd.DataFrame, Schema]:
    one, other = np.sort(np.random.default_rng(0).integers(0, 900, (2, _ROWS)), axis=0)
    start = np.datetime64("2020-01-01")
    table = pd.DataFrame({name: (start + one).astype(str), "last": (start + other).astype(str)})
    bounds = {"lower": date(2020, 1, 1), "upper": date(2022, 12, 31)}
    return table, Schema((Date(name, **bounds), Date("last", **bounds)))


def absent(name: str) -> tuple[pd.DataFrame, Schema]:
    rng = np.random.default_rng(0)
    both = np.where(rng.random((1, _ROWS)) < 0.4, np.nan, rng.integers(0, 9, (2, _ROWS)))
    table = pd.DataFrame({name: both[0], "other": both[1]})
    return table, Schema((Integer(name, 0, 9, missing=True), Integer("other", 0, 9, missing=True)))


RELATIONS = {"sum": sums, "product": products, "digits": digits, "order": orders, "days": days, "missing": absent}


def advised(kind: str, name: str) -> list[str]:
    """The texts of what is advised, each read as a schema reads it."""
    table, schema = RELATIONS[kind](name)
    columns = {column.name: column for column in schema.synthesized}
    read = []
    for note in check_without_privacy(table, schema).notes:
        for key, quoted in _ADVISED.findall(note.text):
            text = tomllib.loads(f"it = {quoted}")["it"]
            (Arithmetic if key == "expression" else Expression)(text, columns, place="")
            read.append(text)
    return read


@pytest.mark.parametrize("kind", RELATIONS)
@pytest.mark.parametrize("name", ["one", "a part", "class", "true", "missing", "größe", "1st", "O'Hara"])
def test_what_is_advised_can_be_pasted(kind: str, name: str) -> None:
    assert advised(kind, name)


@pytest.mark.parametrize("kind", RELATIONS)
@pytest.mark.parametrize("mark", ['"', "\\", "`", "\n"])
def test_nothing_is_advised_that_no_schema_could_read(kind: str, mark: str) -> None:
    assert not [text for text in advised(kind, f"a{mark}b") if mark in text]
