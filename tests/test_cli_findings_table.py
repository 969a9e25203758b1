"""Findings as a table: every name and every number whole, on lines of at most 80 columns."""

from __future__ import annotations

import pytest

from counterfoil.cli.infer import show_findings
from counterfoil.cli.terminal import Terminal
from counterfoil.inference.decided import by_schema
from counterfoil.inference.finding import Finding


def finding(about: str, estimate: float, half: float) -> Finding:
    return Finding(about, estimate, estimate - half, estimate + half, 0.95, half / 2, 0.8 * half, (1,), ("basis",))


def shown(capsys, *found: Finding) -> str:
    show_findings(Terminal(), found)
    return capsys.readouterr().out


LOADINGS = " ".join(f"+0.{30 + i} a_rather_long_column_name_{i}" for i in range(6))
NAMES = {
    "loadings": f"variance of component 1, along {LOADINGS}",
    "pair": f"partial correlation of {'a' * 60} and {'b' * 60}: no edge found",
    "short": "variance of x",
}
NUMBERS = {
    "small": (0.1234, 0.05, "0.073 to 0.173"),
    "dollars": (123_456_789.25, 5e6, "118456789 to 128456789"),
    "thin": (-123_456_789.1234, 0.001, "-123456789.1244 to -123456789.1224"),
    "vast": (3.4e12, 1e5, "3399999900000 to 3400000100000"),
}


@pytest.mark.parametrize("columns", ["80", "200", "40"])
@pytest.mark.parametrize("name", list(NAMES))
@pytest.mark.parametrize("number", list(NUMBERS))
def test_nothing_is_cut(capsys, monkeypatch, columns, name, number):
    monkeypatch.setenv("COLUMNS", columns)
    estimate, half, interval = NUMBERS[number]
    text = shown(capsys, finding(NAMES[name], estimate, half), finding("variance of y", 0.5, 0.1))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    # Names are whole but for line breaks, where numbers stand beside them.
    table = text.partition("\n\n")[0]
    letters = "".join(character for character in table if character.isalpha() or character == "_")
    for word in NAMES[name].split():
        if word.isidentifier() and len(word) < 30:
            assert word in table
    assert letters.count("a") >= NAMES[name].count("a")
    assert interval in table.replace(",", "")


def test_names_stand_above_where_numbers_leave_no_room(capsys):
    text = shown(capsys, finding("covariance of gains and losses", -123_456_789.1234, 0.001))
    lines = text.splitlines()
    assert lines[0] == "Covariance of gains and losses:"
    assert lines[2] == "all records"
    beside = shown(
        capsys, finding("covariance of gains and losses", 0.25, 0.01), finding("variance of gains", 0.5, 0.1)
    )
    assert any(line.startswith("covariance of gains and losses  ") for line in beside.splitlines())


def test_what_the_schema_decides_has_no_interval(capsys):
    text = shown(capsys, by_schema("share of records with n > 5", "", 0.0, 0.95))
    assert "by the schema" in text
    assert "holds with probability" not in text
    assert "NEVER MEASURED" not in text
    both = shown(capsys, by_schema("share", "a = x", 1.0, 0.95), finding("share, where a = y", 0.25, 0.1))
    assert [line.split() for line in both.splitlines() if line.startswith("a = x")] == [
        ["a", "=", "x", "1", "by", "the", "schema", "none", "none"]
    ]
    assert "Each interval holds with probability 0.95." in both


def groups(count: int, half: float, start: int = 0) -> list[Finding]:
    return [finding(f"share of women, where country = c{i}", 0.5, half) for i in range(start, start + count)]


def test_many_groups_of_which_nothing_is_known_are_counted(capsys):
    text = shown(capsys, *groups(2, 0.1), *groups(30, 0.5, start=2))
    assert "country = c0" in text
    assert "country = c1" in text
    counted = "30 more groups have the interval 0.00 to 1.00: country = c2, country = c3, country = c4 ..."
    assert f"{counted} `--json` lists each." in " ".join(text.split())
    assert "c5" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_nothing_but_such_groups(capsys):
    text = shown(capsys, *groups(30, 0.5))
    assert "30 groups have the interval 0.00 to 1.00: country = c0" in " ".join(text.split())
    assert "estimate" not in text


@pytest.mark.parametrize(
    "found",
    [
        groups(20, 0.5),
        groups(30, 0.1) + groups(3, 0.5, start=30),
        [by_schema("share", f"a = {i}", 1.0, 0.95) for i in range(30)],
    ],
    ids=["few", "narrower ones", "decided"],
)
def test_other_groups_are_listed(capsys, found):
    text = shown(capsys, *found)
    assert "groups have" not in text
    assert sum(" = " in line for line in text.splitlines()) == len(found)
