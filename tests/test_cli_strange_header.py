"""A file without a line of names: a record would become the names."""

from __future__ import annotations

import pytest

from command_line import make_office

NAMED = "age,2020,2021\n" + "30,1,2\n" * 50
NAMELESS = "30,23.12.2014,x\n" + "31,24.12.2014,y\n" * 50


@pytest.fixture
def office(tmp_path, capsys, monkeypatch):
    made = make_office(tmp_path, capsys, monkeypatch)
    (tmp_path / "named.csv").write_text("id," + NAMED.replace("30,", "7,30,"))
    (tmp_path / "nameless.csv").write_text(NAMELESS)
    (tmp_path / "years.csv").write_text("x,2019,2020,2021\n" + "y,30,1,2\n" * 50)
    return made


@pytest.mark.parametrize("options", [(), ("--epsilon", "10", "--out", "s.toml")])
@pytest.mark.parametrize(("table", "warned"), [("named.csv", False), ("years.csv", True)])
def test_names_that_look_like_values_are_warned_of(office, table, warned, options):
    ended = office.run("schema", table, *options)
    assert ended.status == 0, ended.err
    assert ("named by a number or a date" in " ".join((ended.out + ended.err).split())) == warned


COMMANDS = [
    ("schema", "nameless.csv"),
    ("schema", "nameless.csv", "--json"),
    ("schema", "nameless.csv", "--epsilon", "10", "--out", "s.toml"),
    ("synth", "nameless.csv", "--schema", "all.toml", "--epsilon", "10", "--out", "s.csv"),
]


@pytest.mark.parametrize("first", [NAMELESS.splitlines()[0], "39,State-gov,77516,Bachelors,13,White,Male,2174,0,40"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[::2]))
def test_a_first_record_does_not_become_names(office, command, first):
    office.path.joinpath("nameless.csv").write_text(f"{first}\n" + f"{first.replace('3', '4')}\n" * 50)
    office.path.joinpath("all.toml").write_text('name = "n"\n[columns."*"]\nkind = "categorical"\nvalues = ["x"]\n')
    ended = office.run(*command)
    said = " ".join((ended.out + ended.err).split())
    assert ended.status == 2
    assert "may be the values of a record and are not shown" in said
    assert "columns of a frame can be renamed." in said
    assert not any(value in said for value in ("77516", "State-gov", "23.12.2014"))
    assert not office.path.joinpath("s.toml").exists()


def test_names_that_are_declared_in_full_may_look_like_a_record(office):
    declared = '[columns."30"]\nkind = "integer"\nlower = 0\nupper = 40\n[columns.x]\nkind = "categorical"\n'
    office.path.joinpath("p.toml").write_text(f'ignore = ["23.12.2014"]\n{declared}')
    bought = office.run("schema", "nameless.csv", "--epsilon", "10", "--stated", "p.toml", "--out", "s.toml")
    assert bought.status == 0, bought.err
    made = office.run("synth", "nameless.csv", "--schema", "s.toml", "--epsilon", "1", "--out", "s.csv")
    assert made.status == 0, made.err


UNCLOSED = 'id,"height\n1,180\n2,5 ft 11",x\n3,170\n'
NAME = '"height\\n1,180\\n2,5 ft 11"'
OTHERS = (
    '[columns.id]\nkind = "integer"\nlower = 0\nupper = 300\n[columns.x]\nkind = "integer"\nlower = 0\nupper = 200\n'
)
KIND = 'kind = "integer"\nlower = 0\nupper = 9\n'


@pytest.mark.parametrize(
    "command",
    [
        ("schema", "h.csv"),
        ("schema", "h.csv", "--json"),
        ("schema", "h.csv", "--confirm", "--piped", "--out", "d.toml"),
        ("schema", "h.csv", "--epsilon", "1", "--out", "d.toml"),
        ("synth", "h.csv", "--schema", "without.toml", "--epsilon", "1", "--out", "s.csv"),
        ("synth", "h.csv", "--schema", "pattern.toml", "--epsilon", "1", "--out", "s.csv"),
        ("check", "h.csv", "--schema", "without.toml"),
        ("check", "h.csv", "--schema", "pattern.toml"),
        ("evaluate", "h.csv", "h.csv", "--schema", "without.toml"),
        (
            "train",
            "dp-sgd",
            "h.csv",
            "--schema",
            "without.toml",
            "--target",
            "x",
            "--epsilon",
            "1",
            "--out",
            "m",
        ),
    ],
    ids=lambda command: " ".join([command[0], *command[2:4]]),
)
def test_records_that_an_open_quote_makes_a_name_are_not_shown(office, command):
    files = {"h.csv": UNCLOSED, "without.toml": OTHERS, "pattern.toml": f'{OTHERS}[columns."h*"]\n{KIND}'}
    for name, text in files.items():
        office.path.joinpath(name).write_text(text)
    ended = office.run(*command)
    assert ended.status == 2
    assert "the name of column 2 goes over several lines" in ended.err
    assert not any(secret in ended.out + ended.err for secret in ("180", "5 ft", "height"))


def test_a_name_of_several_lines_that_the_schema_declares_is_read(office):
    rows = "".join(f"{i},{i % 10},{i % 200}\n" for i in range(300))
    office.path.joinpath("h.csv").write_text(f'id,"height\n1,180\n2,5 ft 11",x\n{rows}')
    for stated in (f"[columns.{NAME}]\n{KIND}{OTHERS}", f"ignore = [{NAME}]\n{OTHERS}"):
        office.path.joinpath("s.toml").write_text(stated)
        assert office.run("check", "h.csv", "--schema", "s.toml").status == 0
        out = ("--out", "s.csv", "--force", "--method", "independent")
        ended = office.run("synth", "h.csv", "--schema", "s.toml", "--epsilon", "5", *out)
        assert ended.status == 0, ended.err
    # It shows no name.
    assert office.run("ledger", "create", "l", "--source", "h.csv", "--epsilon", "1", "--delta", "0").status == 0


SCHEMA = 'name = "people"\n[columns.age]\nkind = "integer"\nlower = 18\nupper = 97\n'


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("41,F,777777.77,2018-08-08\n52,M,1.5,2019-01-01\n", "no column 'age'"),
        ("41,41,777777.77,2018-08-08\n52,M,1.5,2019-01-01\n", "two columns have one name"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("synth", "n.csv", "--schema", "n.toml", "--epsilon", "1", "--out", "s.csv"),
        ("check", "n.csv", "--schema", "n.toml"),
        ("schema", "n.csv", "--epsilon", "1", "--stated", "n.toml", "--out", "d.toml"),
    ],
    ids=lambda command: command[0],
)
def test_a_first_record_that_is_taken_for_names_is_not_shown(office, lines, said, command):
    office.path.joinpath("n.csv").write_text(lines)
    office.path.joinpath("n.toml").write_text(SCHEMA)
    ended = office.run(*command)
    sentence = " ".join(ended.err.split())
    assert ended.status == 2
    assert said in sentence
    assert "add it" in sentence
    assert not any(value in sentence for value in ("41", "777777.77", "2018-08-08"))
