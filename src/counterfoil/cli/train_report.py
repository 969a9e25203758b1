"""What `counterfoil train` says about a model that it made."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.cli.terminal import Terminal
from counterfoil.cli.train_request import TrainingRequest
from counterfoil.console import filled

if TYPE_CHECKING:
    import numpy as np

    from counterfoil.training.reference_loss import ReferenceLoss

_SURE = 0.975
RECENT = 20
"""Steps whose mean noisy loss is told."""


def report(terminal: Terminal, request: TrainingRequest, folder: Path, *, delta_by_default: bool) -> None:
    """Prints what was made, where it is and what it cost."""
    from counterfoil.training.reference_loss import reference_loss

    model, budget = request.model, request.budget
    document = model.receipt.document
    loss = recent_loss(model)
    note = " (the default)" if delta_by_default else ""
    terminal.say(f"Trained a {request.kind.name}{_how(model, loss)}.")
    reference = None if loss is None else reference_loss(model)
    if loss is not None:
        held = _held_against(model, loss, reference)
        terminal.say(filled(held, initial_indent="  ", subsequent_indent="  "))
    cost = f"epsilon {budget.epsilon:g}, delta {budget.delta:g}{note}, {request.neighbors.describe()}"
    terminal.say(filled(cost, initial_indent="  ", subsequent_indent="    "))
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
            "loss_standard_error": loss_error(model),
            "reference_loss": reference and {"loss": reference.loss, "of": reference.of},
            "warnings": document["warnings"],
            "ledger": None if request.ledger is None else str(request.ledger),
        }
    )


def recent_loss(model: Any) -> float | None:
    """The mean of the last noisy losses; None for a model that was not trained by gradients."""
    losses = getattr(model, "losses_", None)
    return None if losses is None else float(losses[-RECENT:].mean())


def loss_error(model: Any) -> float | None:
    """The standard error of that mean, by how far the losses are apart; None where fewer than two are."""
    losses: np.ndarray | None = getattr(model, "losses_", None)
    if losses is None or len(losses) < 2:
        return None
    recent = losses[-RECENT:]
    return float(recent.std(ddof=1)) / math.sqrt(len(recent))


def _held_against(model: Any, loss: float, reference: ReferenceLoss | None) -> str:
    """How exactly the loss is known, and what guesses that know nothing of the inputs have."""
    error, steps = loss_error(model), min(RECENT, len(model.losses_))
    off = "" if error is None else f", standard error {error:.2g}"
    limit = "" if reference is None else f"; the loss of a record counts up to {reference.largest:.3g}"
    penalty = "; a penalty is not in it" if hasattr(model, "penalty") else ""
    said = f"Mean of the last {steps:,} steps{off}{limit}{penalty}."
    if reference is None:
        return said
    less = "" if reference.is_best else ", by the true shares of the classes less"
    unsure = "" if _is_surely_below(loss, error, steps, reference.loss) else "; this one is not surely better"
    return f"{said} Guesses by {reference.of} have {reference.loss:.3f}{less}{unsure}."


def _is_surely_below(loss: float, error: float | None, steps: int, other: float) -> bool:
    """Whether a mean of noisy losses is below another one, with a probability of 97.5%.

    Of few steps the standard error itself is little known, which Student's law counts: of two it is times 12.7.
    """
    if error is None:
        return False
    from scipy.special import stdtrit

    return loss + float(stdtrit(steps - 1, _SURE)) * error < other


def _how(model: Any, loss: float | None) -> str:
    if loss is None:
        return f": {model.teachers_:,} teachers voted"
    taken, charged = len(model.losses_), model.iterations
    steps = (
        f"{taken:,} steps" if taken == charged else f"{taken:,} of {charged:,} steps, the rest lost by an earlier run"
    )
    return f" in {steps}; its noisy loss came to {loss:.3f}"
