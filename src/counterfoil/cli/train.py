"""`counterfoil train`: a sensitive table in, a model and its receipt out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.model_kinds import KINDS, kind_named
from counterfoil.cli.options import ConfirmDelta, Json, LedgerFile, MaxRows, Quiet, SchemaFile, ShowValues, Source
from counterfoil.cli.synth_request import require_seed_confirmed
from counterfoil.cli.terminal import Terminal
from counterfoil.cli.train_report import report
from counterfoil.cli.train_request import TrainingRequest, request_of, require_checkpoint, require_places
from counterfoil.cli.train_run import run
from counterfoil.table_url import stem_of


def train(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.", metavar="KIND")],
    source: Source,
    schema: SchemaFile,
    epsilon: Annotated[float, typer.Option("--epsilon", help="The most that this model may cost.")],
    delta: Annotated[
        float | None, typer.Option("--delta", help="The same for delta; 1e-6 if left out.", show_default=False)
    ] = None,
    confirm_delta: ConfirmDelta = None,
    target: Annotated[
        str | None,
        typer.Option("--target", help="The column to predict; A,B with fair-regressor.", metavar="COLUMN"),
    ] = None,
    protected: Annotated[
        str | None,
        typer.Option(
            "--protected", help="Treat its groups alike (dp-sgd, pate: no input); A,B for several.", metavar="COLUMN"
        ),
    ] = None,
    penalty: Annotated[
        str | None, typer.Option("--penalty", help="statistical_parity or equality_of_odds.", metavar="P")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="The weight of the penalty, from 0 to 1; .9 if left out.")
    ] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", help="How many gradients.", metavar="T")] = None,
    batch_share: Annotated[
        float | None, typer.Option("--batch-share", help="The share of each group in a batch.", metavar="F")
    ] = None,
    clip_norm: Annotated[
        float | None, typer.Option("--clip-norm", help="The largest norm of a record's gradient.", metavar="C")
    ] = None,
    hidden: Annotated[
        str | None,
        typer.Option("--hidden", help="Widths of hidden layers, such as 64,32; none is linear.", metavar="W"),
    ] = None,
    activation: Annotated[str | None, typer.Option("--activation", help="relu or tanh.", metavar="A")] = None,
    code: Annotated[
        int | None, typer.Option("--code", help="With fair-encoder: numbers in a code.", metavar="K")
    ] = None,
    optimizer: Annotated[str | None, typer.Option("--optimizer", help="adam or sgd.", metavar="O")] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Of the optimizer.")] = None,
    momentum: Annotated[float | None, typer.Option("--momentum", help="Of sgd.")] = None,
    gradient_clip: Annotated[
        float | None, typer.Option("--gradient-clip", help="The largest norm of a noisy gradient.")
    ] = None,
    averaged: Annotated[
        float | None, typer.Option("--averaged", help="The share of last steps whose mean is the model.")
    ] = None,
    bound: Annotated[
        float | None, typer.Option("--bound", help="How far scores may be from their center.", metavar="M")
    ] = None,
    jacobian_norm: Annotated[
        float | None, typer.Option("--jacobian-norm", help="The largest norm of a score's Jacobian.", metavar="L")
    ] = None,
    clipping: Annotated[
        str | None, typer.Option("--clipping", help="Of Jacobians: spectral or components.", metavar="C")
    ] = None,
    projections: Annotated[
        int | None, typer.Option("--projections", help="Directions of the sliced distance.", metavar="K")
    ] = None,
    use_protected: Annotated[
        bool, typer.Option("--use-protected", help="The protected columns are inputs too.")
    ] = False,
    protects: Annotated[
        str | None,
        typer.Option(
            "--protects", help="With sliced-wasserstein-generator: X, which is moved, Z, or both.", metavar="SIDE"
        ),
    ] = None,
    sides: Annotated[
        str | None,
        typer.Option("--sides", help="With --protects both: the labels of X and of Z.", metavar="COLUMN=X,Z"),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option("--public", help="A table that needs no protection, or a release.", metavar="ROWS"),
    ] = None,
    teachers: Annotated[int | None, typer.Option("--teachers", help="With pate: how many.")] = None,
    queries: Annotated[
        int | None, typer.Option("--queries", help="With pate: on how many public rows they vote.", metavar="M")
    ] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", help="With pate: add_or_remove_one or replace_one.", metavar="R")
    ] = None,
    privacy_unit: Annotated[
        str | None,
        typer.Option("--privacy-unit", help="With pate: protect all rows with one value here.", metavar="COLUMN"),
    ] = None,
    max_rows: MaxRows = None,
    ledger: LedgerFile = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Keep the run here; without it, Ctrl-C loses all.", metavar="FILE"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run at --checkpoint.")] = False,
    device: Annotated[str | None, typer.Option("--device", help="cpu or cuda.", metavar="D")] = None,
    init_seed: Annotated[
        int | None, typer.Option("--init-seed", help="Of the first parameters, which are public.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A new folder; INPUT.KIND here if left out.", metavar="FOLDER"),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable, hence NOT PRIVATE.")] = None,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Confirms that a model made with --seed must not be shared.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Train a model on a sensitive table, with noisy gradients or noisy votes.

    \b
    counterfoil train fair-classifier people.csv --schema S.toml --epsilon 1 \\
        --target income --protected sex --alpha 0.75 --ledger L --out model
    counterfoil predict model rows.csv --out predictions.csv

    Each kind has options of its own, and refuses others. The folder that is written holds the model and receipt.json.
    """
    terminal, kind = Terminal(quiet=quiet, json=json), kind_named(name)
    options = {
        "target": target,
        "protected": protected,
        "penalty": penalty,
        "alpha": alpha,
        "iterations": iterations,
        "batch_share": batch_share,
        "clip_norm": clip_norm,
        "hidden": None if hidden is None else widths(hidden),
        "activation": activation,
        "code": code,
        "optimizer": optimizer,
        "learning_rate": learning_rate,
        "momentum": momentum,
        "gradient_clip": gradient_clip,
        "averaged": averaged,
        "bound": bound,
        "jacobian_norm": jacobian_norm,
        "clipping": clipping,
        "projections": projections,
        "use_protected": use_protected or None,
        "protects": protects,
        "sides": None if sides is None else two_sides(sides),
        "public": public,
        "teachers": teachers,
        "queries": queries,
        "relation": relation,
        "privacy_unit": privacy_unit,
        "max_rows": max_rows,
        "checkpoint": checkpoint,
        "device": device,
        "init_seed": init_seed,
    }
    given = {option: value for option, value in options.items() if value is not None}
    kind.require_options([*given, *(["resume"] if resume else [])])
    kind.require_installed()
    require_seed_confirmed(seed, confirmed=not_private)
    folder = default_folder(source, name) if out is None else out
    require_places(folder, source, schema, ledger=ledger, public=public, checkpoint=checkpoint)
    require_checkpoint(checkpoint, resume=resume, ledger=ledger)
    budgeted = {"epsilon": epsilon, "seed": seed} | ({} if delta is None else {"delta": delta})
    request = request_of(
        kind, source, schema, given | budgeted, ledger=ledger, resume=resume, confirm_delta=confirm_delta
    )
    if (advice := person_advice(request)) is not None:
        terminal.note(advice)
    run(request, folder, terminal, show_values=show_values)
    report(terminal, request, folder, delta_by_default=delta is None)


