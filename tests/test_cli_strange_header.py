"""A file without a line of names: a record would become the names."""

from __future__ import annotations

import pytest

from command_line import make_office

NAMED = "age,2020,2021\n" + "30,1,2\n" * 50
NAMELESS = "30,23.12.2014,x\n" + "31,24.12.2014,y\n" * 50
PIPED = ("--confirm", "--piped", "--out", "s.toml")


@pytest.fixture
def office(tmp_path, capsys, monkeypatch):
    made = make_office(tmp_path, capsys, monkeypatch)
    (tmp_path / "named.csv").write_text("id," + NAMED.replace("30,", "7,30,"))
    (tmp_path / "nameless.csv").write_text(NAMELESS)
    return made


@pytest.mark.parametrize("options", [(), ("--epsilon", "10", "--out", "s.toml")])
@pytest.mark.parametrize(("table", "warned"), [("named.csv", False), ("nameless.csv", True)])
def test_names_that_look_like_values_are_warned_of(office, table, warned, options):
    ended = office.run("schema", table, *options)
    assert ended.status == 0, ended.err
    assert ("named by a number or a date" in " ".join((ended.out + ended.err).split())) == warned


@pytest.mark.parametrize("options", [(), ("--epsilon", "10", "--out", "s.toml"), PIPED])
def test_a_quote_in_the_header_that_is_not_closed_shows_no_record(office, tmp_path, options):
    (tmp_path / "open.csv").write_text('id,"height\n1,180\n2,5 ft 11",x\n3,170,1\n')
    ended = office.run("schema", "open.csv", *options)
    assert ended.status == 2
    assert "180" not in ended.out + ended.err
    assert "The name of column 2 breaks its line" in " ".join(ended.err.split())
    assert not (tmp_path / "s.toml").exists()
