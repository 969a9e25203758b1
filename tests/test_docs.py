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
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from counterfoil import MST, Budget, Curator, Schema
from counterfoil.methods.registry import method_names
from counterfoil.pictures.style import COLORS
from counterfoil.public_names import homes
from counterfoil.schema import Integer

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


def test_documented_criteria_are_kept_by_the_release_that_they_are_shown_for(folder: Path):
    """They asked for an accuracy that no model of the invented table has: each release was withheld, and paid for."""
    page = ROOT / "docs" / "acceptance.md"
    (folder / "criteria.toml").write_text(blocks(page, "toml")[0], encoding="utf-8")
    shown = next(line for line in blocks(page, "sh") if "--accept" in line).replace("\\\n", " ")
    asked = shown.replace(" --ledger people.ledger", "")
    run(shlex.split(f"{asked} --out accepted.csv --seed 1 --not-private"), folder)
    assert (folder / "accepted.csv").exists()


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
            assert options <= set(re.findall(r"--[\w-]+", help_of(*subcommands))), line
        else:
            assert words[:2] in (["pip", "install"], ["git", "clone"]) or words[0] in ("cd", "export"), line


def takewhile_known(words: list[str]) -> list[str]:
    known = {"certify", "check", "demo", "evaluate", "infer", "ledger", "predict", "receipt", "schema", "synth"}
    known |= {"train", "report", "plan", "sample", "marginal", "error-bar", "describe"}
    depth = 2 if words and words[0] in {"ledger", "receipt"} else 1
    return words[:depth] if words and words[0] in known else []


@cache
def help_of(*subcommands: str) -> str:
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


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_show_pictures_that_are_there(page: Path):
    """A builder says nothing of a picture that is missing; each page has one before its second heading, but for the
    reference of a package, in which a name is looked up."""
    text = page.read_text(encoding="utf-8")
    included = re.findall(r'^--8<-- "([^"]+)"$', text, re.MULTILINE)
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", BLOCK.sub("", text))
    missing = [name for name in included if not (ROOT / "docs" / name).is_file()]
    missing += [name for name in shown if not (page.parent / name).is_file()]
    assert missing == []
    first = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]
    assert "pictures/" in first or page.parent.name == "api", "the first screen is only text: docs/pictures.py draws"


PICTURES = sorted((ROOT / "docs" / "pictures").iterdir())


