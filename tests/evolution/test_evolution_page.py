"""The code that the documentation's page on synthetic points shows runs."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "evolution.md"


def test_the_code_on_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    blocks = [textwrap.dedent(block) for block in re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)]
    code = [block for block in blocks if "import" in block]
    assert len(code) == 2
    names = {"points": np.random.default_rng(0).random((300, 2)), "np": np}
    for block in code:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["synthesis"].receipt.private
    assert names["evolved"].weights.sum() > 0.999
    assert (tmp_path / "points").is_dir()
