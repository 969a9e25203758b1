"""House rules that hold for every module: what may be imported, and what is never done."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from pathlib import Path
from pkgutil import iter_modules

import pytest

from counterfoil.public_names import homes

SOURCE = Path(__file__).parents[1] / "src" / "counterfoil"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(
    ".".join(["counterfoil", *path.parent.relative_to(SOURCE).parts]) for path in SOURCE.rglob("__init__.pyi")
)

HEAVY = ["dp_accounting", "duckdb", "jax", "matplotlib", "numba", "opendp", "ot", "pandas", "plotly", "polars"]
HEAVY += ["adbc_driver_manager", "pyspark", "scipy.optimize", "sklearn", "statsmodels", "torch"]
NETWORK = {"aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "socket", "socketserver", "ssl", "telnetlib"}
NETWORK |= {"urllib", "urllib3", "webbrowser", "xmlrpc"}
UNSAFE_LOADERS = {"_pickle", "cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
# What makes generators of their own, without touching the global state of numpy or of the standard library.
OWN_GENERATORS = {
    "np.random": {"BitGenerator", "Generator", "PCG64", "Philox", "SeedSequence", "default_rng"},
    "random": {"Random", "SystemRandom"},
}
OWN_GENERATORS["numpy.random"] = OWN_GENERATORS["np.random"]


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in MODULES:
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each module named by an import anywhere in `tree`, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def needed(tree: ast.Module, known: set[str]) -> set[str]:
    """The modules among `known` that an import in `tree` runs, inside functions too, if not for type checkers alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and dotted(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            node.body = []
    return known & {name for name, _ in imported(tree)}


def import_cycle(needs: Mapping[str, set[str]]) -> list[str]:
    """Modules that all need each other in the end, in an order that could not be; empty where there are none."""
    try:
        tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def forbidden_imports(tree: ast.AST, roots: set[str]) -> list[tuple[str, int]]:
    return [(name, line) for name, line in imported(tree) if name.partition(".")[0] in roots]


def dotted(node: ast.expr) -> str:
    """`a.b.c` for such an expression, else an empty text."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def pickle_allowed(tree: ast.AST) -> list[int]:
    """Lines that let numpy read pickled objects: `np.load` without `allow_pickle=False`, or any that is not False."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        said = [keyword.value for keyword in node.keywords if keyword.arg == "allow_pickle"]
        refused = bool(said) and isinstance(said[0], ast.Constant) and said[0].value is False
        if (dotted(node.func) in {"np.load", "numpy.load"} or said) and not refused:
            lines.append(node.lineno)
    return lines


def global_randomness(tree: ast.AST) -> list[int]:
    """Lines that use the global generator of numpy or of the standard library."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used = [dotted(node).rpartition(".")]
        elif isinstance(node, ast.ImportFrom):
            used = [(node.module, ".", alias.name) for alias in node.names]
        else:
            continue
        found += [node.lineno for module, _, name in used if name not in OWN_GENERATORS.get(module, {name})]
    return found


def test_importing_packages_imports_nothing_heavy():
    assert {"counterfoil", "counterfoil.noise", "counterfoil.queries"} <= set(PACKAGES)
    program = (
        f"import sys, {', '.join(PACKAGES)}; print(*[name for name in {[*HEAVY, 'numpy']} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []


def test_public_names_are_imported_on_demand():
    program = (
        "import importlib, sys\n"
        f"for package in map(importlib.import_module, {PACKAGES}):\n"
        "    assert package.__all__ and all(getattr(package, name) is not None for name in package.__all__)\n"
        "    assert set(package.__all__) <= set(dir(package))\n"
        "print(*[name for name in ('torch', 'pandas', 'polars', 'sklearn', 'matplotlib') if name in sys.modules])\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(package: str):
    with pytest.raises(AttributeError, match="no_such_name"):
        importlib.import_module(package).no_such_name  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_name_is_a_module_of_its_package(package: str):
    """Else what the name means would depend on what was imported before."""
    modules = {module.name for module in iter_modules(importlib.import_module(package).__path__)}
    assert not modules & set(homes(package))


def test_no_module_reads_pickles():
    found = {
        str(path): forbidden_imports(tree, UNSAFE_LOADERS) + [("np.load", line) for line in pickle_allowed(tree)]
        for path, tree in trees()
    }
    assert {path: uses for path, uses in found.items() if uses} == {}


def test_no_module_opens_a_connection():
    found = {str(path): forbidden_imports(tree, NETWORK) for path, tree in trees()}
    assert {path: uses for path, uses in found.items() if uses} == {}


def test_no_module_uses_a_global_generator():
    found = {str(path): global_randomness(tree) for path, tree in trees()}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "def f():\n    from pickle import loads",
        "from joblib.externals import cloudpickle",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.lib.npyio.NpzFile(path, allow_pickle=flag)",
    ],
)
def test_the_check_for_pickles_can_fail(text):
    tree = ast.parse(text)
    assert forbidden_imports(tree, UNSAFE_LOADERS) or pickle_allowed(tree)


@pytest.mark.parametrize("text", ["import urllib.request", "from http import client", "def f():\n    import socket"])
def test_the_check_for_connections_can_fail(text):
    assert forbidden_imports(ast.parse(text), NETWORK)


@pytest.mark.parametrize(
    "text",
    ["np.random.seed(0)", "x = numpy.random.normal(0, 1)", "random.random()", "from numpy.random import rand"],
)
def test_the_check_for_global_generators_can_fail(text):
    assert global_randomness(ast.parse(text))


def test_own_generators_are_allowed():
    text = "np.random.Generator(np.random.PCG64(1))\nnp.load(p, allow_pickle=False)\nimport random\nrandom.Random(1)"
    assert not global_randomness(ast.parse(text))
    assert not pickle_allowed(ast.parse(text))


@pytest.mark.parametrize("name", ["receipt.schema.json", "data/affairs.schema.toml", "py.typed"])
def test_packaged_data_is_there(name):
    assert files("counterfoil").joinpath(name).is_file()


def test_no_modules_need_each_other():
    """Not even from inside a function: what two modules share is in a third."""
    name_of = {path: ".".join(["counterfoil", *path.with_suffix("").parts]) for path, _ in trees()}
    name_of = {path: name.removesuffix(".__init__") for path, name in name_of.items()}
    known = set(name_of.values())
    needs = {name_of[path]: needed(tree, known) - {name_of[path]} for path, tree in trees()}
    assert sum(map(len, needs.values())) > len(needs), "they do import each other"
    assert import_cycle(needs) == []


def test_the_check_for_cycles_can_fail():
    texts = {"p.a": "from p import b", "p.b": "def f():\n    from p.c import x", "p.c": "import p.a"}
    needs = {name: needed(ast.parse(text), set(texts)) for name, text in texts.items()}
    assert set(import_cycle(needs)) == set(texts)
    needs["p.c"] = needed(ast.parse("if TYPE_CHECKING:\n    import p.a\nelse:\n    import q"), set(texts))
    assert import_cycle(needs) == []


def test_no_room_holds_more_than_an_eighth():
    """Of package, benchmarks and reproductions: a room that grows beyond is two rooms."""
    root = SOURCE.parents[1]
    whole = [*MODULES, *(root / "benchmarks").rglob("*.py"), *(root / "reproductions").rglob("*.py")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in whole}
    rooms: dict[str, int] = {}
    for path in MODULES:
        if path.parent != SOURCE:
            room = path.relative_to(SOURCE).parts[0]
            rooms[room] = rooms.get(room, 0) + lines[path]
    assert len(rooms) > 15
    assert max(rooms.values()) <= sum(lines.values()) / 8, rooms


def test_the_page_of_the_house_has_the_rooms_of_the_contract_floor_by_floor():
    root = SOURCE.parents[1]
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    page = (root / "docs" / "house.md").read_text(encoding="utf-8")
    floors: list[set[str]] = []
    for number, names in re.findall(r"^\| (\d* ?)\| (`[^|]+`) \|", page, re.MULTILINE):
        if number:
            floors.append(set())
            assert int(number) == len(floors)
        floors[-1] |= set(re.findall(r"\w+", names))
    assert floors == [set(re.findall(r"\w+", layer)) for layer in reversed(layers)]


def test_no_module_is_empty_of_purpose():
    """Each module says what it is for."""
    silent = [str(path) for path, tree in trees() if tree.body and not ast.get_docstring(tree)]
    assert silent == []
