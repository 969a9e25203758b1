"""A first release, of a real table that nobody would hand out: the survey on affairs that statsmodels ships."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.methods.aim import AIM
from counterfoil.methods.method import DEFAULT_DELTA
from counterfoil.schema import Schema
from counterfoil.synthesis.synthesis import Synthesis

EPSILON = 1.0


@dataclass(frozen=True)
class Demo:
    """The demonstration's sensitive table and the public facts about it.

    6366 women answered a magazine's questions on their marriage (Fair 1978, "A theory of extramarital affairs").

    Raises:
        ModuleNotFoundError: without statsmodels, which ships the survey.
    """

    source: Path
    schema: Schema

    @classmethod
    def find(cls) -> Demo:
        """Looks the survey up among the installed files; statsmodels itself is not imported."""
        installed = find_spec("statsmodels")
        if installed is None or not installed.submodule_search_locations:
            raise ModuleNotFoundError(
                "The demonstration copies a survey that statsmodels ships. Install it with: "
                "pip install 'counterfoil[demo]'.",
                name="statsmodels",
            )
        source = Path(installed.submodule_search_locations[0]) / "datasets" / "fair" / "fair.csv"
        text = files("counterfoil").joinpath("data", "affairs.schema.toml").read_text(encoding="utf-8")
        return cls(source, Schema.from_toml(text))

    def synthesize(self, progress: Callable[[str, float], None], *, seed: int | None = None) -> Synthesis:
        """A synthetic copy at epsilon 1 and delta 1e-9, with AIM."""
        with Curator(self.source, self.schema, budget=Budget(EPSILON, DEFAULT_DELTA), seed=seed) as curator:
            return AIM().synthesize(curator, progress=progress)
