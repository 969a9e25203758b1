"""The wall: sensitive records are behind `counterfoil.curator`, and nothing else can reach them.

Three ways to look: at the syntax of every module outside, at what runs when a synthesizer does, and at everything
that can be reached from what a synthesizer hands over.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.engines.engine import Engine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.frame_source import FrameSource
from counterfoil.domain.domain import Domain
from counterfoil.ledger.ledger import Ledger, Release
from counterfoil.methods.registry import method_named, method_names
from counterfoil.public_names import homes
from counterfoil.synthesis.synthesis import Synthesis
from sensitive_tables import frame_of, schema_of

SOURCE = Path(__file__).parents[1] / "src" / "counterfoil"

HIDDEN_MODULES = ("counterfoil.curator.engines", "counterfoil.curator.sources", "counterfoil.curator.records")
DATA_READERS = ("duckdb", "sqlite3", "csv", "gzip", "fastparquet", "openpyxl")
READING_CALLS = {
    *("read_csv", "read_parquet", "read_table", "read_json", "read_excel", "read_sql", "read_feather", "read_ipc"),
    *("scan_csv", "scan_parquet", "scan_ipc", "open_csv", "ParquetFile", "loadtxt", "genfromtxt", "fromfile", "memmap"),
    *("open_source", "open_file", "open_stream"),
}
# Reads the synthetic rows that it wrote itself, which are public.
READS_RELEASES = "synthesis/folder.py"
# Reads the public lists that a schema names. The curator refuses a schema that takes one from its own source.
READS_LISTS = "schema/code_lists.py"
PRIVATE_TO_THE_CURATOR = {"_records", "_engine", "_release", "_ledger", "_account", "_source", "_kept"}
# What reveals something, with the only places that may use it.
REVEALING = {
    "reveal_without_privacy": ("evaluation/", "training/public_rows.py"),
    "read_without_privacy": ("evaluation/",),
    "check_without_privacy": ("evaluation/", "cli/check.py"),
    "evaluate_without_privacy": ("looks.py",),
    "group_sizes": ("training/", "methods/wasserstein_generator.py"),
    "value_at": ("cli/",),
    "require_rows": ("cli/",),
    "public_row_count": (
        *("marginals/", "measures/", "evolution/", "reweighting/", "methods/"),
        *("receipt/answers.py", "training/pate.py"),
    ),
}


def violations(path: str, text: str) -> list[str]:
    """What a module outside the curator does that it must not, each with its line."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here, so that they can be checked"
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]  # import_module("...")
        keeps_a_ledger = path.startswith("ledger/")
        for name in names:
            if any(name == module or name.startswith(f"{module}.") for module in HIDDEN_MODULES):
                found.append(f"{path}:{node.lineno} imports {name}")
            reader = not isinstance(node, ast.Constant) and name.split(".")[0] in DATA_READERS
            allowed = (keeps_a_ledger and name.split(".")[0] == "sqlite3") or (path == READS_LISTS and name == "csv")
            if reader and not allowed:
                found.append(f"{path}:{node.lineno} imports {name}")
        called = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if called in READING_CALLS and path != READS_RELEASES:
            found.append(f"{path}:{node.lineno} calls {called}")
        if called in REVEALING and not path.startswith(REVEALING[called]):
            found.append(f"{path}:{node.lineno} uses {called}")
        own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE_TO_THE_CURATOR and not own:
            found.append(f"{path}:{node.lineno} reaches for {node.attr}")
    return found


def modules_outside() -> list[Path]:
    """Stubs too: names are imported from where they say."""
    found = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")]
    return sorted(path for path in found if "curator" not in path.relative_to(SOURCE).parts)


def test_public_queries_come_from_the_folder_of_queries_alone():
    assert set(homes("counterfoil.queries").values()) <= {
        f"counterfoil.curator.queries.{path.stem}" for path in (SOURCE / "curator" / "queries").glob("*.py")
    }


def test_nothing_outside_the_curator_reads_records():
    outside = modules_outside()
    assert len(outside) > 20
    found = [
        line
        for path in outside
        for line in violations(path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "from counterfoil.curator.engines.memory import MemoryEngine",
        "import counterfoil.curator.engines.engine as e",
        "from counterfoil.curator import engines",
        "def f():\n    from counterfoil.curator.records import ExactRecords",
        "import_module('counterfoil.curator.engines.duckdb')",
        "import duckdb",
        "from sqlite3 import connect",
        "import pandas as pd\npd.read_csv('people.csv')",
        "from pyarrow.parquet import read_table\nread_table('people.parquet')",
        "np.loadtxt('people.txt')",
        "pa.ipc.open_file('people.arrow')",
        "curator._records.marginals([])",
        "curator.account._records",
        "getattr(self, 'x')._engine.blocks([])",
        "curator.reveal_without_privacy('why not')",
        "value_at('people.csv', 'age', 3)",
    ],
)
def test_the_check_sees_each_way_around(text):
    assert violations("marginals/new.py", text)


@pytest.mark.parametrize(
    "text",
    [
        "self._records = 1",
        "from counterfoil.curator.curator import Curator",
        "import csvkit",
        "csv.write_csv(rows)",
    ],
)
def test_the_check_lets_honest_code_pass(text):
    assert not violations("marginals/new.py", text)


def test_one_module_alone_reads_lists_from_files():
    assert not violations("schema/code_lists.py", "import csv")
    assert violations("schema/other.py", "import csv")
    assert violations("schema/code_lists.py", "import duckdb")


# The tripwire


