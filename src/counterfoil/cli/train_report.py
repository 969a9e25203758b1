"""What `counterfoil train` says about a model that it made."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from counterfoil.cli.terminal import WIDTH, Terminal
from counterfoil.cli.train_request import TrainingRequest

RECENT = 20
"""Steps whose mean noisy loss is told."""


def report(terminal: Terminal, request: TrainingRequest, folder: Path, *, delta_by_default: bool) -> None:
    """Prints what was made, where it is and what it cost."""
    model, budget = request.model, request.budget
    document = model.receipt.document
    loss = recent_loss(model)
    note = " (the default)" if delta_by_default else ""
    terminal.say(f"Trained a {request.kind.name}{_how(model, loss)}.")
    cost = f"epsilon {budget.epsilon:g}, delta {budget.delta:g}{note}, {request.neighbors.describe()}"
    terminal.say(textwrap.fill(cost, WIDTH, initial_indent="  ", subsequent_indent="    "))
    terminal.say(f"  model    {folder}")
    terminal.say(f"  receipt  {folder / 'receipt.json'}")
    for sentence in document["warnings"]:
        terminal.alarm(f"WARNING: {sentence}")
    if not model.receipt.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this model.")
    terminal.document(
        {
            "model": str(folder),
            "receipt": str(folder / "receipt.json"),
            "kind": request.kind.name,
            "private": model.receipt.private,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "neighboring_relation": document["neighboring_relation"],
            "public_groups": document.get("public_groups", []),
            "spent": document["spent"],
            "loss": loss,
            "warnings": document["warnings"],
            "ledger": None if request.ledger is None else str(request.ledger),
        }
    )


def recent_loss(model: Any) -> float | None:
    """The mean of the last noisy losses; None for a model that was not trained by gradients."""
    losses = getattr(model, "losses_", None)
    return None if losses is None else float(losses[-RECENT:].mean())


def _how(model: Any, loss: float | None) -> str:
    if loss is None:
        return f": {model.teachers_:,} teachers voted"
    taken, charged = len(model.losses_), model.iterations
    steps = (
        f"{taken:,} steps" if taken == charged else f"{taken:,} of {charged:,} steps, the rest lost by an earlier run"
    )
    return f" in {steps}; its noisy loss came to {loss:.3f}"
