"""Without PyTorch names can be imported, and whatever needs it says so before anything is read or charged."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HIDING = """
import importlib.util, sys, builtins

found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name.partition(".")[0] == "torch" else found(name, *more)
imported = builtins.__import__

def importing(name, *more, **keywords):
    if name.partition(".")[0] == "torch":
        raise ImportError("torch is hidden")
    return imported(name, *more, **keywords)

builtins.__import__ = importing
import counterfoil, counterfoil.training
"""

READS_NOTHING = '''
class Source:
    """Nothing may look at it."""
    def __getattr__(self, name):
        raise AssertionError(f"the source was asked for {name}")
'''


def run(code: str) -> str:
    """What a process without torch prints, one that must not fail."""
    tests = str(Path(__file__).parents[1])
    script = f"import sys; sys.path.insert(0, {tests!r})\n{HIDING}{READS_NOTHING}{textwrap.dedent(code)}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_are_there_and_fitting_says_what_is_missing():
    said = run(
        """
        from counterfoil.networks import require_torch
        for name in ("FairClassifier", "FairRegressor", "FairEncoder", "DPSGDClassifier"):
            model = getattr(counterfoil.training, name)()
            roles = {"target": "y"} if name == "DPSGDClassifier" else {"protected": "s"}
            if name in ("FairClassifier", "FairRegressor"):
                roles["target"] = "y"
            try:
                model.fit(Source(), "no such file.toml", **roles)
            except ImportError as error:
                print(name, error)
        try:
            counterfoil.training.FairClassifier.load("no such folder")
        except ImportError as error:
            print("load", error)
        assert not any(name.partition(".")[0] == "torch" for name in sys.modules)
        """
    )
    lines = said.splitlines()
    assert [line.split()[0] for line in lines] == [
        "FairClassifier",
        "FairRegressor",
        "FairEncoder",
        "DPSGDClassifier",
        "load",
    ]
    sentence = "Networks need the packages torch and safetensors. Found no torch: Install counterfoil[torch]."
    assert all(line.endswith(sentence) for line in lines)


def test_a_generator_says_it_before_anything_is_charged():
    said = run(
        """
        import numpy as np
        from counterfoil.accounting.budget import Budget
        from counterfoil.geometry.euclidean import point_schema
        from counterfoil.ledger.ledger import Ledger, SourceIdentity
        ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), Budget(2.0, 1e-5))
        try:
            options = {"method": "wasserstein-generator", "ledger": ledger}
            counterfoil.synthesize(np.array([[0.1], [0.9]]), point_schema([0], [1]), epsilon=1.0, **options)
        except ImportError as error:
            print(error)
        print(len(ledger.releases()))
        """
    )
    assert said.splitlines() == [
        "Networks need the packages torch and safetensors. Found no torch: Install counterfoil[torch].",
        "0",
    ]


def test_queries_of_batches_are_known_without_torch():
    """A receipt of a model is checked where no model can be trained."""
    said = run(
        """
        from counterfoil.curator.queries.registry import shipped_queries
        print(*sorted(name for name in shipped_queries() if name.endswith("gradient")))
        """
    )
    assert said.split() == ["generator_gradient", "loss_gradient", "transport_gradient"]


def test_the_hiding_hides():
    pytest.importorskip("torch")
    said = run(
        """
        try:
            import torch
        except ImportError as error:
            print(error)
        """
    )
    assert said.strip() == "torch is hidden"