def person_advice(request: TrainingRequest) -> str | None:
    """What to consider where rows have an identifier and each is protected by itself; public, as the schema is."""
    from counterfoil.cli.synth_advice import unit_advice

    unit = request.wishes.get("privacy_unit")
    if request.kind.takes("privacy_unit"):
        return unit_advice(request.schema, unit)
    if unit_advice(request.schema, None) is None:
        return None
    return (
        "Each row is protected by itself. If several rows of the table may be of one person, this kind can't protect "
        "all of them: train on a synthetic table made with `synth --privacy-unit COLUMN --max-rows K`, or use pate."
    )


def default_folder(source: str, kind: str) -> Path:
    """people.csv.gz and people.db::people give people.fair-classifier in the current folder."""
    return Path(f"{stem_of(source)}.{kind}")


def two_sides(text: str) -> tuple[str, str, str]:
    """clinic=old,new as a column and two labels.

    Raises:
        ValueError: for anything else.
    """
    column, _, labels = text.partition("=")
    found = tuple(label.strip() for label in labels.split(","))
    if not column.strip() or len(found) != 2 or not all(found):
        raise ValueError(f"`--sides` must be COLUMN=X,Z, a column and two labels of it. Found {text!r}.")
    return column.strip(), found[0], found[1]


def widths(text: str) -> tuple[int, ...]:
    """64,32 as numbers; "none" has none.

    Raises:
        ValueError: for anything else.
    """
    if text == "none":
        return ()
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) >= 1 for part in parts):
        raise ValueError(f"`--hidden` must be whole numbers of at least 1, such as 64,32, or none. Found {text!r}.")
    return tuple(int(part) for part in parts)
