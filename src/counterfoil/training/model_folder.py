"""Of which kind the model in a folder is, before its files are asked for: those of another kind are others."""

from __future__ import annotations

from pathlib import Path

from counterfoil.json_text import json_file


def require_kind(folder: Path, kind: str) -> None:
    """Refuses the folder of a model of another kind; one that is no model's is for whoever asks for its files.

    Raises:
        ValueError: which says what it holds.
    """
    described = folder / "model.json"
    if not described.is_file():
        return
    facts = json_file(described, "the description of a model", finite=False)
    found = facts.get("kind") if isinstance(facts, dict) else None
    if isinstance(found, str) and found != kind:
        raise ValueError(f"{str(folder)!r} holds a {found}. Found a {kind} to load it: use its class.")
