"""A folder with a small sensitive table, its schema and its ledger, and the command line run in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.cli.app import run

SCHEMA = """\
name = "people"

[columns.sex]
kind = "categorical"
values = ["female", "male"]

[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 10

[columns.income]
kind = "categorical"
values = ["low", "high"]
"""


@dataclass
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass
class Office:
    """The folder, which is the current one."""

    path: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: str | Path) -> Ended:
        self.capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        captured = self.capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    def synth(self, *arguments: str | Path, method: str = "independent", epsilon: str = "1") -> Ended:
        given = ("people.csv", "--schema", "people.toml", "--epsilon", epsilon, "--method", method)
        return self.run("synth", *given, *arguments)

    def files(self) -> set[str]:
        return {path.name for path in self.path.iterdir()}

    def releases(self, ledger: str = "people.ledger") -> list[dict]:
        return self.run("ledger", "show", ledger, "--json").document["releases"]


def make_office(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.chdir(path)
    write_people(path / "people.csv")
    (path / "people.toml").write_text(SCHEMA)
    office = Office(path, capsys)
    created = office.run(
        "ledger", "create", "people.ledger", "--source", "people.csv", "--epsilon", "3", "--delta", "1e-6"
    )
    assert created.status == 0, created.err
    return office


def write_people(path: Path, rows: int = 300) -> None:
    rng = np.random.default_rng(0)
    sex, age = rng.integers(0, 2, rows), rng.integers(0, 100, rows)
    lines = [f"{('female', 'male')[s]},{a},{('low', 'high')[int(a > 50)]}" for s, a in zip(sex, age, strict=True)]
    path.write_text("\n".join(["sex,age,income", *lines]) + "\n")
