"""The documentation does what it says: its commands and snippets run, and its pages are all there."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from counterfoil.public_names import homes

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Blocks in these pages are run in order, each page in a folder of its own that holds the invented table.
RUN = [page for page in PAGES if page.name in ("README.md", "quick_start.md", "compose.md")]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


def commands(block: str) -> list[str]:
    """The lines of a console block after `$ `, a backslash at the end of a line joining the next."""
    lines = block.replace("\\\n", " ").splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a reader of the quick start has: the invented table, and the schema that the page shows."""
    examples = ROOT / "docs" / "examples"
    run([sys.executable, str(examples / "make_people.py"), "people.csv"], tmp_path)
    (tmp_path / "people.schema.toml").write_bytes((examples / "people.schema.toml").read_bytes())
    return tmp_path


def run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"PATH": path, "COLUMNS": "80", "TERM": "dumb"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", [page for page in RUN if page.name != "compose.md"], ids=named)
def test_documented_commands_run(page: Path, folder: Path):
    shown = [command for block in blocks(page, "console") for command in commands(block)]
    assert shown, "a page that is run must show commands"
    for command in shown:
        assert command.startswith("counterfoil "), command
        run(shlex.split(command), folder)


@pytest.mark.parametrize("page", RUN, ids=named)
def test_documented_python_runs(page: Path, folder: Path):
    snippets = blocks(page, "python")
    assert snippets, "a page that is run must show Python"
    run([sys.executable, "-c", "\n".join(snippets)], folder)


def test_a_command_that_fails_is_noticed(folder: Path):
    with pytest.raises(AssertionError, match="--no-such-option"):
        run(shlex.split("counterfoil synth people.csv --no-such-option"), folder)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_blocks_are_of_known_kinds(page: Path):
    """Every block is run, checked below, or is not a command."""
    runs = {"console", "python"} if page in RUN else set()
    kinds = {language for language, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
    assert kinds <= runs | {"sh", "text", "toml"}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_shell_blocks_name_what_exists(page: Path):
    """Commands that a test can't run: `make TARGET`, installation, and subcommands shown with made-up files."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for line in "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "make":
            assert set(words[1:]) <= targets, line
        elif words[0] == "counterfoil":
            options = {word for word in words if word.startswith("--")}
            subcommands = list(takewhile_known(words[1:]))
            assert subcommands, line
            assert options <= set(re.findall(r"--[\w-]+", help_of(subcommands))), line
        else:
            assert words[:2] in (["pip", "install"], ["git", "clone"]) or words[0] == "cd", line


def takewhile_known(words: list[str]) -> list[str]:
    known = {"certify", "check", "demo", "evaluate", "infer", "ledger", "predict", "receipt", "schema", "synth"}
    known |= {"train", "sample", "marginal", "error-bar", "describe"}
    depth = 2 if words and words[0] in {"ledger", "receipt"} else 1
    return words[:depth] if words and words[0] in known else []


def help_of(subcommands: list[str]) -> str:
    program = "from counterfoil.cli import main; main()"
    command = [sys.executable, "-c", program, *subcommands, "--help"]
    environment = os.environ | {"COLUMNS": "200", "TERM": "dumb"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_page_shows_a_sum_of_charges_as_what_a_release_costs(page: Path):
    """Only a budget is a guarantee where noise follows answers; the receipts that pages show say so too."""
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert not re.search(r"add(s)? up to epsilon [\d.]+", text)


def test_every_page_is_in_the_navigation():
    """Built pages are checked by `make docs`; this needs no documentation tools."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r":\s+([\w/]+\.md)$", text[text.index("\nnav:") :], re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]]
    assert sorted(listed) == sorted(pages)


def test_the_example_is_shown_as_it_is():
    """The schema in the quick start is the file that the commands use."""
    for page in ("quick_start.md", "schema.md"):
        assert '--8<-- "examples/people.schema.toml"' in (ROOT / "docs" / page).read_text(encoding="utf-8")
    tomllib.loads((ROOT / "docs" / "examples" / "people.schema.toml").read_text(encoding="utf-8"))


PACKAGES = sorted((ROOT / "src" / "counterfoil").rglob("__init__.pyi"))


def public_names() -> list[str]:
    """`package.name` for each."""
    packages = [".".join(path.parent.relative_to(ROOT / "src").parts) for path in PACKAGES]
    return [f"{package}.{name}" for package in packages for name in sorted(homes(package))]


@pytest.mark.parametrize("name", public_names())
def test_public_names_are_documented(name: str):
    package, _, own = name.rpartition(".")
    thing = getattr(import_module(package), own)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return  # a constant or a type, which Python does not let have a docstring
    assert (inspect.getdoc(thing) or "").strip(), f"{name} needs a docstring"
    if inspect.isclass(thing):
        methods = [member for member in vars(thing).items() if not member[0].startswith("_")]
        silent = [key for key, value in methods if callable(value) and not inspect.getdoc(getattr(thing, key))]
        assert silent == []


@pytest.mark.parametrize("name", public_names())
def test_public_names_are_in_the_reference(name: str):
    package, _, own = name.rpartition(".")
    home = re.escape(f"{homes(package)[own]}.{own}")
    assert re.search(rf"^::: {home}$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_reference_names_what_exists():
    for name in re.findall(r"^::: (.*)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE):
        module, _, own = name.rpartition(".")
        assert hasattr(import_module(module), own), name


def test_python_blocks_are_python():
    for page in PAGES:
        for block in blocks(page, "python"):
            ast.parse(block)