PAIR = Domain(("a", "b", "c"), (3, 4, 2))
ROWS = [(i % 3, (i * i) % 4, (i // 7) % 2) for i in range(997)]
BUDGET = Budget(1.0, 1e-6)
# A generator is trained on batches: tests/training looks at what that touches, and at what leaves.
SYNTHESIZERS = {name: method_named(name) for name in method_names() if name != "wasserstein-generator"}
SYNTHESIZERS |= {f"{variant} aim": method_named("aim", variant=variant) for variant in ("gaussian", "published")}
ALLOWED = {
    ("account.py", "ask"),
    ("account.py", "choose"),
    ("account.py", "train"),
    ("curator.py", "group_sizes"),
    ("curator.py", "__init__"),  # prepares: refuses what can't be read before anything is charged
    ("curator.py", "reveal_without_privacy"),
    ("curator.py", "public_row_count"),
    ("curator.py", "require_rows"),
}
GUARDED = [
    (MemoryEngine, "blocks"),
    (FrameSource, "batches"),
    (ExactRecords, "marginals"),
    (ExactRecords, "distances"),
    (Engine, "fold"),
    (ExactRecords, "fold"),
]


class Tripped(AssertionError):
    """Records were touched by someone who must not."""


def callers() -> Iterator[tuple[str, str]]:
    frame = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent == SOURCE / "curator":
            yield path.name, frame.f_code.co_name
        frame = frame.f_back


@pytest.fixture
def tripwire(monkeypatch) -> list[tuple[str, str]]:
    """Every way to the records raises unless an allowed function is on the stack; the list says who touched them."""
    touched: list[tuple[str, str]] = []

    def guard(original):
        def guarded(*args, **keywords):
            allowed = [caller for caller in callers() if caller in ALLOWED]
            if not allowed:
                raise Tripped(f"{original.__qualname__} was called outside the curator's doors")
            touched.append(allowed[0])
            answer = original(*args, **keywords)
            # A generator would run later, on somebody else's stack.
            return iter(list(answer)) if isinstance(answer, Iterator) else answer

        return guarded

    for owner, name in GUARDED:
        monkeypatch.setattr(owner, name, guard(getattr(owner, name)))
    return touched


def curator_of(relation: str = "add_or_remove_one", **keywords) -> Curator:
    return Curator(frame_of(PAIR, ROWS), schema_of(PAIR), budget=BUDGET, relation=relation, **keywords)


def test_the_tripwire_trips(tripwire):
    curator = curator_of()
    assert tripwire
    for touch in (
        lambda: curator._engine.blocks(["a"]),
        lambda: curator._records.marginals([("a",)]),
        lambda: curator._records.fold(lambda block: np.zeros(1), ["a"]),
    ):
        with pytest.raises(Tripped):
            touch()


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("method", SYNTHESIZERS)
def test_every_synthesizer_leaves_the_records_alone(tripwire, method, relation):
    with curator_of(relation, seed=1) as curator:
        synthesis = SYNTHESIZERS[method].synthesize(curator, rows=50)
        synthesis.to_arrow()
        if isinstance(synthesis, Synthesis):
            synthesis.sample(10)
    questions = {name for _, name in tripwire} - {"__init__"}
    assert questions <= {"ask", "choose"} | ({"public_row_count"} if relation == "replace_one" else set())
    assert "ask" in questions, "the wire was in place"


# What can be reached from a release


ATOMS = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, BuiltinFunctionType, np.dtype)


def reachable(root: object) -> Iterator[object]:
    """Everything that attributes, items and closures lead to, private ones as well."""
    seen: set[int] = set()
    waiting = [root]
    keep = []  # so that ids are not used again
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, ATOMS):
            continue
        seen.add(id(item))
        keep.append(item)
        yield item
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting += item
        if isinstance(item, FunctionType):
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
        elif isinstance(item, MethodType):
            waiting += [item.__self__, item.__func__]
        else:
            waiting += getattr(item, "__dict__", {}).values()
            waiting += [getattr(item, slot, None) for slot in getattr(type(item), "__slots__", ())]


FORBIDDEN = (Curator, Account, Ledger, Release, ExactRecords, MemoryEngine, FrameSource)


def exact_counts() -> list[np.ndarray]:
    table = np.zeros(PAIR.shape(PAIR.attributes))
    np.add.at(table, tuple(np.array(ROWS).T), 1)
    return [table.sum(axis=axes) for axes in [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]]


@pytest.mark.parametrize("method", SYNTHESIZERS)
def test_no_record_and_no_exact_count_leaves_in_a_synthesis(method):
    """With a seed, so that noise never happens to be zero: a marginal that equals the exact one was not noised."""
    with curator_of(seed=5) as curator:
        synthesis = SYNTHESIZERS[method].synthesize(curator, rows=30)
    held = list(reachable(synthesis))
    assert len(held) > 40
    assert not [item for item in held if isinstance(item, FORBIDDEN)]
    exact = exact_counts()
    for item in held:
        if isinstance(item, np.ndarray) and item.dtype.kind in "iuf" and item.size > 1:
            assert not any(np.array_equal(item.ravel(), counts.ravel()) for counts in exact)


def test_the_search_finds_what_is_hidden():
    with curator_of(seed=5) as curator:
        hidden = {"deep": [(lambda: curator)]}
        held = list(reachable(hidden))
    assert any(isinstance(item, ExactRecords) for item in held)
    assert any(isinstance(item, np.ndarray) and item.size == len(ROWS) for item in held), "down to the codes"
