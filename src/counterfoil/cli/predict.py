"""`counterfoil predict`: what a trained model says of rows of the user's own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.model_kinds import loaded_model
from counterfoil.cli.options import Force, Json, Quiet, ShowValues
from counterfoil.cli.outputs import require_free, require_harmless, table_of
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal
from counterfoil.kept_files import KeptFile, kept_source

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfoil.training.changed_rows import ChangedRowsWarning


def predict(
    model: Annotated[Path, typer.Argument(help="A folder that train wrote.", metavar="MODEL")],
    rows: Annotated[
        str, typer.Argument(help="Your own rows: a CSV or Parquet file, or FILE.db::TABLE.", metavar="ROWS")
    ],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet file.", metavar="F")],
    device: Annotated[
        str | None,
        typer.Option(
            "--device", help="cpu or cuda. The device of the training where this machine has it, else cpu.", metavar="D"
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Apply a trained model to rows of your own.

    Writes one line for each row, in order: labels and probabilities, predicted numbers, codes, or moved points, which
    are values that the schema allows, written as it says. Columns that the model does not read may be missing. Values
    beyond the bounds count as the bound, and unknown ones as missing or `other` where the schema has that place for
    them; how many did is said. An unknown value of a column without such a place refuses the file. Nothing is charged:
    the file is as private as the rows are.
    """
    from counterfoil.synthesis.table import check_suffix, write_table

    terminal = Terminal(quiet=quiet, json=json)
    check_suffix(out)
    kept = [KeptFile(file.path, "the table of rows") for file in kept_source(rows)]
    require_harmless([out], [*kept, *(KeptFile(path, "a file of the model") for path in _files(model))])
    require_free([out], force=force)
    trained = loaded_model(model, device)
    require_harmless([out], table_of(trained.receipt, out))
    with showing_values(rows, trained.features_.schema, show=show_values), _noting_changed() as found:
        table = predictions(trained, rows)
    # Moved rows have the columns of the schema, and follow its notation; what is predicted of a column is another one.
    write_table(table, out, trained.features_.schema if _moves(trained) else None)
    changed = next(iter(found), None)
    terminal.say(f"Applied a {trained.kind} to {table.num_rows:,} rows, and charged nothing.")
    terminal.say(f"  predictions  {out}")
    if changed is not None:
        terminal.note(str(changed))
    if not trained.receipt.private:
        terminal.alarm("NOT PRIVATE: the model's noise came from a seed. DO NOT SHARE what it says.")
    terminal.document(
        {
            "predictions": str(out),
            "rows": table.num_rows,
            "columns": table.column_names,
            "kind": trained.kind,
            "changed": {} if changed is None else {name: dict(counts) for name, counts in changed.counts.items()},
            "private": trained.receipt.private,
        }
    )


def predictions(trained: Any, rows: str) -> pa.Table:
    """One line for each row: labels and probabilities of classes, predicted numbers, codes, or moved points.

    Raises:
        ValueError: for rows that do not follow the model's schema.
    """
    import pyarrow as pa

    if _moves(trained):
        moved: pa.Table = trained.moved(rows)
        return moved
    if hasattr(trained, "transform"):
        made = trained.transform(rows)
        return pa.table({name: made[:, number] for number, name in enumerate(trained.transformed_names)})
    targets = trained.features_.targets
    if not hasattr(trained, "predict_proba"):
        predicted = trained.predict(rows).reshape(-1, len(targets))
        return pa.table({f"predicted_{name}": predicted[:, number] for number, name in enumerate(targets)})
    probabilities = trained.predict_proba(rows)
    labels = trained.classes_[probabilities.argmax(axis=1)]
    names = [str(label) for label in trained.classes_]
    column = trained.features_.schema[targets[0]]
    if column.missing:
        names[-1] = column.labels[-1]
    scores = {f"probability_{name}": probabilities[:, number] for number, name in enumerate(names)}
    return pa.table({f"predicted_{targets[0]}": labels} | scores)


def _moves(trained: Any) -> bool:
    """Whether what the model says of a row is a row of the same columns."""
    return hasattr(trained, "moved")


@contextmanager
def _noting_changed() -> Iterator[list[ChangedRowsWarning]]:
    """Keeps the warnings of changed values, which are part of the result here; others are shown as they were."""
    from counterfoil.training.changed_rows import ChangedRowsWarning

    found: list[ChangedRowsWarning] = []
    with warnings.catch_warnings():
        others = warnings.showwarning

        def shown(message: Any, *further: Any, **named: Any) -> None:
            if isinstance(message, ChangedRowsWarning):
                found.append(message)
            else:
                others(message, *further, **named)

        warnings.showwarning = shown
        warnings.simplefilter("always", ChangedRowsWarning)
        yield found


def _files(model: Path) -> list[Path]:
    return sorted(model.iterdir()) if model.is_dir() else []