def test_pictures_are_those_that_the_script_draws():
    """None is left of a name that it no longer has, none is missing, and each is shown by a page."""
    made = {f"{name}.svg" for name in drawing().DRAWN} | {"readme.svg", "methods.svg", "gallery.html"}
    assert {path.name for path in PICTURES} == made
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in sorted(made) if f"pictures/{name}" not in text] == []


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_pictures_hold_all_that_they_show(path: Path):
    """Each says in words what it shows, has the colors that the pages paint, and refers to nothing."""
    text = path.read_text(encoding="utf-8")
    assert "\n\n" not in text, "Markdown would end the picture at an empty line"
    root = ElementTree.fromstring(text if path.suffix == ".svg" else f"<div>{text}</div>")
    drawn = [element for element in root.iter() if element.tag.endswith("svg")]
    assert len(drawn) == (1 if path.suffix == ".svg" else text.count("<figure"))
    for element in drawn:
        words = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
        assert len(words["title"]) > 5
        assert len(words["desc"]) > 20
        assert element.get("role") == "img"
    classes = {name for element in root.iter() for name in element.get("class", "").split()}
    assert classes <= {f"{kind}-{name}" for kind in "fs" for name in COLORS} | {"picture", "pictures"}
    outside = {"script", "image", "a", "use", "foreignObject", "iframe", "link"}
    assert not outside & {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not [name for element in root.iter() for name in element.attrib if name == "id" or name.startswith("on")]


def test_diagrams_are_as_the_script_draws_them_now():
    """Such as the floors of the house, which follow from the import contract."""
    script = drawing()
    for name in ("wall", "cells", "composing", "training", "evolving", "reweighing", "rooms"):
        assert (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8") == script.DRAWN[name]() + "\n"


@pytest.mark.parametrize("name", ["trade_off", "noise", "ledger", "polynomial", "corrected", "decided"])
def test_pictures_without_records_say_what_the_package_computes_now(name: str):
    """Compared by their words: another release of the library that draws may move a line by a pixel."""
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    kept = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    words = [re.findall(r">([^<]+)<", text) for text in (kept, drawing().DRAWN[name]())]
    assert words[0] == words[1]
    assert len(words[1]) > 5


def drawing() -> ModuleType:
    """docs/pictures.py, which is no part of a package."""
    spec = spec_from_file_location("pictures_of_the_documentation", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_painted_light_and_dark():
    """Pages have the colors of the package's pictures in both readings, and paint every mark by its name."""
    text = (ROOT / "docs" / "style.css").read_text(encoding="utf-8")
    light, dark = text.split('body[data-md-color-scheme="slate"]')[:2]
    for name, color in COLORS.items():
        assert f"--{name}: {color.light};" in light
        assert f"--{name}: {color.dark};" in dark
        assert f".f-{name} {{ fill: var(--{name}); }} .s-{name} {{ stroke: var(--{name}); }}" in text


def test_the_gallery_shows_every_method():
    """Each method has its picture with what it measured, and no name is typed twice."""
    text = (ROOT / "docs" / "pictures" / "gallery.html").read_text(encoding="utf-8")
    captions = re.findall(
        r"<figcaption><code>([\w-]+)</code>: .*Error of this pair <strong>([\d.]+)</strong>.*CPU s", text
    )
    assert sorted(name for name, _ in captions) == sorted(method_names())
    errors = {name: float(error) for name, error in captions}
    assert all(0 < error < 2 for error in errors.values())
    assert errors["aim"] < errors["independent"], "a pair that was measured is nearer than one that was not"


@pytest.mark.parametrize("page", [ROOT / "docs" / "choosing_a_method.md", ROOT / "docs" / "methods.md"], ids=named)
def test_pages_agree_on_what_msts_error_bars_cover(page: Path):
    """As the code has it: all columns and pairs of a narrow table."""
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert re.search(r"(those of `mst` cover|MST bounds those of) all columns and pairs", text)
    invented = pa.table({"a": [0, 1, 1] * 40, "b": [0, 1, 0] * 40, "c": [1, 1, 0] * 40})
    schema = Schema(tuple(Integer(name, lower=0, upper=1) for name in "abc"))
    with Curator(invented, schema, budget=Budget(2.0, 1e-6), seed=1) as curator:
        bars = MST().synthesize(curator).error_bars
    assert set(bars.bounds) == {("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")}


FORMULA = "Half of $x_1$ is $$\\frac{x_1}{2}$$ and \\$5 is money."


def test_formulas_become_mathml():
    """By an extension of Markdown, since the builder runs no hooks; an unknown command stops the build."""
    for name in ("markdown", "pymdownx", "latex2mathml"):
        pytest.importorskip(name, reason="the extra `docs` is not installed")
    from markdown import markdown

    spec = spec_from_file_location("mathml", ROOT / "docs" / "hooks" / "mathml.py")
    module = module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    extensions = ["pymdownx.arithmatex", module.makeExtension()]
    settings = {"pymdownx.arithmatex": {"generic": True, "smart_dollar": False}}
    made = markdown(FORMULA, extensions=extensions, extension_configs=settings)
    assert made.count("<math ") == 2
    assert "<mfrac>" in made
    assert "$5 is money" in made
    assert "arithmatex" not in made
    with pytest.raises(ValueError, match="does not know"):
        markdown(r"$\nosuchcommand$", extensions=extensions, extension_configs=settings)


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
    pages = {"counterfoil": ["api"], "counterfoil.errors": ["api", "api/errors", "api/schema"]}
    of_its_own = ["api", f"api/{package.removeprefix('counterfoil.')}"]  # some are in `counterfoil` as well
    files = [ROOT / "docs" / f"{page}.md" for page in pages.get(package, of_its_own)]
    text = "\n".join(page.read_text(encoding="utf-8") for page in files)
    assert re.search(rf"^::: {home}$", text, re.MULTILINE)


def test_the_reference_names_what_exists():
    for page in PAGES:
        for name in re.findall(r"^::: (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            module, _, own = name.rpartition(".")
            assert hasattr(import_module(module), own), name


def test_python_blocks_are_python():
    for page in PAGES:
        for block in blocks(page, "python"):
            ast.parse(block)
